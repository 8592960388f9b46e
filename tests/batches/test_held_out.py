"""Every text of a split once, and the same pieces hidden each time."""

import pytest
import torch

from fathom.config.schema.run import Masking
from fathom.data.tensors import PAD
from fathom.train.batches.held_out import (
    TOKENS,
    evenly_spaced,
    held_out,
    held_out_blocks,
    held_out_pairs,
    sampled_blocks,
    sampled_pairs,
)
from fathom.train.batches.masking import mask, texts
from tests.support.refused import prose, refused
from tests.support.small_runs import masked, specification

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


@pytest.mark.parametrize("split", ["valid", "test"])
def test_each_pair_stands_once_with_all_its_target_tokens(tensors, split):
    found = held_out_pairs(tensors, split)
    pairs = tensors.splits(split)
    assert sorted(members(found)) == [
        (each.task, sentence) for each in pairs for sentence in range(len(each))
    ]
    assert sum(batch.tokens for batch in found) == sum(
        int(each.target_lengths.sum()) for each in pairs
    )


@pytest.mark.parametrize("split", ["valid", "test"])
def test_each_block_stands_once_and_nothing_of_the_text_is_missing(tensors, split):
    found = held_out_blocks(tensors, split, MASKING, BLOCK)
    every = members(found)
    assert len(every) == len(set(every))
    read = sum(int(batch.source.ne(PAD).sum()) for batch in found) - len(every)
    assert read == sum(int(pairs.source_lengths.sum()) for pairs in tensors.splits(split))
    for batch in found:
        assert len(batch.tasks) == 1 or batch.source.numel() <= TOKENS
        assert batch.tokens == int(batch.target.ne(PAD).sum())


def test_the_same_pieces_are_hidden_each_time_and_other_ones_of_another_split(tensors):
    valid, again, test = (
        held_out_blocks(tensors, split, MASKING, BLOCK) for split in ("valid", "valid", "test")
    )
    assert same(valid, again)
    assert not same(valid, test)


def test_held_out_pieces_are_not_drawn_as_a_trainings_are(tensors):
    """A promise to runs already made: held-out blocks keep their own word of the seed."""
    found = held_out_blocks(tensors, "valid", MASKING, BLOCK)
    entries = len(tensors.source_dictionary)
    task, block = members(found)[0]
    target = found[0].target[0]
    truth = torch.where(target == PAD, found[0].source[0], target)
    hidden, wanted = mask(truth.numpy(), entries, MASKING, 0, 3, task, block)
    assert target.tolist() == wanted.tolist()
    assert found[0].source[0].tolist() == hidden.tolist()


def test_a_run_says_whether_pairs_or_blocks_are_predicted(tensors):
    assert same(held_out(tensors, "test", specification()), held_out_pairs(tensors, "test"))
    blocks = held_out_blocks(tensors, "test", MASKING, BLOCK)
    assert same(held_out(tensors, "test", masked()), blocks)
    assert not same(blocks, held_out_pairs(tensors, "test"))


def test_a_text_of_which_nothing_is_predicted_is_an_error_that_says_whose(tensors):
    with refused("nothing predicted", "bos", where="valid", remedy=prose("hold more out")):
        held_out_blocks(tensors, "valid", Masking(chosen=0.0), BLOCK)


def test_an_unknown_split_is_told_the_nearest(tensors):
    with refused(nearest="test"):
        held_out_pairs(tensors, "tset")


def test_places_are_spread_over_the_whole_text():
    assert evenly_spaced(9, 3) == [0, 4, 8]
    assert evenly_spaced(2, 5) == [0, 1]
    assert len(set(evenly_spaced(1000, 300))) == 300


def test_a_sample_of_training_text_has_as_many_texts_of_each_task_as_validation(tensors):
    training, valid = tensors.splits("train"), tensors.splits("valid")
    found = members(sampled_pairs(tensors))
    assert len(found) == len(set(found))
    for of_task, held in zip(training, valid, strict=True):
        places = [place for task, place in found if task == of_task.task]
        assert len(places) == min(len(of_task), len(held))
        assert max(places) < len(of_task)


def test_a_sample_of_training_blocks_hides_the_same_pieces_each_time(tensors):
    first, again = (sampled_blocks(tensors, MASKING, BLOCK) for _ in range(2))
    assert same(first, again)
    sizes = {
        text.task: min(len(text), len(held))
        for text, held in zip(
            texts(tensors, "train", BLOCK), texts(tensors, "valid", BLOCK), strict=True
        )
    }
    assert len(members(first)) == sum(sizes.values())
