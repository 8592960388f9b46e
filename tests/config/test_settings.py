"""Identity under growth: what keeps a hash, and what must move it."""

from typing import Annotated

import pytest
from pydantic import ValidationError, create_model

from fathom.config.schema.section import AsTuple, Doc, Section, UnhashedValue
from fathom.io.hashes import identity


class Training(Section):
    updates: Annotated[int, Doc("Updates.", unit="updates")]
    clip: float = 0.0
    stacks: Annotated[tuple[str, ...], AsTuple] = ()


def hashed(part):
    return identity(part.identity())


def grown(**fields):
    return create_model("Grown", __base__=Training, **fields)


BASE = hashed(Training(updates=3))


def test_a_new_setting_at_its_absent_value_keeps_the_identity():
    new = grown(tie=(Annotated[bool, UnhashedValue(False)], False))
    assert hashed(new(updates=3)) == BASE
    assert hashed(new(updates=3, tie=True)) != BASE


def test_a_default_that_is_edited_moves_the_identity():
    """The absent value is not the default: it stays when the default changes."""
    new = grown(tie=(Annotated[bool, UnhashedValue(False)], True))
    assert hashed(new(updates=3)) != BASE


def test_a_renamed_setting_keeps_its_old_name_in_the_identity():
    before = create_model("Before", __base__=Section, updates=(int, ...), kl=(float, 1.0))
    after = create_model(
        "After",
        __base__=Section,
        updates=(int, ...),
        beta=(Annotated[float, UnhashedValue(was="kl")], 1.0),
    )
    assert hashed(before(updates=3)) == hashed(after(updates=3))


def test_an_absent_zero_is_not_false():
    new = grown(share=(Annotated[float | bool, UnhashedValue(False)], 0.0))
    assert hashed(new(updates=3)) != BASE


def test_numbers_are_canonical():
    assert hashed(Training(updates=3, clip=0)) == hashed(Training(updates=3, clip=-0.0)) == BASE


@pytest.mark.parametrize(
    "values",
    [
        {"updates": 3.0},
        {"updates": True},
        {"updates": "3"},
        {"updates": 3, "clip": float("nan")},
        {"updates": 3, "clip": float("inf")},
        {"updates": 3, "unknown": 1},
        {"updates": 3, "stacks": [1]},
    ],
)
def test_a_value_of_another_type_is_refused(values):
    with pytest.raises(ValidationError):
        Training.model_validate(values)
