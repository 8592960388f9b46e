"""Batches of sentences, held-out texts, blocks of complete sentences, and what is hidden."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from fathom.config.schema.run import Masking
from fathom.data.tensors import EOS, PAD
from fathom.train.batches.collate import collate
from fathom.train.batches.held_out import TOKENS, held_out, held_out_blocks, ordered
from fathom.train.batches.masking import (
    BOS,
    BlockSampler,
    blocks,
    collate_masked,
    count_predicted,
    mask,
    predicted,
    texts,
)
from fathom.train.batches.sampler import AllTasks, DrawnTasks
from tests.support.refused import refused
from tests.support.small_runs import masked, specification

MEMBERS = [(0, 7), (2, 0), (1, 3), (2, 9), (0, 1)]


@pytest.fixture(scope="module")
def training(loaded):
    return loaded.splits("train")


@pytest.fixture(scope="module")
def batch(training):
    return collate(training, MEMBERS)


@pytest.mark.parametrize("members", [MEMBERS, MEMBERS[:1], [(1, 4), (1, 4), (1, 0)]])
def test_a_batch_is_that_of_torchs_padding_sentence_by_sentence(training, members):
    batch = collate(training, members)
    sides = {"source": batch.source, "target": batch.target}
    for side, padded in sides.items():
        rows = [getattr(training[task], side)(sentence) for task, sentence in members]
        expected = pad_sequence(rows, batch_first=True, padding_value=PAD)
        assert torch.equal(padded, expected)
        assert padded.dtype == torch.long


def test_the_decoder_reads_the_target_one_place_later_after_the_end_symbol(training, batch):
    for row, (task, sentence) in enumerate(MEMBERS):
        ids = training[task].target(sentence).tolist()
        expected = [EOS, *ids[:-1]] + [PAD] * (batch.target.shape[1] - len(ids))
        assert batch.previous_target[row].tolist() == expected


def test_the_host_knows_the_tokens_of_each_side(batch):
    for side, lengths in (
        (batch.source, batch.source_lengths),
        (batch.target, batch.target_lengths),
    ):
        assert lengths == tuple(side.ne(PAD).sum(dim=1).tolist())
    assert batch.to("cpu").source_lengths == batch.source_lengths


def test_the_decoder_of_each_task_reads_its_own_start_first(training):
    own = [replace(split, start=40 + split.task) for split in training]
    plain, batch = collate(training, MEMBERS), collate(own, MEMBERS)
    assert batch.previous_target[:, 0].tolist() == [40 + task for task, _ in MEMBERS]
    assert torch.equal(batch.previous_target[:, 1:], plain.previous_target[:, 1:])
    assert torch.equal(batch.target, plain.target)


MASKING = Masking(chosen=0.15, masked=0.8, random=0.1)
BLOCK = 128


def members(batches):
    """Return the (task, text) of every row."""
    return [
        pair
        for batch in batches
        for pair in zip(batch.tasks.tolist(), batch.sentences.tolist(), strict=True)
    ]


def same(first, second):
    return len(first) == len(second) and all(
        torch.equal(getattr(one, side), getattr(two, side))
        for one, two in zip(first, second, strict=True)
        for side in ("source", "previous_target", "target", "tasks")
    )


@pytest.mark.parametrize("tokens", [1, 50, 1000, TOKENS])
def test_ordered_batches_hold_every_pair_once_within_their_tokens(loaded, tokens):
    pairs = loaded.splits("test")
    batches = ordered(pairs, tokens)
    assert sorted(members(batches)) == [(each.task, i) for each in pairs for i in range(len(each))]
    assert sum(batch.tokens for batch in batches) == sum(
        int(each.target_lengths.sum()) for each in pairs
    )
    for batch in batches:
        width = max(batch.source.shape[1], batch.target.shape[1])
        assert len(batch.tasks) == 1 or len(batch.tasks) * width <= tokens


@pytest.mark.parametrize("split", ["valid", "test"])
def test_each_block_stands_once_and_nothing_of_the_text_is_missing(loaded, split):
    found = held_out_blocks(loaded, split, MASKING, BLOCK)
    every = members(found)
    assert len(every) == len(set(every))
    read = sum(int(batch.source.ne(PAD).sum()) for batch in found) - len(every)
    assert read == sum(int(pairs.source_lengths.sum()) for pairs in loaded.splits(split))
    for batch in found:
        assert len(batch.tasks) == 1 or batch.source.numel() <= TOKENS
        assert batch.tokens == int(batch.target.ne(PAD).sum())


def test_the_same_pieces_are_hidden_each_time_and_other_ones_of_another_split(loaded):
    valid, again, test = (
        held_out_blocks(loaded, split, MASKING, BLOCK) for split in ("valid", "valid", "test")
    )
    assert same(valid, again)
    assert not same(valid, test)


def test_held_out_pieces_are_not_drawn_as_a_trainings_are(loaded):
    """A promise to runs already made: held-out blocks keep their own word of the seed."""
    found = held_out_blocks(loaded, "valid", MASKING, BLOCK)
    entries = len(loaded.source_dictionary)
    task, block = members(found)[0]
    target = found[0].target[0]
    truth = torch.where(target == PAD, found[0].source[0], target)
    hidden, wanted = mask(truth.numpy(), entries, MASKING, 0, 3, task, block)
    assert target.tolist() == wanted.tolist()
    assert found[0].source[0].tolist() == hidden.tolist()


def test_a_run_says_whether_pairs_or_blocks_are_predicted(loaded):
    pairs = ordered(loaded.splits("test"))
    assert same(held_out(loaded, "test", specification()), pairs)
    blocks = held_out_blocks(loaded, "test", MASKING, BLOCK)
    assert same(held_out(loaded, "test", masked()), blocks)
    assert not same(blocks, pairs)


def test_a_text_of_which_nothing_is_predicted_is_an_error_that_says_whose(loaded):
    with refused("nothing of 'bos' is predicted", where="valid", remedy="hold more text out"):
        held_out_blocks(loaded, "valid", Masking(chosen=0.0), BLOCK)


def test_a_sample_of_training_text_has_as_many_texts_of_each_task_as_validation(loaded):
    training, valid = loaded.splits("train"), loaded.splits("valid")
    found = members(held_out(loaded, "train", specification(), "valid"))
    assert len(found) == len(set(found))
    for of_task, held in zip(training, valid, strict=True):
        places = [place for task, place in found if task == of_task.task]
        assert len(places) == min(len(of_task), len(held))
        assert max(places) < len(of_task)


def test_a_sample_of_training_blocks_hides_the_same_pieces_each_time(loaded):
    first, again = (held_out(loaded, "train", masked(), "valid") for _ in range(2))
    assert same(first, again)
    sizes = {
        text.task: min(len(text), len(held))
        for text, held in zip(
            texts(loaded, "train", BLOCK), texts(loaded, "valid", BLOCK), strict=True
        )
    }
    assert len(members(first)) == sum(sizes.values())


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


@pytest.mark.parametrize("length", [1, 2, 30, 300])
@pytest.mark.parametrize("chosen", [0.15, 1.0])
def test_what_is_predicted_of_a_text_is_counted_without_hiding_any(length, chosen):
    masking = Masking(chosen=chosen, masked=0.8, random=0.1)
    for draw in range(40):
        tokens = np.array([0, 2, *text(length)])
        hidden = mask(tokens, ENTRIES, masking, 4, draw)
        assert count_predicted(tokens, masking, 4, draw) == predicted(hidden)


def test_the_mask_symbol_follows_the_dictionary_as_fairseq_adds_it(loaded):
    dictionary = loaded.source_dictionary
    entries = len(dictionary)
    again = type(dictionary).load(str(loaded.folder / "dictionary.source.txt"))
    whole = Masking(chosen=1.0, masked=1.0, random=0.0)
    hidden, _ = mask(np.array([5]), entries, whole, 1)
    assert hidden.tolist() == [again.add_symbol("<mask>")]


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


LONGEST = 122


def lengths(sentences=400, longest=40, seed=1):
    return np.random.default_rng(seed).integers(1, longest + 1, sentences)


def test_blocks_are_those_of_a_loop_over_sentences():
    """fairseq's loop for its break mode "complete", which needs a compiler there."""
    sizes, tokens = lengths(), [0]
    for size in sizes.tolist():
        if tokens[-1] and tokens[-1] + size > 100:
            tokens.append(0)
        tokens[-1] += size
    found = blocks(sizes, 100)
    assert (found[:, 1] - found[:, 0]).tolist() == tokens


