from typing import Annotated, Literal

import pytest
from pydantic import Field

from fathom.config.check import check, field_names
from fathom.config.schema.section import AsTuple, Pattern, Section
from tests.support.refused import prose, says


class Cosine(Section):
    name: Literal["cosine"]
    rate: Annotated[float, Field(gt=0)]


class Linear(Section):
    name: Literal["linear"]
    rate: Annotated[float, Field(gt=0)]
    end: int


class Training(Section):
    updates: Annotated[int, Field(ge=1)]
    schedule: Annotated[Cosine | Linear, Field(discriminator="name")]
    precision: Literal["fp32", "bf16"] = "fp32"
    title: str = ""
    betas: Annotated[tuple[float, float], AsTuple] = (0.9, 0.98)
    every: Annotated[int, Field(ge=1)] | Annotated[str, Pattern(r"^\d+ epochs$", "75 epochs")] = 1
    rows: Annotated[tuple[str, ...], AsTuple] | dict[str, str | Linear] = ()
    place: Annotated[str, Pattern(r"^(here|at [0-9])$", "at 3", "here or at <n>")] = "here"


GOOD = {"updates": 3, "schedule": {"name": "cosine", "rate": 0.1}}


def where(path):
    return "a.yaml:7: " + ".".join(map(str, path))


def findings(value, **options):
    return check(Training, value, where, **options)[1]


def test_a_right_value_gives_the_part_and_no_findings():
    part, found = check(Training, GOOD, where)
    assert part.updates == 3
    assert found == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"updats": 1}, says("unknown key", "updats", where="updats", nearest="updates")),
        (
            {"updates": 3.0},
            says("wrong type", "3.0", "a whole number", where="updates", remedy="write 3"),
        ),
        ({"updates": 2.5}, says("wrong type", "2.5", "a whole number", remedy="a whole number")),
        ({"updates": "1e5"}, says("YAML text", "1e5", remedy="write 100000")),
        ({"updates": "100,000"}, says("wrong type", "'100,000'", remedy="write 100000")),
        ({"updates": "8"}, says("wrong type", "'8'", remedy=prose("without quotes", 8))),
        ({"updates": None}, says("no value", where="updates", remedy="write a whole number")),
        ({"every": "1e5"}, says("YAML text", "1e5", where="every", remedy="write 100000")),
        ({"every": 1.0e5}, says("wrong type", "100000.0", remedy="write 100000")),
        (
            {"every": "75"},
            says("wrong type", "'75'", where="every", remedy=prose("for example", "75 epochs")),
        ),
        (
            {"place": "at"},
            says("not possible", "at", where="place", remedy="write here or at <n>"),
        ),
        ({"rows": 3}, says("wrong type", 3, "a list", where="rows", remedy="a list or a mapping")),
        ({"rows": {"a": "x", "b": ["y"]}}, says("wrong type", ..., "text", where="rows.b")),
        ({"rows": ["x", None]}, says("no value", where="rows.1", remedy="write text")),
        (
            {"updates": 0},
            says("limit", 0, prose("too small"), where="updates", remedy=prose("or more", 1)),
        ),
        ({"precision": "fp23"}, says("not possible", "fp23", where="precision", nearest="fp32")),
        (
            {"precision": False},
            says("YAML boolean", where="precision", remedy=prose("put it in quotes")),
        ),
        ({"title": 3}, says("YAML number", 3, where="title", remedy=prose("put it in quotes"))),
        (
            {"schedule": {"name": "cosine", "rate": "1e-3"}},
            says("YAML text", "1e-3", where="schedule.rate", remedy="1.0e-3"),
        ),
        (
            {"schedule": {"name": "cosin", "rate": 1}},
            says("not possible", "cosin", where="schedule", nearest="cosine"),
        ),
        (
            {"schedule": {"name": "linear", "rate": 0.1, "ends": 3, "end": 3}},
            says("unknown key", "ends", where="schedule.ends", nearest="end"),
        ),
        ({"schedule": 3}, says("wrong type", 3, "a mapping", where="schedule", remedy="a mapping")),
        ({"betas": 0.9}, says("wrong type", "0.9", "a list", where="betas", remedy="a list")),
    ],
)
def test_a_finding_says_where_what_and_what_to_write(change, line):
    (finding,) = findings(GOOD | change)
    assert finding.where.startswith("a.yaml:7: ")
    line.check(finding)


def test_all_findings_come_at_once():
    assert len(findings({"updates": "x", "schedule": {"name": "linear", "rate": 0}, "y": 1})) == 4


def test_what_is_missing_does_not_count_in_a_partial_entry():
    assert len(findings({})) == 2
    assert findings({}, partial=True) == []


def test_a_missing_choice_names_its_values():
    class Model(Section):
        norm: Literal["pre", "post", "none"]
        schedule: Annotated[Cosine | Linear, Field(discriminator="name")]

    for value in ({}, {"schedule": {}}):
        _, (norm, schedule) = check(Model, value, where)
        says("no value", where="norm", remedy="write pre, post or none").check(norm)
        says("no value", where="schedule", remedy="cosine or linear").check(schedule)


def test_a_part_of_a_file_is_placed_by_its_path():
    _, found = check(Training, {}, where, path=("runs", "big"))
    says("no value", where="a.yaml:7: runs.big.updates").check(found[0])


def test_the_names_at_a_place_are_those_of_the_chosen_branch():
    assert list(field_names(Training, ("schedule", "linear"))) == ["name", "rate", "end"]
