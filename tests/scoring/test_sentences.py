"""The counts of sentences: read again as they were written, or refused."""

import gzip

import numpy as np
import pytest

from fathom.io.integrity import hashes, write_record
from fathom.scoring import bleu, chrf, sentences
from tests.evaluation.conftest import ENGLISH
from tests.support.refused import refused

HYPOTHESES = {"bos": [line[3:] for line in ENGLISH], "kor": [line[:-4] for line in ENGLISH]}


def count(hypotheses, references):
    return [
        *(bleu.statistics(hypotheses, references, variant) for variant in ("13a", "char")),
        chrf.statistics(hypotheses, references),
    ]


def write(folder, task, hypotheses, references):
    """Write the counts of a task as scoring does."""
    path = sentences.path_of(folder, task)
    sentences.write(path, count(hypotheses, references))
    write_record(folder / "scoring.json", {"files": hashes(folder, "*.gz")})
    return path


@pytest.fixture
def folder(tmp_path):
    """The folder of a decoding that was scored."""
    folder = tmp_path / "runs/paper/small-12345678/1/decodings/test.plain-87654321"
    for task, hypotheses in HYPOTHESES.items():
        write(folder, task, hypotheses, ENGLISH)
    return folder


def test_what_was_counted_is_read_again(folder):
    back = sentences.read(folder, "bos")
    for metric in count(HYPOTHESES["bos"], ENGLISH):
        read = back.statistics(metric.metric)
        assert np.array_equal(read.counts, metric.counts)
        assert (read.value, read.signature) == (metric.value, metric.signature)


def test_equal_references_have_equal_counts_whatever_was_translated(folder):
    bos, kor = (sentences.read(folder, task) for task in HYPOTHESES)
    assert np.array_equal(bos.references, kor.references)
    assert not np.array_equal(bos.counts, kor.counts)
    assert bos.references.shape == (6, 6)
    assert not np.array_equal(bos.references[:-1], bos.references[1:])


def test_one_sentence_is_a_table_too(tmp_path):
    write(tmp_path, "bos", ["a b c"], ["a b d"])
    assert sentences.read(tmp_path, "bos").counts.shape[0] == 1


def test_a_decoding_without_counts_has_none(folder):
    assert sentences.read(folder, "deu") is None


def test_counts_that_scoring_did_not_write_are_refused(folder):
    path = sentences.path_of(folder, "bos")
    lines = gzip.decompress(path.read_bytes()).replace(b"\t1\t", b"\t2\t", 1)
    path.write_bytes(gzip.compress(lines))
    with refused("changed file", where=path.name, remedy="fathom score paper/small-12345678"):
        sentences.read(folder, "bos")


def test_counts_that_no_scoring_names_are_refused(folder):
    write_record(folder / "scoring.json", {"files": {}})
    with refused("not recorded", "scoring.json"):
        sentences.read(folder, "kor")
