import os
import shutil
from dataclasses import replace
from itertools import islice, repeat

import numpy as np
import pytest
import torch
from fairseq.data.indexed_dataset import (
    MMapIndexedDataset,
    MMapIndexedDatasetBuilder,
    best_fitting_int_dtype,
)

from fathom.config.schema.dataset import SPLITS
from fathom.data.encode import encode, selected
from fathom.data.indexed import Sentences, files, writing
from fathom.data.sides import sides
from fathom.data.subwords import Encoder, join, train
from fathom.data.tensors import load
from fathom.data.vocabulary import EOS, PAD
from fathom.io.errors import FathomError
from fathom.io.files import read_json, read_lines, sha256, write_lines
from tests.support.damage import flip
from tests.support.refused import refused
from tests.support.small_corpus import (
    DEFINITION,
    INVISIBLE,
    LANGUAGES,
    ODD,
    TASKS,
    record_corpus,
    silent,
    small_data,
)

ALONE = {"tasks": DEFINITION["tasks"]}
ROWS = [[5, 2], [7, 8, 9, 2], [2], [60_000, 2]]


# Encoding


def text(dictionary, ids):
    return join([dictionary[i] for i in ids[:-1].tolist()])


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("split", ["valid", "test"])
def test_every_sentence_of_valid_and_test_is_kept_in_order(corpus, tensors, task, split):
    pairs = tensors.split(task, split)
    source = read_lines(corpus / task / f"{split}.{LANGUAGES[task]}")
    target = read_lines(corpus / task / f"{split}.eng")
    assert len(pairs) == len(source)
    for i, (line, answer) in enumerate(zip(source, target, strict=True)):
        for ids in (pairs.source(i), pairs.target(i)):
            assert (ids.dtype, (ids == EOS).nonzero().tolist()) == (torch.long, [[len(ids) - 1]])
            assert PAD not in ids
        assert text(tensors.target_dictionary, pairs.target(i)) == answer
        if line not in (ODD, INVISIBLE) and len(pairs.source(i)) <= 120:
            assert text(tensors.source_dictionary, pairs.source(i)) == line


def test_cut_and_left_out_pairs_and_tokens_with_end_symbols_are_counted(corpus, encoded, tensors):
    counts = read_json(encoded / "tensors.json")["splits"]
    of_bos = counts["bos"]
    assert [of_bos[split]["cut_sources"] for split in SPLITS] == [0, 1, 1]
    longest = small_data().settings.max_pieces + 1
    assert tensors.split("bos", "valid").source_lengths.max() == longest
    train = of_bos["train"]
    assert (train["left_out_empty"], train["left_out_long"]) == (1, 1)
    lines = len(read_lines(corpus / "bos" / "train.bos"))
    assert train["pairs"] == len(tensors.split("bos", "train")) == lines - 2
    for task in TASKS:
        for split in SPLITS:
            pairs = tensors.split(task, split)
            assert counts[task][split]["source_tokens"] == pairs.source_lengths.sum()
            assert counts[task][split]["target_tokens"] == pairs.target_lengths.sum()


def test_encoding_twice_gives_the_same_bytes_all_of_them_recorded(
    corpus, foreign, encoded, tmp_path
):
    encode(small_data(), corpus, foreign, tmp_path, silent)
    made, again = (
        {p.relative_to(folder).as_posix(): sha256(p) for p in folder.rglob("*") if p.is_file()}
        for folder in (encoded, tmp_path)
    )
    assert made == again
    del made["tensors.json"]
    assert read_json(encoded / "tensors.json")["files"] == made
    # A failed encoding leaves nothing that looks finished.
    settings = small_data().settings.model_copy(update={"max_pieces": 0})
    with pytest.raises(FathomError, match=r"data.max_pieces"):
        encode(replace(small_data(), settings=settings), corpus, foreign, tmp_path, silent)
    with pytest.raises(FathomError, match=r"tensors.json"):
        load(tmp_path)
    with pytest.raises(FathomError, match=r"subwords.json"):
        encode(small_data(), corpus, tmp_path, tmp_path / "out", silent)


