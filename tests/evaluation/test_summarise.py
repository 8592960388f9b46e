"""The manifest that a run ends with, and what is refused instead of being written."""

from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import yaml

from fathom.errors import FathomError
from fathom.evaluation.score import score
from fathom.evaluation.summarise import conclude
from fathom.io.files import read_json, sha256, write_json
from fathom.provenance import manifest
from tests.evaluation.small_run import CODE, attempt, training

SCHEMA = Path(__file__).parents[2] / "workflow" / "schemas" / "manifest.schema.yaml"
BOTH = ("soft", "hard")


def silent(line):
    """Take a line and say nothing."""


@pytest.fixture
def concluded(paths, decoded):
    """Return a function that scores and concludes a run, and gives it with its manifest."""

    def finish(gates=("plain",), **differences):
        run = decoded(gates=gates, **differences)
        for each in gates:
            score(run, paths.corpus(run.data), paths.decoding(run, 1, each), silent)
        conclude(run, 1, gates, paths, silent)
        found = manifest.read(paths.manifest(run, 1))
        schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(found)
        return run, found

    return finish


def test_a_finished_run_has_its_scores_and_which_is_compared(concluded):
    run, found = concluded(BOTH, direction="one_to_many")
    assert (found["run"], found["identity"], found["seed"]) == (run.run, run.identity, 1)
    assert found["compared"] == {"gates": "soft", "metric": "13a"}
    assert set(found["scores"]) == {"soft", "hard"}
    korean = found["scores"]["hard"]["kor"]
    assert korean["sentences"] == 6
    assert set(korean["metrics"]) == {"13a", "intl", "char", "chrF", "ko-mecab"}
    assert korean["metrics"]["13a"]["low"] <= korean["metrics"]["13a"]["high"]
    assert "low" not in korean["metrics"]["chrF"]


def test_the_outcome_stands_beside_what_may_explain_it(concluded):
    _, found = concluded()
    assert found["outcome"] == {
        "kind": "finished",
        "update": 5,
        "reason": "it has finished",
        "schedule": {"name": "inverse_sqrt", "learning_rate": 0.005, "warmup": 2},
        "clip": 1.0,
        "norm": "pre",
        "precision": "fp32",
    }
    assert found["validation"]["unigram_nll"] == 6.06
    assert found["validation"]["nll"] == 4.5


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_run_that_did_not_finish_has_a_manifest_without_scores(concluded, kind):
    _, found = concluded(BOTH, kind=kind)
    assert found["outcome"]["kind"] == kind
    assert found["outcome"]["reason"] == f"it has {kind}"
    assert found["scores"] == {"soft": {}, "hard": {}}
    assert found["validation"] == {"nll": None, "by_task": {}, "unigram_nll": 6.06}


def test_a_task_without_a_layer_is_named(concluded):
    _, found = concluded(BOTH, without=("kor",))
    assert found["no_layer"] == {"soft": [], "hard": ["kor"]}
    assert set(found["scores"]["hard"]) == {"bos"}


def test_each_stage_keeps_its_own_code(concluded, paths):
    run, found = concluded()
    folder = paths.decoding(run, 1, "plain")
    assert found["code"]["training"] == CODE
    assert found["code"]["decoding"] == read_json(folder / "decoding.json")["code"]
    assert found["code"]["scoring"] == read_json(folder / "scoring.json")["code"]
    assert found["code"]["scoring"]["hash"] != CODE["hash"]
    assert found["versions"]["torch"] == "2.13.0"
    assert found["versions"]["sacrebleu"] == "2.6.0"


def test_files_are_named_with_size_and_hash(concluded, paths):
    run, found = concluded()
    named = {each["path"]: each for each in found["files"]}
    assert set(named) == {
        "spec.yaml",
        "metrics.tsv",
        "training.json",
        "decodings/plain/decoding.json",
        "decodings/plain/scoring.json",
        "decodings/plain/scores.tsv",
    }
    for path, each in named.items():
        file = paths.run(run, 1) / path
        assert (each["bytes"], each["sha256"]) == (file.stat().st_size, sha256(file))


def test_concluding_twice_writes_the_same_bytes(concluded, paths):
    run, _ = concluded()
    before = paths.manifest(run, 1).read_bytes()
    conclude(run, 1, ("plain",), paths, silent)
    assert paths.manifest(run, 1).read_bytes() == before


def test_many_attempts_are_counted(concluded, paths):
    run, _ = concluded()
    path = paths.training(run, 1)
    write_json(path, read_json(path) | {"attempts": [attempt(number) for number in range(300)]})
    conclude(run, 1, ("plain",), paths, silent)
    found = manifest.read(paths.manifest(run, 1))
    assert found["attempts_in_all"] == 300
    assert found["attempts"][-1]["pid"] == 1299
    assert paths.manifest(run, 1).stat().st_size < 20_000


def refused(paths, run, message, gates=("plain",)):
    paths.manifest(run, 1).unlink()
    with pytest.raises(FathomError, match=message):
        conclude(run, 1, gates, paths, silent)
    assert not paths.manifest(run, 1).exists()


def test_a_decoding_that_contradicts_the_training_is_refused(concluded, paths):
    run, _ = concluded()
    write_json(paths.training(run, 1), training("diverged"))
    refused(paths, run, "'decoded' where the training gives 'diverged'; translate again")


def test_a_decoding_made_with_other_settings_is_refused(concluded, paths):
    run, _ = concluded()
    evaluation = run.evaluation
    wider = replace(evaluation, decoding=replace(evaluation.decoding, beam=9))
    refused(paths, replace(run, evaluation=wider), "decoded with other settings")


def test_scores_made_with_other_settings_are_refused(concluded, paths):
    run, _ = concluded()
    evaluation = run.evaluation
    other = replace(evaluation, scoring=replace(evaluation.scoring, compared_metric="chrF"))
    refused(paths, replace(run, evaluation=other), "scored with other settings")


def test_scores_of_an_earlier_decoding_are_refused(concluded, paths):
    run, _ = concluded()
    path = paths.decoding(run, 1, "plain") / "decoding.json"
    write_json(path, read_json(path) | {"versions": {"torch": "2.14.0"}})
    refused(paths, run, "scored before it was decoded anew")


def test_a_task_without_score_and_without_reason_is_refused(concluded, paths):
    run, _ = concluded()
    path = paths.decoding(run, 1, "plain") / "scores.tsv"
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join(line for line in lines if "kor" not in line), encoding="utf-8")
    refused(paths, run, "no score of kor")


@pytest.mark.parametrize(
    "missing", ["training.json", "decodings/plain/decoding.json", "decodings/plain/scoring.json"]
)
def test_a_missing_stage_is_one_clear_error(concluded, paths, missing):
    run, _ = concluded()
    (paths.run(run, 1) / missing).unlink()
    refused(paths, run, "no such file")


def test_a_training_that_says_too_little_is_refused(concluded, paths):
    run, _ = concluded()
    value = training()
    del value["code"], value["totals"]
    write_json(paths.training(run, 1), value)
    refused(paths, run, "nothing is said of code, totals; train again")
