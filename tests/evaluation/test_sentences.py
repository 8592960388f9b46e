"""The counts of sentences: read again as they were written, or refused."""

import gzip

import numpy as np
import pytest

from fathom.evaluation import sentences
from fathom.evaluation.score import measure, score
from fathom.io.files import read_json, sha256, write_json
from tests.evaluation.conftest import ENGLISH, OTHER
from tests.support.refused import prose, refused


@pytest.fixture
def folder(paths, decoded):
    """The folder of a decoding that was scored."""
    spec = decoded()
    score(spec, 1, "test", "plain", paths, lambda line: None)
    return paths.decoding(spec, 1, "test", "plain")


def test_what_was_counted_is_read_again(folder):
    hypotheses = (folder / "bos.txt").read_text("utf-8").splitlines()
    back = sentences.read(folder, "bos")
    for metric in measure(hypotheses, ENGLISH, "eng", "bos"):
        read = back.statistics(metric.metric)
        assert np.array_equal(read.counts, metric.counts)
        assert (read.value, read.signature) == (metric.value, metric.signature)


def test_equal_references_have_equal_counts_whatever_was_translated(folder):
    bos, kor = (sentences.read(folder, task) for task in OTHER)
    assert np.array_equal(bos.references, kor.references)
    assert bos.references.shape == (6, 6)
    assert not np.array_equal(bos.references[:-1], bos.references[1:])


def test_one_sentence_is_a_table_too(tmp_path):
    path = sentences.path_of(tmp_path, "bos")
    sentences.write(path, measure(["a b c"], ["a b d"], "eng", "bos"))
    write_json(tmp_path / "scoring.json", {"sentences": {path.name: sha256(path)}})
    assert sentences.read(tmp_path, "bos").counts.shape[0] == 1


def test_a_decoding_without_counts_has_none(folder):
    assert sentences.read(folder, "deu") is None


def test_counts_that_scoring_did_not_write_are_refused(folder):
    path = sentences.path_of(folder, "bos")
    lines = gzip.decompress(path.read_bytes()).replace(b"\t1\t", b"\t2\t", 1)
    path.write_bytes(gzip.compress(lines))
    with refused("not what scoring wrote", where=path.name, remedy=prose("score again")):
        sentences.read(folder, "bos")


def test_counts_that_no_scoring_names_are_refused(folder):
    write_json(folder / "scoring.json", read_json(folder / "scoring.json") | {"sentences": {}})
    with refused("not what scoring wrote"):
        sentences.read(folder, "kor")
