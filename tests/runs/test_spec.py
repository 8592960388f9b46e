"""What a run is hashed to: the training alone, the decoding apart."""

import pytest

from tests.support.small_corpus import small_data
from tests.support.specs import small_spec


def decoding(spec, gates="soft"):
    return spec.decoding_identity(gates)


LATENT = {"method": {"name": "latent_layers", "stacks": ["decoder"]}}


def test_a_search_setting_moves_the_decoding_and_not_the_training():
    one, other = small_spec(LATENT), small_spec(LATENT | {"decoding": {"beam": 5}})
    assert one.identity == other.identity
    assert decoding(one) != decoding(other)


def test_a_training_setting_moves_both():
    one, other = small_spec(LATENT), small_spec(LATENT | {"model": {"dropout": 0.2}})
    assert one.identity != other.identity
    assert decoding(one) != decoding(other)


def test_fathoms_own_search_is_no_part_of_the_identity_and_another_decoder_is():
    named = small_spec(LATENT | {"decoding": {"decoder": "fathom"}})
    assert "decoder" not in named.decoding.identity()
    assert decoding(named) == decoding(small_spec(LATENT))
    other = small_spec(LATENT | {"decoding": {"decoder": "ctranslate2"}})
    assert decoding(other) != decoding(named)
    assert other.identity == named.identity


def test_a_rule_for_hard_gates_moves_hard_decodings_alone():
    one, other = small_spec(LATENT), small_spec(LATENT | {"decoding": {"hard_at_least": 1}})
    assert decoding(one) == decoding(other)
    assert decoding(one, "hard") != decoding(other, "hard")


def test_the_window_moves_the_windows_decoding_alone():
    one, other = small_spec(), small_spec({"decoding": {"window": 2}})
    assert decoding(one, "plain") == decoding(other, "plain")
    assert one.decoding_identity("plain", window=True) != other.decoding_identity(
        "plain", window=True
    )


def test_names_groups_and_seeds_are_outside_the_identity():
    one, other = small_spec(), small_spec({"group": "g", "seeds": 5}, run="other", paper="p")
    assert one.identity == other.identity
    assert one.folder != other.folder
    assert other.name == "p/other"


def test_the_intervals_settings_are_outside_every_identity():
    one, other = small_spec(), small_spec({"scoring": {"bootstrap_samples": 200}})
    assert (one.identity, decoding(one)) == (other.identity, decoding(other))


def test_the_data_sets_definition_is_hashed_and_its_name_is_not():
    one = small_spec({"data": {"dataset": "other"}})
    assert one.identity == small_spec().identity
    assert small_spec(definition={"salt": "x"}).identity != one.identity


def test_pieces_do_not_depend_on_what_is_left_out_of_training():
    one, other = small_spec().data, small_spec({"data": {"max_pieces": 9}}).data
    assert one.subwords_folder == other.subwords_folder
    assert one.folder != other.folder


@pytest.mark.parametrize("place", ["source", "decoder"])
def test_a_token_names_the_language_of_a_target_and_not_its_task(place):
    data = small_data(direction="one_to_many", target_token=place)
    assert data.target_tokens == {"bos": "__bos__", "bel": "__bel__", "kor": "__hangul__"}
    assert small_data(direction="one_to_many").target_tokens == {}


def test_a_token_moves_the_encoded_text_and_not_the_pieces():
    one, other = (small_data(direction="one_to_many", target_token=t) for t in ("none", "decoder"))
    assert one.subwords_folder == other.subwords_folder
    assert one.corpus_folder == other.corpus_folder
    assert one.folder != other.folder
