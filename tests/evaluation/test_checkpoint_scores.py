"""Scores by checkpoint and task: those of sacreBLEU, against the run's own references."""

import pytest
from sacrebleu import corpus_bleu, corpus_chrf

from fathom.io.files import write_lines
from fathom.scoring.checkpoint_scores import CheckpointScores, means
from fathom.scoring.right_language import check
from fathom.scoring.score import score
from tests.evaluation.conftest import ENGLISH, OTHER
from tests.support import run_files
from tests.support.refused import refused
from tests.support.small_corpus import record_corpus

SPLITS = ("test",)
INTO_ENGLISH = dict.fromkeys(OTHER, ENGLISH)


def silent(line):
    """Take a line and print nothing."""


@pytest.fixture
def hypotheses(tmp_path):
    """Return files of three checkpoints, each with one line more that is the reference."""

    def write(right=INTO_ENGLISH):
        files = {}
        for update in (20, 100, 3):
            files[update] = {}
            for number, (task, lines) in enumerate(right.items()):
                wrong = [
                    f"{line} no" if i > update % 7 + number else line
                    for i, line in enumerate(lines)
                ]
                files[update][task] = tmp_path / "window" / f"{task}.test.{update}.txt"
                write_lines(files[update][task], wrong)
        return files

    return write


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.parametrize("metric", ["13a", "intl", "char", "none", "chrF"])
def test_the_score_of_each_file_is_sacrebleus(decoded, paths, hypotheses, metric):
    run, files = decoded(), hypotheses()
    scores = CheckpointScores(run, paths.corpus(run.data), SPLITS).of("test", files)[metric]
    assert list(scores) == [20, 100, 3]
    for update, tasks in scores.items():
        assert list(tasks) == ["bos", "kor"]
        for task, value in tasks.items():
            texts = [lines(files[update][task]), [ENGLISH]]
            expected = (
                corpus_chrf(*texts) if metric == "chrF" else corpus_bleu(*texts, tokenize=metric)
            )
            assert value == round(expected.score, 6)
    assert len({value for tasks in scores.values() for value in tasks.values()}) > 3


def test_a_task_is_scored_against_its_own_language(decoded, paths, hypotheses):
    run = decoded("one_to_many")
    scores = CheckpointScores(run, paths.corpus(run.data), SPLITS)
    found = scores.of("test", hypotheses(OTHER))["char"]
    assert all(value > 80 for tasks in found.values() for value in tasks.values())


def test_a_metric_that_only_some_tasks_have_is_left_out(decoded, paths):
    run = decoded("one_to_many")
    signatures = CheckpointScores(run, paths.corpus(run.data), SPLITS).signatures
    assert list(signatures) == ["13a", "intl", "char", "none", "chrF"]


def test_number_and_signature_are_those_of_a_decoding_s_score(decoded, paths):
    run = decoded()
    score(run, 1, "test", "plain", paths, silent)
    folder = paths.decoding(run, 1, "test", "plain")
    expected = {
        line.task: line for line in run_files.scores(folder / "scores.tsv") if line.metric == "13a"
    }
    scores = CheckpointScores(run, paths.corpus(run.data), SPLITS)
    files = {5: {task: folder / f"{task}.txt" for task in OTHER}}
    assert scores.of("test", files)["13a"][5] == {
        task: float(line.value) for task, line in expected.items()
    }
    assert {line.signature for line in expected.values()} == {scores.signatures["13a"]}


def test_the_mean_gives_each_task_the_same_weight():
    assert means({7: {"bos": 10.0, "kor": 20.5}, 9: {"bos": 1.0}}) == {7: 15.25, 9: 1.0}
    # As it is written, so that equal means are a tie.
    assert means({1: {"a": 0.1, "b": 0.2, "c": 0.3}}) == means({1: {"a": 0.2}})


def test_a_corpus_without_the_split_or_its_lines_is_refused(decoded, paths):
    run = decoded()
    corpus = paths.corpus(run.data)
    (corpus / "bos" / "valid.eng").unlink()
    with refused("no such file", where="valid.eng"):
        CheckpointScores(run, corpus, ("valid", "test"))
    decoded()
    write_lines(corpus / "kor" / "test.eng", [])
    with refused("changed file", where="test.eng"):
        CheckpointScores(run, corpus, SPLITS)
    record_corpus(corpus)
    with refused("no references", where="kor, test"):
        CheckpointScores(run, corpus, SPLITS)


def test_hypotheses_that_do_not_answer_the_references_are_refused(decoded, paths, hypotheses):
    run, files = decoded(), hypotheses()
    scores = CheckpointScores(run, paths.corpus(run.data), SPLITS)
    write_lines(files[3]["kor"], ENGLISH[:4])
    with refused("hypotheses", 4, 6, where="kor.test.3.txt"):
        scores.of("test", files)


def test_the_doubts_are_those_of_each_updates_decoding(decoded, paths, hypotheses):
    run = decoded("one_to_many")
    scores = CheckpointScores(run, paths.corpus(run.data), SPLITS)
    files = hypotheses(OTHER)
    for path in files[100].values():
        write_lines(path, ENGLISH)
    doubts = scores.doubts("test", files)
    assert (doubts[20], doubts[3]) == ("", "")
    texts = dict.fromkeys(OTHER, ENGLISH)
    assert doubts[100] == check(run.data, paths.corpus(run.data), "test", texts).doubt != ""
    other = decoded()
    none = CheckpointScores(other, paths.corpus(other.data), SPLITS)
    assert none.doubts("test", files) == {}


def test_a_run_that_asks_for_moses_tokens_has_their_scores_of_each_checkpoint(
    paths, decoded, hypotheses
):
    spec = decoded(tokenizers=("moses",))
    scores = CheckpointScores(spec, paths.corpus(spec.data), SPLITS)
    assert "tok:moses-sacremoses-" in scores.signatures["moses"]
    made = scores.of("test", hypotheses())
    assert {*made["moses"]} == {20, 100, 3}
    assert all(0 < score < 100 for score in made["moses"][3].values())
