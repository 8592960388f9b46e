import numpy as np
import pytest
import torch
from fairseq.data.indexed_dataset import (
    MMapIndexedDataset,
    MMapIndexedDatasetBuilder,
    best_fitting_int_dtype,
)

from fathom.data.indexed import Sentences, files, ids_path, index_path, writing

ROWS = [[5, 2], [7, 8, 9, 2], [2], [60_000, 2]]


def write(prefix, rows, entries):
    with writing(prefix, entries) as add:
        for row in rows:
            add(row)
    return files(prefix)


@pytest.mark.parametrize("entries", [100, 65_499, 65_500, 200_000])
def test_files_are_those_of_fairseqs_builder_in_every_byte(tmp_path, entries):
    rows = [[min(number, entries - 1) for number in row] for row in ROWS]
    ours = write(tmp_path / "ours", rows, entries)
    theirs = ids_path(tmp_path / "theirs"), index_path(tmp_path / "theirs")
    builder = MMapIndexedDatasetBuilder(str(theirs[0]), dtype=best_fitting_int_dtype(entries))
    for row in rows:
        builder.add_item(torch.tensor(row))
    builder.finalize(str(theirs[1]))
    assert [path.read_bytes() for path in ours] == [path.read_bytes() for path in theirs]
    assert len(list(tmp_path.iterdir())) == 4


def test_an_error_on_the_way_leaves_no_file(tmp_path):
    with pytest.raises(OverflowError), writing(tmp_path / "text", 100) as add:
        add([5, -2])
    assert not list(tmp_path.iterdir())


def test_fairseq_and_we_read_the_same_sentences(tmp_path):
    write(tmp_path / "text", ROWS, 65_000)
    ours, theirs = Sentences(tmp_path / "text"), MMapIndexedDataset(str(tmp_path / "text"))
    assert [row.tolist() for row in ours] == ROWS
    assert [theirs[i].tolist() for i in range(len(theirs))] == ROWS
    assert ours.lengths.tolist() == theirs.sizes.tolist()
    assert len(ours) == len(ROWS)


def test_all_ids_are_one_array_and_each_sentence_a_part_of_it(tmp_path):
    write(tmp_path / "text", ROWS, 100_000)
    sentences = Sentences(tmp_path / "text")
    assert sentences.ids.tolist() == [number for row in ROWS for number in row]
    assert sentences.starts.tolist() == [0, 2, 6, 7]
    assert sentences[1].dtype == np.int64
