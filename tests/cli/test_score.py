"""`fathom score`: hypotheses to scores."""

import pytest

from fathom.evaluation.score import read_scores
from tests.cli.small_project import RUN, TEST_SENTENCES


@pytest.fixture
def decoding(own, concluded):
    """The folder of a decoding that may be changed."""
    (folder,) = own(concluded).glob("results/small/runs/*/1/decodings/plain")
    return folder


def test_every_task_is_scored_in_every_metric_with_the_same_bytes(decoding, call):
    before = (decoding / "scores.tsv").read_bytes()
    answer = call("score", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert f"score: kor 13a 0.00 ({TEST_SENTENCES} sentences)" in answer.err
    assert (decoding / "scores.tsv").read_bytes() == before
    scores = read_scores(decoding / "scores.tsv")
    assert {each.task for each in scores} == {"bos", "kor"}
    assert {"13a", "intl", "char", "chrF"} <= {each.metric for each in scores}


def test_altered_hypotheses_are_refused_and_no_scores_are_left(decoding, call):
    with open(decoding / "bos.test.txt", "a", encoding="utf-8") as stream:
        stream.write("one more\n")
    assert "bos.test.txt" in call("score", RUN).one_line
    assert not (decoding / "scores.tsv").exists()


def test_what_is_not_translated_is_told(decoding, call):
    (decoding / "decoding.json").unlink()
    assert "decoding.json: no such file" in call("score", RUN).one_line


def test_gates_that_the_run_has_not_are_told(decoding, call):
    assert "not decoded with 'hard' gates" in call("score", RUN, "--gates", "hard").one_line
