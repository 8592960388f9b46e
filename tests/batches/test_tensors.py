import os
import shutil

import numpy as np
import pytest
import torch

from fathom.data.tensors import EOS, PAD, load
from tests.support.refused import refused
from tests.support.small_corpus import TASKS


def test_tasks_come_in_the_order_of_the_data_set(tensors):
    assert tensors.tasks == TASKS
    assert [pairs.task for pairs in tensors.splits("train")] == [0, 1, 2]


def test_sentences_are_long_tensors_that_end_with_the_end_symbol(tensors):
    pairs = tensors.split("kor", "train")
    for i in range(len(pairs)):
        for sentence, lengths in (
            (pairs.source(i), pairs.source_lengths),
            (pairs.target(i), pairs.target_lengths),
        ):
            assert sentence.dtype == torch.long
            assert len(sentence) == lengths[i]
            assert (sentence == EOS).nonzero().flatten().tolist() == [len(sentence) - 1]
            assert PAD not in sentence


def test_lengths_are_arrays_of_all_sentences(tensors):
    pairs = tensors.split("bel", "valid")
    assert isinstance(pairs.source_lengths, np.ndarray)
    assert len(pairs) == len(pairs.source_lengths) == len(pairs.target_lengths) == 30


def test_dictionaries_hold_fairseqs_symbols_and_the_pieces(tensors):
    assert len(tensors.source_dictionary) == 117 + 4
    assert len(tensors.target_dictionary) == 77 + 4
    assert tensors.target_dictionary.pad() == PAD
    assert tensors.target_dictionary.eos() == EOS


@pytest.mark.parametrize(
    ("task", "split", "nearest"), [("kro", "train", "kor"), ("kor", "trian", "train")]
)
def test_an_unknown_task_or_split_names_the_nearest(tensors, task, split, nearest):
    with refused(nearest=nearest):
        tensors.split(task, split)


def test_unfinished_tensors_are_refused(tmp_path):
    with refused(where="tensors.json"):
        load(tmp_path)


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("kor/train.target.bin", flip, "changed file"),
        ("kor/train.target.bin", lambda path: os.truncate(path, 100), "changed file"),
        ("bos/valid.source.idx", lambda path: os.truncate(path, 20), "changed file"),
        ("bel/test.source.bin", os.unlink, "no such file"),
        ("dictionary.source.txt", lambda path: os.truncate(path, 0), "changed file"),
        ("tensors.json", flip, None),
    ],
)
def test_tensors_that_are_not_those_that_were_encoded_are_refused(
    tensors, tmp_path, name, damage, message
):
    folder = shutil.copytree(tensors.folder, tmp_path / "tensors" / "small-12345678")
    load(folder)
    damage(folder / name)
    again = f"rm {folder}/tensors.json && fathom encode small-12345678"
    with refused(message, where=folder / name, remedy=again):
        load(folder)
