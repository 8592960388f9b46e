"""What a run is hashed to, and where its files are: the training alone, the decoding apart."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import ValidationError, create_model

from fathom.config.paths import Paths
from fathom.config.schema.section import AsTuple, Section, UnhashedValue
from fathom.io.records import identity
from tests.support.small_corpus import small_data
from tests.support.specs import small_spec

LATENT = {"method": {"name": "latent_layers", "stacks": ["decoder"]}}
PATHS = Paths(Path("results"), "mine")


def decoding(spec, gates="soft", window=False):
    return spec.decoding_identity(gates, window=window)


@pytest.mark.parametrize(
    ("changes", "training", "search"),
    [
        ({"decoding": {"beam": 5}}, False, True),
        ({"decoding": {"hard_at_least": 1}}, False, False),
        ({"decoding": {"window": 2}}, False, False),
        ({"decoding": {"length_penalty_form": "power"}}, False, False),
        ({"decoding": {"length_penalty_form": "gnmt"}}, False, True),
        ({"model": {"dropout": 0.2}}, True, True),
        ({"training": {"matmul": "exact"}}, False, False),
        ({"training": {"updates": "4 epochs"}}, True, True),
        ({"scoring": {"bootstrap_samples": 200}}, False, False),
        ({"group": "g", "seeds": 5}, False, False),
        ({"data": {"dataset": "other"}}, False, False),
    ],
)
def test_a_setting_moves_what_it_changes_and_nothing_else(changes, training, search):
    """The data set's definition is hashed, not its name; the decoder of always is not."""
    before, after = small_spec(LATENT), small_spec({**LATENT, **changes})
    assert (before.identity != after.identity) == training
    assert (decoding(before) != decoding(after)) == search


def test_names_are_outside_the_identity_and_in_the_folder():
    before, after = small_spec(), small_spec(run="other", paper="p")
    assert (before.identity, after.name) == (after.identity, "p/other")
    assert PATHS.run(after, 3) == Path("results/runs/p") / after.folder / "3"


def test_pieces_and_text_do_not_depend_on_what_is_left_out_of_training():
    before, after = small_spec().data, small_spec({"data": {"max_pieces": 9}}).data
    assert before.subwords_folder == after.subwords_folder
    assert before.folder != after.folder
    plain, token = (
        small_data(direction="one_to_many", target_token=place) for place in ("none", "decoder")
    )
    assert plain.subwords_folder == token.subwords_folder
    assert plain.corpus_folder == token.corpus_folder
    assert plain.folder != token.folder


@pytest.mark.parametrize("place", ["source", "decoder"])
def test_a_token_names_the_language_of_a_target_and_not_its_task(place):
    data = small_data(direction="one_to_many", target_token=place)
    assert data.target_tokens == {"bos": "__bos__", "bel": "__bel__", "kor": "__hangul__"}
    assert small_data(direction="one_to_many").target_tokens == {}


class Training(Section):
    updates: int
    clip: float = 0.0
    stacks: Annotated[tuple[str, ...], AsTuple] = ()


def hashed(section):
    return identity(section.identity())


BASE = hashed(Training(updates=3))


def test_a_new_setting_at_its_absent_value_keeps_the_identity_and_no_other_value_does():
    """The absent value is not the default: it stays when the default changes. 0.0 is not false."""
    kind = Annotated[bool, UnhashedValue(False)]
    off = create_model("Off", __base__=Training, tie=(kind, False))
    on = create_model("On", __base__=Training, tie=(kind, True))
    share = create_model(
        "Share", __base__=Training, share=(Annotated[float | bool, UnhashedValue(False)], 0.0)
    )
    assert hashed(off(updates=3)) == hashed(on(updates=3, tie=False)) == BASE
    assert BASE not in (hashed(off(updates=3, tie=True)), hashed(on(updates=3)))
    assert hashed(share(updates=3)) != BASE


def test_a_renamed_setting_keeps_its_old_name_in_the_identity():
    before = create_model("Before", __base__=Training, kl=(float, 1.0))
    after = create_model(
        "After", __base__=Training, beta=(Annotated[float, UnhashedValue(was="kl")], 1.0)
    )
    assert hashed(before(updates=3)) == hashed(after(updates=3))


def test_numbers_are_canonical():
    assert hashed(Training(updates=3, clip=0)) == hashed(Training(updates=3, clip=-0.0)) == BASE


@pytest.mark.parametrize(
    "values",
    [
        {"updates": 3.0},
        {"updates": True},
        {"updates": "3"},
        {"clip": float("nan")},
        {"clip": float("inf")},
        {"unknown": 1},
        {"stacks": [1]},
    ],
)
def test_a_value_of_another_type_is_refused(values):
    with pytest.raises(ValidationError):
        Training.model_validate({"updates": 3} | values)


def test_two_scales_share_what_a_hash_names():
    spec, other = small_spec(), Paths(Path("results"), "three_seeds")
    assert PATHS.run(spec, 1) == other.run(spec, 1)
    assert PATHS.tensors(spec.data) == other.tensors(spec.data)
    assert PATHS.artefact("p", "table1", "csv") != other.artefact("p", "table1", "csv")


def test_two_searches_have_two_folders():
    before, after = small_spec(), small_spec({"decoding": {"beam": 5}})
    folders = {PATHS.decoding(spec, 1, "test", "plain").name for spec in (before, after)}
    assert len(folders) == 2
    assert all(name.startswith("test.plain-") for name in folders)


def test_a_run_that_starts_from_nothing_has_no_folder_to_start_from():
    assert PATHS.start(small_spec(), 1) is None


def test_a_command_names_what_it_needs_and_a_folder_that_is_not_the_usual_one():
    other = Paths(Path("/my results"), "mine")
    assert PATHS.command("train", "p/r", 2) == "fathom train p/r --scale mine --seed 2"
    assert other.command("encode", "d") == "fathom encode d --scale mine --results '/my results'"
