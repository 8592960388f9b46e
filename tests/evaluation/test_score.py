"""From hypotheses to scores.tsv: every metric, once the counts, always the same bytes."""

import gzip

import numpy as np
import pytest
import sacrebleu

from fathom.errors import FathomError
from fathom.evaluation.score import COLUMNS, measure, read_scores, score
from fathom.io.files import read_json, read_lines, sha256, write_lines
from tests.evaluation.conftest import ENGLISH, OTHER


def scored(paths, run, gates="plain"):
    folder, lines = paths.decoding(run, 1, gates), []
    score(run, paths.corpus(run.data), folder, lines.append)
    return folder, read_scores(folder / "scores.tsv"), lines


def test_each_task_has_each_metric_with_signature_and_count(paths, decoded):
    _, scores, lines = scored(paths, decoded())
    assert [(each.task, each.metric) for each in scores] == [
        (task, metric) for task in ("bos", "kor") for metric in ("13a", "intl", "char", "chrF")
    ]
    assert {each.sentences for each in scores} == {"6"}
    assert all(each.signature.endswith("version:2.6.0") for each in scores)
    assert lines[0] == f"score: bos 13a {float(scores[0].value):.2f} (6 sentences)"


def test_a_korean_target_gets_ko_mecab_and_a_korean_source_does_not(paths, decoded):
    _, scores, _ = scored(paths, decoded("one_to_many"))
    by_task = {task: [each.metric for each in scores if each.task == task] for task in OTHER}
    assert by_task["kor"] == ["13a", "intl", "char", "ko-mecab", "chrF"]
    assert by_task["bos"] == ["13a", "intl", "char", "chrF"]
    (korean,) = (each for each in scores if each.metric == "ko-mecab")
    assert "tok:ko-mecab" in korean.signature


def test_the_compared_metric_alone_has_an_interval(paths, decoded):
    _, scores, _ = scored(paths, decoded(metric="chrF"))
    for each in scores:
        if each.metric == "chrF":
            assert float(each.low) <= float(each.value) <= float(each.high)
            assert float(each.stderr) > 0
        else:
            assert (each.low, each.high, each.stderr) == ("", "", "")


def test_scoring_twice_writes_the_same_bytes(paths, decoded):
    run = decoded("one_to_many")
    folder, _, _ = scored(paths, run)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {"scores.tsv", "scoring.json", "sentences.bos.tsv.gz"} <= set(before)
    # Bytes 4 to 7 of a gzip file are its time, and byte 3 says whether it has a name.
    assert before["sentences.bos.tsv.gz"][3:8] == bytes(5)
    scored(paths, run)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_counts_of_the_sentences_give_every_score_again(paths, decoded):
    run = decoded("one_to_many")
    folder, scores, _ = scored(paths, run)
    with gzip.open(folder / "sentences.kor.tsv.gz", "rt", encoding="utf-8", newline="") as stream:
        header, *rows = (line.split("\t") for line in stream.read().split("\n")[:-1])
    assert [row[0] for row in rows] == [str(number) for number in range(1, 7)]
    sums = np.array(rows, dtype=int).sum(axis=0)
    for each in (each for each in scores if each.task == "kor"):
        own = [
            sums[place] for place, name in enumerate(header) if name.startswith(f"{each.metric}.")
        ]
        peer = sacrebleu.CHRF() if each.metric == "chrF" else sacrebleu.BLEU(tokenize=each.metric)
        again = peer._compute_score_from_stats([int(count) for count in own]).score
        assert f"{again:.6f}" == each.value


def test_scores_know_code_settings_and_what_was_scored(paths, decoded):
    folder, _, _ = scored(paths, decoded(samples=150))
    said = read_json(folder / "scoring.json")
    assert said["interval"] == {"metric": "13a", "samples": 150, "seed": 12345}
    assert said["decoding_sha256"] == sha256(folder / "decoding.json")
    assert said["sentences"]["sentences.kor.tsv.gz"] == sha256(folder / "sentences.kor.tsv.gz")
    assert "fathom.evaluation.bootstrap" in said["code"]["modules"]
    assert said["versions"]["sacrebleu"] == "2.6.0"


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_that_did_not_finish_gives_a_table_without_lines(paths, decoded, kind):
    run = decoded(kind=kind)
    folder, scores, _ = scored(paths, run)
    assert scores == []
    assert read_lines(folder / "scores.tsv") == ["\t".join(COLUMNS)]


def test_a_task_without_a_layer_has_no_score(paths, decoded):
    run = decoded(gates=("soft", "hard"), without=("kor",))
    assert {each.task for each in scored(paths, run, "soft")[1]} == {"bos", "kor"}
    assert {each.task for each in scored(paths, run, "hard")[1]} == {"bos"}


def test_scores_of_an_earlier_decoding_do_not_outlive_it(paths, decoded):
    folder, _, _ = scored(paths, decoded())
    run = decoded(kind="diverged")
    scored(paths, run)
    assert not list(folder.glob("sentences.*"))


def test_altered_hypotheses_are_refused_and_leave_no_scores(paths, decoded):
    run = decoded()
    folder, _, _ = scored(paths, run)
    write_lines(folder / "bos.test.txt", ["another"] * 6)
    with pytest.raises(FathomError, match="not those that were decoded"):
        scored(paths, run)
    assert not (folder / "scores.tsv").exists()


def test_missing_hypotheses_are_refused(paths, decoded):
    run = decoded()
    (paths.decoding(run, 1, "plain") / "kor.test.txt").unlink()
    with pytest.raises(FathomError, match=r"kor\.test\.txt.*translate again"):
        scored(paths, run)


def test_a_run_that_was_not_translated_is_one_clear_error(paths, decoded):
    run = decoded()
    (paths.decoding(run, 1, "plain") / "decoding.json").unlink()
    with pytest.raises(FathomError, match="no such file"):
        scored(paths, run)


def test_an_unknown_metric_gets_the_nearest_name(paths, decoded):
    with pytest.raises(FathomError, match="nearest valid name: 'chrF'"):
        scored(paths, decoded(metric="chrf"))


@pytest.mark.parametrize(("hypotheses", "references"), [(ENGLISH[1:], ENGLISH), ([], [])])
def test_every_reference_needs_one_hypothesis(hypotheses, references):
    with pytest.raises(FathomError, match=r"bos: \d hypotheses for \d references"):
        measure(hypotheses, references, "eng", "bos")


def test_a_table_of_other_columns_is_refused(tmp_path):
    write_lines(tmp_path / "scores.tsv", ["task\tvalue"])
    with pytest.raises(FathomError, match="other columns"):
        read_scores(tmp_path / "scores.tsv")
    with pytest.raises(FathomError, match="no such file"):
        read_scores(tmp_path / "absent.tsv")