def test_a_block_that_fits_to_the_token_is_one():
    assert blocks(np.array([3, 4, 3]), 10).tolist() == [[0, 10]]
    assert blocks(np.array([3, 4, 4]), 10).tolist() == [[0, 7], [7, 11]]
    assert blocks(np.array([10, 10]), 10).tolist() == [[0, 10], [10, 20]]
    assert blocks(np.array([], dtype=int), 10).shape == (0, 2)


def test_a_sentence_longer_than_a_block_is_an_error_that_names_the_setting():
    with refused("a sentence has 11 tokens with its end symbol, a block at most") as caught:
        blocks(np.array([3, 11, 4]), 10)
    assert caught.value.where == "data.max_pieces"
    assert "9 or less" in caught.value.remedy


def test_a_text_is_the_source_side_in_blocks_with_the_start_symbol(loaded):
    for text, pairs in zip(texts(loaded, "train", LONGEST), loaded.splits("train"), strict=True):
        assert text.lines == len(pairs)
        whole = np.concatenate([pairs.source(i).numpy() for i in range(len(pairs))])
        found = [text.block(number) for number in range(len(text))]
        assert all(block[0] == BOS == loaded.source_dictionary.bos() for block in found)
        assert (np.concatenate([block[1:] for block in found]) == whole).all()
        assert text.lengths.tolist() == [len(block) for block in found]
        assert 100 < np.median(text.lengths) <= text.lengths.max() <= LONGEST


