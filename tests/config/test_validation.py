from typing import Annotated, Literal

import pytest
from pydantic import Field

from fathom.config.settings import Part, Several
from fathom.config.validation import check, field_names


class Cosine(Part):
    name: Literal["cosine"]
    rate: Annotated[float, Field(gt=0)]


class Linear(Part):
    name: Literal["linear"]
    rate: Annotated[float, Field(gt=0)]
    end: int


class Training(Part):
    updates: Annotated[int, Field(ge=1)]
    schedule: Annotated[Cosine | Linear, Field(discriminator="name")]
    precision: Literal["fp32", "bf16"] = "fp32"
    title: str = ""
    betas: Annotated[tuple[float, float], Several] = (0.9, 0.98)


GOOD = {"updates": 3, "schedule": {"name": "cosine", "rate": 0.1}}


def where(path):
    return "a.yaml:7: " + ".".join(map(str, path))


def lines(value, **options):
    return [str(finding) for finding in check(Training, value, where, **options)[1]]


def test_a_right_value_gives_the_part_and_no_findings():
    part, findings = check(Training, GOOD, where)
    assert part.updates == 3
    assert findings == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"updats": 1}, "updats: unknown key 'updats'; nearest valid name: 'updates'"),
        ({"updates": 3.0}, "updates: 3.0 is not a whole number; write a whole number"),
        ({"updates": 0}, "updates: 0 is too small; write 1 or more"),
        (
            {"precision": "fp23"},
            "precision: 'fp23' is not possible here; nearest valid name: 'fp32'",
        ),
        (
            {"precision": False},
            "precision: YAML reads no, on, yes and off as true or false; put it in quotes",
        ),
        ({"title": 3}, "title: YAML reads 3 as a number; put it in quotes"),
        (
            {"schedule": {"name": "cosine", "rate": "1e-3"}},
            "schedule.rate: YAML reads 1e-3 as text; write 1.0e-3",
        ),
        (
            {"schedule": {"name": "cosin", "rate": 1}},
            "schedule: 'cosin' is not possible here; nearest valid name: 'cosine'",
        ),
        (
            {"schedule": {"name": "linear", "rate": 0.1, "ends": 3, "end": 3}},
            "schedule.ends: unknown key 'ends'; nearest valid name: 'end'",
        ),
        ({"schedule": 3}, "schedule: 3 is not a mapping; write a mapping"),
        ({"betas": 0.9}, "betas: 0.9 is not a list; write a list"),
    ],
)
def test_a_finding_says_where_what_and_what_to_write(change, line):
    assert lines(GOOD | change) == [f"a.yaml:7: {line}"]


def test_all_findings_come_at_once():
    assert len(lines({"updates": "x", "schedule": {"name": "linear", "rate": 0}, "y": 1})) == 4


def test_what_is_missing_does_not_count_in_a_partial_entry():
    assert len(lines({})) == 2
    assert lines({}, partial=True) == []


def test_a_part_of_a_file_is_placed_by_its_path():
    _, findings = check(Training, {}, where, path=("runs", "big"))
    assert str(findings[0]).startswith("a.yaml:7: runs.big.updates: no value is given")


def test_the_names_at_a_place_are_those_of_the_chosen_branch():
    assert list(field_names(Training, ("schedule", "linear"))) == ["name", "rate", "end"]
