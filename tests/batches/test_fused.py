from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from fathom.data.tensors import EOS, PAD
from fathom.train.batches.collate import arranged, collate, ordered

MEMBERS = [(0, 7), (2, 0), (1, 3), (2, 9), (0, 1)]


@pytest.fixture(scope="module")
def training(tensors):
    return tensors.splits("train")


@pytest.fixture(scope="module")
def batch(training):
    return collate(training, MEMBERS)


def test_each_row_is_its_sentence_and_then_padding(training, batch):
    for row, (task, sentence) in enumerate(MEMBERS):
        for padded, ids in (
            (batch.source[row], training[task].source(sentence)),
            (batch.target[row], training[task].target(sentence)),
        ):
            assert padded[: len(ids)].tolist() == ids.tolist()
            assert set(padded[len(ids) :].tolist()) <= {PAD}


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


def test_rows_know_their_task_and_sentence(batch):
    assert list(zip(batch.tasks.tolist(), batch.sentences.tolist(), strict=True)) == MEMBERS
    assert batch.tasks.dtype == torch.long


def test_tokens_leave_padding_out(batch):
    assert batch.tokens == int((batch.target != PAD).sum())


def test_no_column_is_padding_alone(batch):
    for padded in (batch.source, batch.target):
        assert bool((padded != PAD).any(dim=0).all())


def test_moving_a_batch_keeps_everything(batch):
    moved = batch.to("cpu")
    assert torch.equal(moved.target, batch.target)
    assert moved.tokens == batch.tokens
    assert batch.to("meta").previous_target.device.type == "meta"


def test_the_order_of_the_splits_does_not_count(training, batch):
    again = collate(training[::-1], MEMBERS)
    assert torch.equal(again.source, batch.source)


@pytest.mark.parametrize("tokens", [1, 50, 1000, 10**6])
def test_ordered_batches_hold_every_sentence_once_and_the_longest_too(tensors, tokens):
    pairs = tensors.splits("test")
    found = [
        (task, sentence)
        for batch in ordered(pairs, tokens)
        for task, sentence in zip(batch.tasks.tolist(), batch.sentences.tolist(), strict=True)
    ]
    everything = [(each.task, i) for each in pairs for i in range(len(each))]
    assert sorted(found) == everything
    longest = max(pairs, key=lambda each: each.source_lengths.max())
    assert (longest.task, int(np.argmax(longest.source_lengths))) in found


def test_ordered_batches_stay_within_their_tokens_but_for_single_sentences(tensors):
    for batch in ordered(tensors.splits("valid"), 100):
        width = max(batch.source.shape[1], batch.target.shape[1])
        assert len(batch.tasks) == 1 or len(batch.tasks) * width <= 100


def test_ordered_batches_go_from_short_to_long(tensors):
    widths = [
        max(batch.source.shape[1], batch.target.shape[1])
        for batch in ordered(tensors.splits("valid"), 100)
    ]
    assert widths == sorted(widths)


def test_one_task_alone_keeps_its_index(tensors):
    pairs = [tensors.split("kor", "test")]
    assert {task for members in arranged(pairs, 500) for task, _ in members} == {2}
    assert set(next(ordered(pairs, 500)).tasks.tolist()) == {2}


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