def order(tokens=(300, 120, 30)):
    sizes = [lengths(60, 100, seed=1), lengths(25, 100, seed=2), lengths(90, 100, seed=3)]
    return BlockSampler(sizes, AllTasks(tokens), 1), sizes


def test_each_task_has_its_share_of_tokens():
    drawn, sizes = order()
    counts = np.zeros(3)
    for update in range(1, 401):
        for task, block in drawn.update(update):
            counts[task] += sizes[task][block]
    assert counts / 400 == pytest.approx([300, 120, 30], rel=0.01)


def test_an_update_is_sorted_by_length_and_cut_into_equal_parts():
    drawn, sizes = order(tokens=(3000, 1200, 300))
    members = drawn.update(2)
    tokens = [sizes[task][block] for task, block in members]
    assert tokens == sorted(tokens) == [drawn.length(member) for member in members]
    parts = drawn.split(members, 4)
    assert [member for part in parts for member in part] == members
    counts = [sum(map(drawn.length, part)) for part in parts]
    assert max(abs(count - sum(tokens) / 4) for count in counts) <= 100


def test_updates_that_might_be_empty_are_errors():
    lengths = [np.array([100, 90, 100]), np.array([60, 50, 70])]
    with refused("an update could have no block") as caught:
        BlockSampler(lengths, AllTasks([99, 69]), 1)
    assert "give a task 70 tokens" in caught.value.remedy
    drawn = BlockSampler(lengths, AllTasks([10, 70]), 1)
    assert all(drawn.update(number) for number in range(1, 200))


def test_an_update_of_one_task_holds_the_next_blocks_of_that_task():
    sizes = [lengths(60, 100, seed=1), lengths(25, 100, seed=2)]
    tasks = DrawnTasks(300, [0.7, 0.3], seed=1)
    drawn, seen = BlockSampler(sizes, tasks, 1), [[], []]
    for update in range(1, 12):
        members = drawn.update(update)
        [task] = {task for task, _ in members}
        assert [(task,)] == [part for part, _ in tasks.at(update)]
        seen[task] += [block for _, block in members]
    for own, of_task in zip(seen, sizes, strict=True):
        assert len(set(own)) == min(len(own), len(of_task))
    assert drawn.passes(11) == tasks.times(0, 11) * 300 / sizes[0].sum()