def test_the_baseline_is_one_distribution_over_all_tasks_targets(encoded, tensors):
    size = len(tensors.target_dictionary)
    training = [ids for task in TASKS for ids in targets(tensors, task, "train")]
    counts = np.bincount(np.concatenate(training), minlength=size) + 1
    cost = -np.log(counts / counts.sum())
    by_task = {task: np.concatenate(targets(tensors, task, "valid")) for task in TASKS}
    recorded = read_json(encoded / "tensors.json")["unigram_nll_by_task"]
    for task, ids in by_task.items():
        assert recorded[task] == pytest.approx(cost[ids].mean())
    everything = np.concatenate(list(by_task.values()))
    assert tensors.unigram_nll == pytest.approx(cost[everything].mean())
    assert 2 < tensors.unigram_nll < np.log(size)


def targets(tensors, task, split):
    return list(tensors.split(task, split).targets)


@pytest.fixture
def lines(corpus, tmp_path):
    """A function that encodes the corpus's own sides as text without pairs."""

    def run(**changes):
        data = small_data(ALONE, direction=None, joint=150, **changes)
        train(data, corpus, tmp_path / "subwords", silent)
        encode(data, corpus, tmp_path / "subwords", tmp_path / "lines", silent)
        return tmp_path / "lines"

    return run


def test_text_without_pairs_has_one_side_and_one_dictionary(lines, corpus):
    folder = lines(max_pieces=30)
    assert not list(folder.parent.rglob("*target*"))
    record = read_json(folder.parent / "subwords" / "subwords.json")
    assert [*record["models"], *record["unknown_rates"]] == ["joint", "source"]
    tensors = load(folder)
    assert tensors.sides == ("source",)
    assert tensors.target_dictionary == tensors.source_dictionary
    valid = tensors.split("kor", "valid")
    assert valid.target(3).tolist() == valid.source(3).tolist()
    written = read_lines(corpus / "kor" / "valid.hangul")
    assert text(tensors.source_dictionary, valid.source(3)) in written
    # Longer and empty lines of every split are left out.
    for split, counts in read_json(folder / "tensors.json")["splits"]["bos"].items():
        assert (counts["left_out_empty"], counts["cut_sources"]) == (1, 0)
        assert counts["left_out_long"] >= 1
        total = counts["sentences"] + counts["left_out_empty"] + counts["left_out_long"]
        assert total == len(read_lines(corpus / "bos" / f"{split}.bos"))


def test_an_end_symbol_in_the_text_is_unknown_and_unequal_lines_are_refused(
    corpus, foreign, tmp_path
):
    copy = shutil.copytree(corpus, tmp_path / "corpus")
    lines = read_lines(copy / "kor" / "test.eng")
    write_lines(copy / "kor" / "test.eng", ["</s> <pad>", *lines[1:]])
    record_corpus(copy)
    encode(small_data(), copy, foreign, tmp_path / "out", silent)
    tensors = load(tmp_path / "out")
    ids = tensors.split("kor", "test").target(0).tolist()
    assert (ids.count(EOS), ids[-1]) == (1, EOS)
    assert ids.count(tensors.target_dictionary.unk()) >= 2
    assert PAD not in ids

    write_lines(copy / "bel" / "valid.eng", ["ta"])
    with pytest.raises(FathomError, match=r"valid.eng"):
        encode(small_data(), copy, foreign, tmp_path / "out", silent)
    record_corpus(copy)
    with pytest.raises(FathomError, match="differ in their number of sentences"):
        encode(small_data(), copy, foreign, tmp_path / "out", silent)


def test_text_is_cut_line_by_line_and_never_held_in_memory(foreign):
    endless = repeat("lo ta")
    encoders = [Encoder.of(foreign, side) for side in sides(small_data())]
    cut = [encoder.pieces("bel", endless) for encoder in encoders]
    pairs = selected(cut, 100, "train", "here", {})
    assert len(list(islice(pairs, 1000))) == 1000


def test_a_pair_at_the_limit_is_kept_and_one_beyond_is_left_out():
    short, long = ["a"] * 3, ["a"] * 4
    counts = {}
    sides = [short, long, short], [short, short, long]
    assert list(selected(sides, 3, "train", "here", counts)) == [(short, short)]
    assert counts["left_out_long"] == 2
    # A long target of validation is kept, and a split without pairs is refused.
    assert list(selected(([["a"]], [long]), 3, "valid", "here", {})) == [(["a"], long)]
    with pytest.raises(FathomError, match="none of 0 pairs is left"):
        list(selected(([], []), 3, "test", "here", {}))


