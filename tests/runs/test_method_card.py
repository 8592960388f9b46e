"""Cards, and a run's settings held against them."""

from dataclasses import dataclass
from typing import Any

import pytest

from fathom.config.yaml_files import YamlFile
from fathom.runs.method_card import Card, Setting, findings, settings_findings

MAPPING = {
    "title": "A method",
    "summary": "It does something.",
    "paper": None,
    "equations": [],
    "sides": ["encoder", "decoder"],
    "gates": False,
    "settings": {
        "rate": {
            "description": "A rate.",
            "type": "number",
            "above": 0,
            "maximum": 1,
            "default": 0.5,
            "source": "chosen",
        },
        "depth": {
            "description": "A depth.",
            "type": "integer",
            "minimum": 1,
            "optional": True,
            "unit": "layers",
            "default": None,
            "source": "chosen",
        },
        "kind": {
            "description": "A kind.",
            "type": "string",
            "values": ["soft", "hard"],
            "default": "soft",
            "source": "chosen",
        },
        "places": {
            "description": "Sides.",
            "type": "list",
            "values": ["encoder", "decoder"],
            "default": ["decoder"],
            "source": "chosen",
        },
        "tied": {
            "description": "A switch.",
            "type": "boolean",
            "default": True,
            "source": "chosen",
        },
    },
    "neutral": {"settings": {}, "parameters": {}},
    "example": {"layers": 2, "tasks": 2, "settings": {"rate": 0.1}},
}


@dataclass(frozen=True)
class Given:
    """A run's setting, as the catalog resolves it."""

    value: Any
    where: str


def card(**changes: Any) -> Card:
    return Card.from_mapping("method", MAPPING | changes)


def found(
    settings: dict[str, Any], sides: tuple[str, ...] = ("decoder",), this: Card | None = None
):
    """Return the sentences about a run that gives these settings."""
    given = {
        ("method", "settings", *name.split(".")): Given(value, f"runs.yaml:3: settings.{name}")
        for name, value in settings.items()
    }
    given[("method", "sides")] = Given(list(sides), "runs.yaml:2: sides")
    given[("training", "updates")] = Given("no business of a card", "runs.yaml:9")
    return [str(each) for each in settings_findings(this or card(), sides, given)]


def test_settings_that_are_not_given_have_the_cards_default():
    filled = card().filled({"rate": 0.25})
    assert filled == {
        "rate": 0.25,
        "depth": None,
        "kind": "soft",
        "places": ["decoder"],
        "tied": True,
    }


def test_a_card_keeps_what_the_file_says():
    this = card()
    by_name = {setting.name: setting for setting in this.settings}
    assert list(by_name) == list(MAPPING["settings"])
    assert by_name["depth"].unit == "layers"
    assert by_name["rate"].unit is None
    assert by_name["kind"].values == ("soft", "hard")
    assert this.example.settings == {"rate": 0.1}


def test_right_settings_have_no_findings():
    assert not found({})
    assert not found(
        {"rate": 1, "depth": 3, "kind": "hard", "places": ["encoder", "decoder"], "tied": False}
    )
    assert not found({"depth": None, "places": []})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("rat", 0.5, "'method' has no setting 'rat'; nearest valid name: 'rate'"),
        ("rate", 0, "0 is too small; write more than 0"),
        ("rate", 1.5, "1.5 is too large; write 1 or less"),
        ("rate", "1e-3", "YAML reads 1e-3 as text; write it with a point, as 0.001"),
        ("rate", True, "True is not a number; write a number"),
        ("rate", None, "None is not a number; write a number"),
        ("rate", "fast", "'fast' is not a number; write a number"),
        ("depth", 2.5, "2.5 is not a whole number; write a whole number"),
        ("depth", 0, "0 is too small; write 1 or more"),
        ("kind", "sof", "'sof' is not possible here; nearest valid name: 'soft'"),
        ("kind", False, "YAML reads no, on, yes and off as true or false; put it in quotes"),
        ("places", "decoder", "'decoder' is not a list; write a list"),
        ("places", ["encode"], "'encode' is not possible here; nearest valid name: 'encoder'"),
        ("tied", 1, "1 is not true or false; write true or false"),
    ],
)
def test_a_wrong_setting_is_told_with_its_place_and_remedy(name, value, message):
    assert found({name: value}) == [f"runs.yaml:3: settings.{name}: {message}"]


def test_every_finding_is_told():
    assert len(found({"rate": -1, "kind": "x", "nothing": 1}, sides=("middle",))) == 4


def test_sides_are_held_against_the_card():
    assert found({}, sides=()) == [
        "runs.yaml:2: sides: 'method' acts on no side; name some of: encoder, decoder"
    ]
    one = card(sides=["decoder"])
    assert found({}, ("encoder",), one) == [
        "runs.yaml:2: sides: 'method' does not act on the side 'encoder'; "
        "nearest valid name: 'decoder'"
    ]
    none = card(sides=[], settings={})
    assert not found({}, (), none)
    assert found({}, ("encoder",), none) == [
        "runs.yaml:2: sides: 'method' does not act on the side 'encoder'; write []"
    ]


def test_a_cards_own_values_are_held_against_its_settings():
    settings = MAPPING["settings"] | {"rate": MAPPING["settings"]["rate"] | {"default": 2}}
    value = MAPPING | {
        "settings": settings,
        "neutral": {"settings": {"kinds": "soft"}, "parameters": {}},
        "example": {"layers": 2, "tasks": 2, "settings": {"depth": 0}},
    }
    file = YamlFile("method.yaml", value, {("settings", "rate", "default"): 17})
    lines = [str(each) for each in findings(Card.from_mapping("method", value), file)]
    assert lines == [
        "method.yaml:17: settings.rate.default: 2 is too large; write 1 or less",
        "method.yaml: neutral.settings.kinds: 'method' has no setting 'kinds'; "
        "nearest valid name: 'kind'",
        "method.yaml: example.settings.depth: 0 is too small; write 1 or more",
    ]


def test_no_bound_is_checked_where_null_turns_a_setting_off():
    setting = Setting("x", "", "number", None, "", minimum=1, optional=True)
    assert setting.finding(None, "here") is None
    assert setting.finding(0, "here") is not None


REASON = "it saw no such net"
REFUSED = {"gates": "hard", "settings": {"rate": 0.5, "depth": None}, "reason": REASON}


def test_gates_are_refused_where_numbers_are_at_least_and_the_rest_is_equal():
    assert card().refusal("hard", card().defaults) is None
    this = card(refused=[REFUSED])
    settings = this.defaults | {"depth": None}
    for rate, refused in ((0.49, False), (0.5, True), (0.9, True)):
        reason = this.refusal("hard", settings | {"rate": rate})
        assert reason == (REASON if refused else None)
        assert this.refusal("soft", settings | {"rate": rate}) is None
    assert this.refusal("hard", settings | {"rate": 0.9, "depth": 3}) is None
