"""The one description of a run's settings."""

import pytest
from pydantic import ValidationError

from fathom.config.schema import run as settings
from fathom.config.schema.section import Section
from tests.support.refused import prose
from tests.support.specs import method, small_spec


def parts(part=settings.RunSettings):
    """Yield every class of settings below a class."""
    seen = {part}
    waiting = [part]
    while waiting:
        for kind in vars(settings).values():
            if isinstance(kind, type) and issubclass(kind, Section) and kind not in seen:
                seen.add(kind)
        waiting.pop()
    return seen - {Section}


@pytest.mark.parametrize("part", sorted(parts(), key=lambda part: part.__name__))
def test_every_setting_says_what_it_means(part):
    nested = {
        name
        for name, field in part.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
    }
    silent = {
        name
        for name, field in part.model_fields.items()
        if not field.description and name not in {*nested, "name", "start"}
    }
    assert silent == set()


@pytest.mark.parametrize(
    ("subwords", "right"),
    [
        ({"joint": 40}, True),
        ({"english": 20, "foreign": 40}, True),
        ({"english": 20, "per_task": 40}, True),
        ({}, False),
        ({"english": 20}, False),
        ({"joint": 40, "english": 20}, False),
        ({"foreign": 40, "per_task": 40, "english": 20}, False),
    ],
)
def test_each_side_has_one_model_for_its_text(subwords, right):
    values = {"algorithm": "bpe", **subwords}
    if right:
        settings.Subwords.model_validate(values)
    else:
        with pytest.raises(ValidationError, match=prose("no text")):
            settings.Subwords.model_validate(values)


@pytest.mark.parametrize("updates", ["75 epochs", 3])
def test_a_length_is_a_number_of_updates_or_of_epochs(updates):
    assert small_spec({"training": {"updates": updates}}).training.updates == updates


@pytest.mark.parametrize("updates", ["75 epoch", "0 epochs", 0, True, 3.0, 2**64, "3"])
def test_another_length_is_refused(updates):
    with pytest.raises(ValidationError):
        small_spec({"training": {"updates": updates}})


def test_epochs_are_hashed_as_written():
    epochs, updates = ({"training": {"updates": value}} for value in ("75 epochs", 75))
    assert small_spec(epochs).described["training"]["updates"] == "75 epochs"
    assert small_spec(epochs).identity != small_spec(updates).identity


def test_a_schedule_gives_the_keywords_of_its_function():
    schedule = {"name": "noam", "scale": 2.0, "warmup": 3}
    spec = small_spec({"training": {"schedule": schedule}})
    assert spec.training.schedule.settings == {"scale": 2.0, "warmup": 3, "step_duration": 1}


def test_a_methods_settings_are_those_of_its_card():
    assert method("layerdrop", p=0.25).settings == {"p": 0.25, "draw": "update"}
    assert method("static").settings == {}


def test_more_than_all_pieces_cannot_be_masked():
    with pytest.raises(ValidationError, match=prose("masked shares")):
        settings.Masking(chosen=0.2, masked=0.8, random=0.3)
