"""A method's card, and the class of settings that is made of it."""

import copy

import pytest
import yaml

from fathom.config.check import check
from fathom.config.schema.method import read_card, stack_findings
from fathom.config.yaml_values import read
from tests.support.refused import prose, says
from tests.support.specs import ROOT, card

NAMES = sorted(path.stem for path in (ROOT / "config" / "methods").glob("*.yaml"))
CARD = {
    "title": "Sample",
    "summary": "A sample.",
    "paper": None,
    "equations": [],
    "stacks": ["encoder", "decoder"],
    "gates": True,
    "settings": {
        "rate": {"description": "d", "type": "number", "default": 1, "source": "s", "above": 0},
        "count": {"description": "d", "type": "integer", "default": 2, "source": "s", "maximum": 4},
        "kind": {
            "description": "d",
            "type": "string",
            "default": "soft",
            "source": "s",
            "values": ["soft", "hard"],
        },
        "end": {
            "description": "d",
            "type": "number",
            "default": None,
            "source": "s",
            "optional": True,
            "unit": "updates",
        },
    },
    "presets": {"released": {"rate": 5.0}},
    "refused": [{"gates": "hard", "settings": {"rate": 5.0, "end": None}, "reason": "near half"}],
    "neutral": None,
    "example": {"layers": 2, "tasks": 2, "settings": {}},
}


@pytest.fixture
def read_sample(tmp_path):
    def read_one(**changes):
        path = tmp_path / "sample.yaml"
        path.write_text(yaml.safe_dump({**copy.deepcopy(CARD), **changes}))
        return read_card("sample", read(path, tmp_path))

    return read_one


@pytest.mark.parametrize("name", NAMES)
def test_a_card_is_right_and_its_defaults_are_possible(name):
    method = card(name).method(name=name)
    assert method.settings == card(name).defaults
    assert method.stacks == card(name).about.stacks


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (
            {"rate": 0},
            says("limit", 0, prose("too small"), where="method.rate", remedy="more than 0.0"),
        ),
        ({"rate": "1e-3"}, says("YAML text", "1e-3", where="method.rate", remedy="1.0e-3")),
        (
            {"count": 2.0},
            says("wrong type", "2.0", "a whole number", where="method.count", remedy="write 2"),
        ),
        (
            {"count": 5},
            says("limit", 5, prose("too large"), where="method.count", remedy=prose("or less", 4)),
        ),
        ({"kind": "sof"}, says("not possible", "sof", where="method.kind", nearest="soft")),
        ({"kinds": "soft"}, says("unknown key", "kinds", where="method.kinds", nearest="kind")),
        (
            {"rate": None},
            says("no value", where="method.rate", remedy="a number"),
        ),
    ],
)
def test_a_runs_setting_is_checked_against_the_card(read_sample, values, line):
    sample, _ = read_sample()
    _, findings = check(
        sample.method, {"name": "sample", **values}, lambda path: ".".join(("method", *path))
    )
    assert len(findings) == 1
    line.check(findings)


def test_a_whole_number_of_a_number_setting_is_a_float(read_sample):
    sample, _ = read_sample()
    method = sample.method.model_validate({"name": "sample", "rate": 3, "end": 7})
    assert (method.rate, method.end) == (3.0, 7.0)
    assert isinstance(method.identity()["rate"], float)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"presets": {"released": {"rat": 5.0}}}, "presets.released.rat"),
        ({"example": {"layers": 2, "tasks": 2, "settings": {"rate": 0}}}, "example.settings.rate"),
        ({"neutral": {"settings": {"count": 9}, "parameters": {}}}, "neutral.settings.count"),
        (
            {"refused": [{"gates": "hard", "settings": {"rat": 1}, "reason": "r"}]},
            "refused.0.settings.rat",
        ),
        ({"stacks": ["encodr"]}, "stacks.0"),
        ({"gate": True}, "gate"),
    ],
)
def test_a_wrong_value_of_the_card_itself_is_found_at_its_key(read_sample, changes, where):
    _, findings = read_sample(**changes)
    assert where in [finding.where.partition(": ")[2] for finding in findings]


def test_a_default_that_is_not_possible_is_found(read_sample):
    settings = copy.deepcopy(CARD["settings"])
    settings["rate"]["default"] = -1
    _, findings = read_sample(settings=settings)
    says("limit", -1, prose("too small"), where="settings.rate.default").check(findings[0])


def test_gates_that_make_no_sense_are_refused(read_sample):
    sample, _ = read_sample()
    defaults = sample.defaults
    assert sample.gates(defaults) == ("soft", "hard")
    assert sample.gates(defaults | {"rate": 5.0}) == ("soft",)
    assert sample.gates(defaults | {"rate": 6.0}) == ("soft",)
    assert sample.gates(defaults | {"rate": 5.0, "end": 0.1}) == ("soft", "hard")
    assert sample.refusal("hard", defaults | {"rate": 5.0}) == "near half"


def test_a_method_without_gates_is_decoded_plainly():
    assert card("static").gates({}) == ("plain",)


def test_a_stack_on_which_the_method_cannot_act_is_found():
    finding = next(stack_findings(card("transparent"), ("decoder",), "here"))
    says("stack", "transparent", "decoder", where="here", nearest="encoder").check(finding)
    says("no stack", "dlcl").check(next(stack_findings(card("dlcl"), (), "here")))
    assert list(stack_findings(card("static"), (), "here")) == []
