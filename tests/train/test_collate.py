"""Batches of sentences of several tasks, and every held-out text once."""

from dataclasses import replace

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from fathom.config.schema.run import Masking
from fathom.data.tensors import EOS, PAD
from fathom.train.batches.collate import collate
from fathom.train.batches.held_out import TOKENS, held_out, held_out_blocks, ordered
from fathom.train.batches.masking import mask, texts
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
