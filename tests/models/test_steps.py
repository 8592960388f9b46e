"""Sentences that leave a batch: the last ones take their places."""

import torch

from fathom.nn.stack import compaction_order, moved_slots


def test_the_last_sentences_fill_the_gaps_of_those_that_are_dropped():
    dropped = torch.tensor([False, True, False, True, True, False, False])
    assert compaction_order(dropped).tolist() == [0, 5, 2, 6]


def test_without_gaps_nothing_moves():
    assert compaction_order(torch.tensor([False, False, True, True])).tolist() == [0, 1]
    assert compaction_order(torch.tensor([True, True])).tolist() == []
    assert compaction_order(torch.tensor([False, False])).tolist() == [0, 1]


def test_only_what_changes_its_place_is_moved():
    places, sentences = moved_slots(torch.tensor([0, 5, 2, 6]))
    assert places.tolist() == [1, 3]
    assert sentences.tolist() == [5, 6]
