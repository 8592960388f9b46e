"""Which pieces are hidden, and what replaces them."""

import numpy as np
import pytest

from fathom.config.schema.run import Masking
from fathom.data.tensors import PAD
from fathom.train.batches.masking import collate_masked, mask, mask_symbol, predicted

MASKING = Masking(chosen=0.15, masked=0.8, random=0.1)
ENTRIES = 50
MASK = 50


def text(length, seed=0):
    """Return a text of sentences of ten pieces, the start symbol first, with unknown pieces."""
    tokens = np.random.default_rng(seed).integers(4, ENTRIES, length)
    tokens[9::10] = 2
    tokens[5::50] = 3
    tokens[0] = 0
    return tokens


def test_shares_are_those_of_the_settings_within_four_deviations():
    tokens = text(200_000)
    hidden, target = mask(tokens, ENTRIES, MASKING, 1, 2)
    pieces, chosen = (tokens >= 4).sum(), target != PAD
    assert chosen.sum() in (int(0.15 * pieces), int(0.15 * pieces) + 1)
    masked = (hidden[chosen] == MASK).mean()
    changed = ((hidden != tokens) & (hidden != MASK))[chosen].mean()
    drawn = 0.1 * (1 - 1 / (ENTRIES - 4))  # a random piece may be the hidden one
    deviation = np.sqrt(0.8 * 0.2 / chosen.sum())
    assert abs(masked - 0.8) < 4 * deviation
    assert abs(changed - drawn) < 4 * deviation


def test_every_place_is_chosen_equally_often():
    tokens = np.arange(4, 24)
    times = sum(mask(tokens, ENTRIES, MASKING, 7, draw)[1] != PAD for draw in range(4000))
    assert times.sum() / 4000 == pytest.approx(3.0)
    assert abs(times - 600).max() < 4.5 * np.sqrt(4000 * 0.15 * 0.85)


def test_random_pieces_are_drawn_from_all_pieces_and_from_nothing_else():
    tokens = text(60_000)
    hidden, target = mask(tokens, ENTRIES, Masking(chosen=0.5, masked=0.0, random=1.0), 3)
    counts = np.bincount(hidden[target != PAD], minlength=ENTRIES + 1)
    assert not counts[:4].any()
    assert not counts[MASK]
    mean = counts[4:ENTRIES].mean()
    assert abs(counts[4:ENTRIES] - mean).max() < 4.5 * np.sqrt(mean)


def test_symbols_of_the_dictionary_are_never_chosen_and_the_rest_is_left():
    tokens = text(5000)
    hidden, target = mask(tokens, ENTRIES, Masking(chosen=1.0, masked=1.0, random=0.0), 1)
    special = tokens < 4
    assert special.sum() > 500
    assert (target[special] == PAD).all()
    assert (hidden[special] == tokens[special]).all()
    assert (hidden[~special] == MASK).all()
    assert (target[~special] == tokens[~special]).all()
    some, wanted = mask(tokens, ENTRIES, MASKING, 1)
    assert (some[wanted == PAD] == tokens[wanted == PAD]).all()
    assert (wanted[wanted != PAD] == tokens[wanted != PAD]).all()


def test_pieces_that_stay_are_predicted_too():
    tokens = text(1000)
    hidden, target = mask(tokens, ENTRIES, Masking(chosen=0.15, masked=0.0, random=0.0), 1)
    assert (hidden == tokens).all()
    assert (target != PAD).sum() > 100


def test_what_is_hidden_depends_on_its_place_alone():
    tokens = text(300)
    first = mask(tokens, ENTRIES, MASKING, 1, 5, 0, 7)
    again = mask(tokens, ENTRIES, MASKING, 1, 5, 0, 7)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    for other in ((2, 5, 0, 7), (1, 6, 0, 7), (1, 5, 1, 7), (1, 5, 0, 8)):
        assert (mask(tokens, ENTRIES, MASKING, *other)[1] != first[1]).any(), other


def test_the_draw_is_the_same_on_every_machine():
    """A promise to runs already made: their text must be hidden as it was."""
    hidden, target = mask(
        np.arange(4, 24), ENTRIES, Masking(chosen=0.5, masked=0.6, random=0.2), 1, 2, 2
    )
    assert np.flatnonzero(target != PAD).tolist() == [1, 3, 4, 7, 8, 9, 11, 14, 17, 18]
    assert hidden[target != PAD].tolist() == [5, 50, 50, 50, 50, 50, 15, 25, 21, 50]


def test_short_texts_have_their_share_on_average():
    tokens = np.array([0, 10, 11, 2])
    counts = [predicted(mask(tokens, ENTRIES, MASKING, 4, draw)) for draw in range(4000)]
    assert set(counts) == {0, 1}
    assert np.mean(counts) == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 4000))


def test_a_text_without_pieces_is_left_alone():
    hidden, target = mask(np.array([0, 3, 2]), ENTRIES, MASKING, 1)
    assert hidden.tolist() == [0, 3, 2]
    assert target.tolist() == [PAD] * 3


def test_the_mask_symbol_follows_the_dictionary_as_fairseq_adds_it(tensors):
    dictionary = tensors.source_dictionary
    entries = len(dictionary)
    again = type(dictionary).load(str(tensors.folder / "dictionary.source.txt"))
    assert again.add_symbol("<mask>") == mask_symbol(entries) == entries


def test_a_batch_is_padded_and_counts_what_is_predicted():
    rows = [mask(text(length), ENTRIES, MASKING, 1, length) for length in (40, 25)]
    batch = collate_masked(rows, [(1, 8), (0, 3)])
    assert batch.source.shape == batch.target.shape == (2, 40)
    assert batch.source[1, :25].tolist() == rows[1][0].tolist()
    assert (batch.source[1, 25:] == PAD).all()
    assert (batch.target[1, 25:] == PAD).all()
    assert batch.target[0].tolist() == rows[0][1].tolist()
    assert (batch.tasks.tolist(), batch.sentences.tolist()) == ([1, 0], [8, 3])
    assert (batch.source != PAD).sum() == 65
    assert batch.tokens == (batch.target != PAD).sum() == sum(map(predicted, rows))
    assert batch.to("cpu").previous_target.shape == (2, 0)
