"""Dictionaries of text that comes in pieces, compared with those of `fairseq-preprocess`."""

import pytest
from fairseq.data import Dictionary

from fathom.data.subwords.encode import Encoder
from fathom.data.subwords.sides import sides
from fathom.data.subwords.train import train
from fathom.io.files import write_lines
from fathom.io.integrity import read_record
from tests.support.refused import refused
from tests.support.small_corpus import record_corpus, silent, small_data

MARKED = {"tasks": [["kor", "kor"]], "pivot": "eng", "pieces": "marked"}
TRAIN = {
    "kor": ["a@@ b c", "a@@ b a@@ d", "a@@ ž"],
    "eng": ["c d", "a@@ d x@@ y", "c"],
}


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    for language, lines in TRAIN.items():
        write_lines(folder / "kor" / f"train.{language}", lines)
        write_lines(folder / "kor" / f"valid.{language}", ["c a@@ d", "x@@ c c c c c"])
    record_corpus(folder)
    return folder


def by_fairseq(path, lines, threshold):
    """Write what `fairseq-preprocess` makes of some lines."""
    dictionary = Dictionary()
    for line in lines:
        dictionary.encode_line(line, append_eos=False)
    dictionary.finalize(threshold=threshold)
    dictionary.save(str(path))
    return path.read_bytes()


@pytest.mark.parametrize("threshold", [None, 2])
def test_a_joint_dictionary_is_fairseqs_of_both_sides(corpus, tmp_path, threshold):
    keys = {"algorithm": "published", "dictionary": "joint", "threshold": threshold}
    train(small_data(MARKED, **keys), corpus, tmp_path / "out", silent)
    expected = by_fairseq(tmp_path / "d.txt", TRAIN["kor"] + TRAIN["eng"], threshold or 1)
    for side in ("source", "target"):
        assert (tmp_path / "out" / f"dictionary.{side}.txt").read_bytes() == expected


def test_else_each_side_has_its_own(corpus, tmp_path):
    train(small_data(MARKED, algorithm="published"), corpus, tmp_path / "out", silent)
    for side, language in (("source", "kor"), ("target", "eng")):
        expected = by_fairseq(tmp_path / "d.txt", TRAIN[language], 1)
        assert (tmp_path / "out" / f"dictionary.{side}.txt").read_bytes() == expected


def test_the_record_says_what_is_counted_and_what_is_unknown(corpus, tmp_path):
    data = small_data(MARKED, algorithm="published", dictionary="joint", threshold=2)
    train(data, corpus, tmp_path / "out", silent)
    record = read_record(tmp_path / "out" / "subwords.json")
    assert (record["algorithm"], record["threshold"], record["multiple"]) == ("published", 2, 8)
    assert (record["models"], record["dictionaries"]) == ({}, {"source": 4, "target": 4})
    # x@@ of nine pieces.
    assert record["unknown_rates"]["target"] == {"kor": pytest.approx(1 / 9)}
    assert set(record["files"]) == {"dictionary.source.txt", "dictionary.target.txt"}


def test_no_model_cuts_the_text(corpus, tmp_path):
    data = small_data(MARKED, algorithm="published")
    train(data, corpus, tmp_path / "out", silent)
    encoder = Encoder(tmp_path / "out", sides(data)[0])
    assert list(encoder.pieces("kor", ["a@@ b  c", " "])) == [["a@@", "b", "c"], []]


def test_a_symbol_of_fairseqs_is_no_piece(corpus, tmp_path):
    write_lines(corpus / "kor" / "train.eng", ["c <unk>", "c", "c"])
    record_corpus(corpus)
    with refused("symbol as piece", "<unk>"):
        train(small_data(MARKED, algorithm="published"), corpus, tmp_path / "out", silent)
    assert not (tmp_path / "out" / "subwords.json").exists()
