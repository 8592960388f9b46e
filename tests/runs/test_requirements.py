"""Rules of a card: what they compare, and where a run that breaks one is refused."""

import pytest

from fathom.config.schema.method import Requirement, rule_findings
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
    [
        "active",
        "active <",
        "active < 3 < groups",
        "active - 1 < 3",
        "active != groups",
        "1 (",
        "1.5e3 < active",
    ],
)
def test_what_is_no_comparison_is_found_at_its_key(rule):
    (finding,) = rule_findings((requirement(rule),), ["active", "groups"], _where)
    says("no comparison", rule, where="requires.0.rule").check(finding)


def test_an_unknown_name_is_found_with_the_nearest_one():
    (finding,) = rule_findings((requirement("activ <= groups"),), ["active", "groups"], _where)
    says("unknown", "setting", "activ", nearest="active").check(finding)


def test_a_rule_too_deep_for_python_is_found():
    deep = requirement(f"{'(' * 500}active{')' * 500} < 3")
    (finding,) = rule_findings((deep,), ["active"], _where)
    says("no comparison").check(finding)


def test_a_name_with_a_capital_is_one_name():
    (finding,) = rule_findings((requirement("Active <= groups"),), ["active", "groups"], _where)
    says("unknown", "setting", "Active", nearest="active").check(finding)


def test_a_rule_that_divides_by_zero_does_not_hold():
    assert not requirement("width % groups == 0").holds(VALUES | {"groups": 0})


def _where(path):
    return ".".join(map(str, path))
