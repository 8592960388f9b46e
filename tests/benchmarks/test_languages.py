"""A text dealt over another number of languages has the same pairs of sentences."""

from pathlib import Path

import pytest
import torch

from benchmarks.growth.languages import Dealt, deal
from fathom.data.tensors import load


def pairs(folder: Path, split: str) -> list[tuple]:
    return sorted(
        (tuple(own.source(number).tolist()), tuple(own.target(number).tolist()))
        for own in load(folder).splits(split)
        for number in range(len(own))
    )


@pytest.mark.parametrize("languages", [1, 5])
def test_every_pair_is_there_once_and_languages_have_equally_many(languages, tensors, tmp_path):
    deal(tensors, languages, tmp_path)
    for split in ("train", "valid"):
        assert pairs(tmp_path, split) == pairs(tensors, split)
    counts = [len(own) for own in load(tmp_path).splits("train")]
    assert len(counts) == languages
    assert max(counts) - min(counts) <= 1


def test_pairs_with_a_longer_side_are_left_out(tensors, tmp_path):
    deal(tensors, 2, tmp_path, longest=12)
    short = [pair for pair in pairs(tensors, "train") if max(map(len, pair)) <= 12]
    assert 0 < len(short) < len(pairs(tensors, "train"))
    assert pairs(tmp_path, "train") == short


def test_a_dealt_workload_takes_its_languages_after_text_and_device(tmp_path):
    dealt = Dealt(tmp_path, torch.device("cpu"), 25, 31)
    assert (dealt.languages, dealt.longest) == (25, 31)
