"""Rules of a card: what they compare, and where a run that breaks one is refused."""

import pytest

from fathom.runs.requirements import Requirement, rule_findings
from tests.support.refused import says

VALUES = {"active": 3, "groups": 4, "end": None, "width": 16, "tasks": 2, "updates": 10}


def requirement(rule):
    return Requirement(rule=rule, reason="it does not work")


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("active <= groups", True),
        ("groups <= active", False),
        ("active < active", False),
        ("width % groups == 0", True),
        ("width % active == 0", False),
        ("active + tasks * groups <= updates", False),
        ("active + tasks * active <= updates", True),
        ("end < updates", True),
    ],
)
def test_a_rule_compares_settings_and_counts_of_the_run(rule, holds):
    assert requirement(rule).holds(VALUES) is holds


def test_a_training_that_counts_epochs_breaks_no_rule_of_updates():
    assert requirement("active < updates").holds(VALUES | {"updates": "2 epochs"})


@pytest.mark.parametrize(
    "rule",
    ["active", "active <", "active < 3 < groups", "active - 1 < 3", "active != groups", "1 ("],
)
def test_what_is_no_comparison_is_found_at_its_key(rule):
    (finding,) = rule_findings((requirement(rule),), ["active", "groups"], _where)
    says("no comparison", rule, where="requires.0.rule").check(finding)


def test_an_unknown_name_is_found_with_the_nearest_one():
    (finding,) = rule_findings((requirement("activ <= groups"),), ["active", "groups"], _where)
    says("unknown", "setting", "activ", nearest="active").check(finding)


def _where(path):
    return ".".join(map(str, path))
