from typing import Literal

import pytest
from fathom.config.cards import read_card, read_card_of_kind

from fathom.config.schema.section import Section
from fathom.config.yaml_values import read
from tests.support.refused import prose, says


class Bird(Section):
    name: str
    kind: Literal["bird"]
    wings: int


class Fish(Section):
    name: str
    kind: Literal["fish"]
    fins: int


KINDS = {"bird": Bird, "fish": Fish}


@pytest.fixture
def card(tmp_path):
    """A function that writes a card and returns it as a file."""

    def write(text):
        (tmp_path / "heron.yaml").write_text(text, encoding="utf-8")
        return read(tmp_path / "heron.yaml", tmp_path)

    return write


def test_a_card_is_called_like_its_file(card):
    bird, findings = read_card(Bird, "heron", card("kind: bird\nwings: 2\n"))
    assert (bird.name, findings) == ("heron", [])


def test_a_card_does_not_name_itself(card):
    bird, (finding,) = read_card(Bird, "heron", card("kind: bird\nwings: 2\nname: gull\n"))
    assert bird is None
    says("unknown key", "name", where="heron.yaml:3: name").check(finding)


def test_one_key_chooses_the_class(card):
    fish, findings = read_card_of_kind(KINDS, "kind", "heron", card("kind: fish\nfins: 7\n"))
    assert (type(fish), findings) == (Fish, [])


@pytest.mark.parametrize(
    ("text", "where", "remedy"),
    [
        ("kind: brid\nwings: 2\n", "heron.yaml:1: kind", prose("nearest", "bird")),
        ("wings: 2\n", "heron.yaml:1: kind", "kind: bird or fish"),
        ("kind: bird\nwing: 2\nwings: 2\n", "heron.yaml:2: wing", prose("nearest", "wings")),
    ],
)
def test_a_wrong_key_is_named_with_its_line(card, text, where, remedy):
    bird, (finding,) = read_card_of_kind(KINDS, "kind", "heron", card(text))
    assert bird is None
    assert finding.where == where
    assert finding.remedy.endswith(remedy)


def test_all_findings_come_at_once(card):
    _, findings = read_card_of_kind(KINDS, "kind", "heron", card("kind: bird\ncolour: red\n"))
    assert sorted(finding.where for finding in findings) == [
        "heron.yaml:1: wings",
        "heron.yaml:2: colour",
    ]


def test_a_misspelled_key_is_one_finding_and_not_also_a_missing_one(card):
    _, findings = read_card_of_kind(KINDS, "kind", "heron", card("kind: bird\nwing: 2\n"))
    assert [finding.where for finding in findings] == ["heron.yaml:2: wing"]
