"""`fathom score`: hypotheses to scores."""

import pytest

from tests.support import run_files
from tests.support.refused import says
from tests.support.small_project import RUN, TEST_SENTENCES


@pytest.fixture
def decoding(own, summarised):
    """The folder of a decoding that may be changed."""
    (folder,) = own(summarised).glob("results/runs/*/*/1/decodings/test.plain-*")
    return folder


def test_every_task_is_scored_in_every_metric_with_the_same_bytes(decoding, call):
    (measured,) = decoding.parents[1].glob("measurements/scores.test.plain-*.json")
    before = {path: path.read_bytes() for path in (decoding / "scores.tsv", measured)}
    answer = call("score", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.count(f"({TEST_SENTENCES} sentences)") == 2
    assert {path: path.read_bytes() for path in before} == before
    scores = run_files.scores(decoding / "scores.tsv")
    assert {line.task for line in scores} == {"bos", "kor"}
    assert {"13a", "intl", "char", "none", "chrF"} == {line.metric for line in scores}


def test_altered_hypotheses_are_refused_and_no_scores_are_left(decoding, call):
    with open(decoding / "bos.txt", "a", encoding="utf-8") as stream:
        stream.write("one more\n")
    assert "bos.txt" in call("score", RUN).one_line
    assert not (decoding / "scores.tsv").exists()


def test_what_is_not_translated_is_named(decoding, call):
    (decoding / "decoding.json").unlink()
    command = f"`fathom translate sample/{RUN} --scale small --seed 1`"
    line = call("score", RUN).one_line
    says("no such file", where="decoding.json", remedy=command).check(line)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--gates", "hard"), says("unknown", "gates", "hard")),
        (("--split", "vaild"), says(nearest="valid")),
        (("--split", "valid"), says("no such file", where="decoding.json")),
    ],
)
def test_what_the_run_has_not_is_refused(decoding, call, words, message):
    message.check(call("score", RUN, *words).one_line)