@pytest.fixture
def tokens(corpus, tmp_path):
    """A function that encodes one-to-many text with a place of the target language's token."""

    def run(place):
        data = small_data(direction="one_to_many", target_token=place)
        train(data, corpus, tmp_path / "subwords", silent)
        encode(data, corpus, tmp_path / "subwords", tmp_path / place, silent)
        return tmp_path / place

    return run


def test_a_token_of_the_decoder_changes_no_sentence(tokens, tensors):
    plain, own = tokens("none"), tokens("decoder")
    for path in plain.glob("*/*.*"):
        assert sha256(path) == sha256(own / path.relative_to(plain)), path
    text = load(own)
    assert text.starts == tuple(map(text.target_dictionary.index, text.tokens))
    assert text.before == ((), (), ())
    assert [pairs.start for pairs in text.splits("test")] == list(text.starts)
    # From one to many languages the sides are exchanged.
    exchanged = load(plain).split("kor", "test")
    assert exchanged.source(5).tolist() == tensors.split("kor", "test").target(5).tolist()


def test_a_token_of_the_source_comes_before_each_sentence_and_is_counted(tokens):
    plain, own = load(tokens("none")), load(tokens("source"))
    # Tokens end both dictionaries.
    added = ["__bos__", "__bel__", "__hangul__"]
    assert own.source_dictionary.symbols == [*plain.source_dictionary.symbols, *added]
    assert own.target_dictionary.symbols == [*plain.target_dictionary.symbols, *added]
    counts = read_json(own.folder / "tensors.json")["splits"]
    for task in TASKS:
        for split in SPLITS:
            one, other = plain.split(task, split), own.split(task, split)
            token = own.source_dictionary.index(f"__{LANGUAGES[task]}__")
            assert all(
                other.source(i).tolist() == [token, *one.source(i).tolist()]
                for i in range(len(one))
            )
            assert counts[task][split]["source_tokens"] == other.source_lengths.sum()
            assert other.targets.ids.tolist() == one.targets.ids.tolist()
    assert set(own.starts) == {EOS}
    assert own.before == (("__bos__",), ("__bel__",), ("__hangul__",))


# Files of ids


@pytest.mark.parametrize("entries", [100, 65_499, 65_500, 200_000])
def test_files_are_those_of_fairseqs_builder_in_every_byte(tmp_path, entries):
    rows = [[min(number, entries - 1) for number in row] for row in ROWS]
    with writing(tmp_path / "ours", entries) as add:
        for row in rows:
            add(row)
    written, theirs = files(tmp_path / "ours"), files(tmp_path / "theirs")
    builder = MMapIndexedDatasetBuilder(str(theirs[0]), dtype=best_fitting_int_dtype(entries))
    for row in rows:
        builder.add_item(torch.tensor(row))
    builder.finalize(str(theirs[1]))
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in theirs]
    with pytest.raises(OverflowError), writing(tmp_path / "text", 100) as add:
        add([5, -2])
    assert len(list(tmp_path.iterdir())) == 4

    ours, theirs = Sentences(tmp_path / "ours"), MMapIndexedDataset(str(tmp_path / "theirs"))
    assert [row.tolist() for row in ours] == [theirs[i].tolist() for i in range(len(theirs))]
    assert ours.lengths.tolist() == theirs.sizes.tolist()
    # All ids are one array, and each sentence is a part of it.
    assert ours.ids.tolist() == [number for row in rows for number in row]
    assert ours.starts.tolist() == [0, 2, 6, 7]
    assert ours[1].dtype == np.int64


# Reading


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("kor/train.target.bin", flip),
        ("bos/valid.source.idx", lambda path: os.truncate(path, 20)),
        ("bel/test.source.bin", os.unlink),
        ("dictionary.source.txt", lambda path: os.truncate(path, 0)),
        ("tensors.json", flip),
    ],
)
def test_tensors_that_are_not_those_that_were_encoded_are_refused(tensors, tmp_path, name, damage):
    folder = shutil.copytree(tensors.folder, tmp_path / "tensors" / "small-12345678")
    load(folder)
    damage(folder / name)
    with refused(where=folder / name, remedy="run `fathom encode small-12345678"):
        load(folder)
