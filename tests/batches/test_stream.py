from itertools import pairwise

import numpy as np
import pytest

from fathom.train.batches.sampler import Stream, permutation

LENGTHS = np.random.default_rng(0).integers(1, 30, size=200)


def test_a_permutation_holds_everything_once():
    assert sorted(permutation(100, 1, 2, 3)) == list(range(100))


def test_a_permutation_depends_on_its_seed_and_place_alone():
    assert permutation(50, 1, 0, 2).tolist() == permutation(50, 1, 0, 2).tolist()
    others = [permutation(50, *where).tolist() for where in ((1, 0, 3), (1, 1, 2), (2, 0, 2))]
    assert permutation(50, 1, 0, 2).tolist() not in others


def test_the_order_is_the_same_in_every_version_of_numpy():
    # Frozen: another order here is another order of data in every run.
    assert permutation(8, 1, 0, 2).tolist() == [2, 0, 7, 4, 6, 3, 5, 1]


def test_stretches_of_a_pass_hold_every_sentence_once():
    stream = Stream(LENGTHS, 1)
    cuts = [0, 100, 101, 900, stream.tokens]
    found = [stream.between(a, b) for a, b in pairwise(cuts)]
    assert sorted(np.concatenate(found)) == list(range(200))


def test_a_stretch_over_several_passes_repeats_sentences_once_a_pass():
    stream = Stream(LENGTHS, 1)
    found = stream.between(0, 3 * stream.tokens)
    assert np.bincount(found).tolist() == [3] * 200
    passes = found.reshape(3, 200)
    assert not np.array_equal(passes[0], passes[1])


def test_a_stretch_found_alone_equals_the_stretch_found_in_turn():
    replayed = Stream(LENGTHS, 1)
    for begin in range(0, 7 * replayed.tokens, 500):
        latest = replayed.between(begin, begin + 500)
    alone = Stream(LENGTHS, 1).between(begin, begin + 500)
    assert alone.tolist() == latest.tolist()


def test_a_stretch_has_as_many_tokens_as_asked_but_for_its_last_sentence():
    stream = Stream(LENGTHS, 1)
    for begin in range(0, 2 * stream.tokens, 333):
        tokens = LENGTHS[stream.between(begin, begin + 333)].sum()
        assert abs(tokens - 333) < LENGTHS.max()


@pytest.mark.parametrize("end", [1, 2])
def test_a_stretch_within_one_sentence_may_be_empty(end):
    stream = Stream(np.array([5, 5]), 1)
    assert len(stream.between(end, end + 1)) == 0
