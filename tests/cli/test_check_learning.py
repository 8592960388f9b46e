"""`fathom check-learning`: whether the run that a scale names has learnt."""

import json
from pathlib import Path

import pytest

from fathom.io.integrity import read_record, write_record
from tests.support.refused import prose, says
from tests.support.small_project import RUN

DIVERGED = {
    "outcome": {"kind": "diverged", "update": 3, "reason": "the loss is not finite"},
    "validation": None,
}


@pytest.fixture
def record(own, trained):
    """The training.json of the scale's run, which may be changed."""
    (path,) = own(trained).glob(f"results/runs/sample/{RUN}-*/1/training.json")
    return path


def put_below(path, nats):
    """Put the validation NLL so far below the baseline."""
    content = read_record(path)
    content["validation"]["nll"] = content["unigram_nll"] - nats
    write_record(path, content)


@pytest.mark.slow
def test_a_run_far_below_the_baseline_has_learnt(record, call):
    put_below(record, 0.92)
    answer = call("check-learning")
    assert answer.code == 0
    says("below the baseline", "0.92", where=f"sample/{RUN}").check(answer.out)
    assert answer.out.endswith(f"({prose('required', 0.7)}): OK\n")


@pytest.mark.slow
def test_the_answer_is_json_too(record, call):
    put_below(record, 0.92)
    answer = json.loads(call("check-learning", "--json").out)
    assert answer["nats_below_unigram"] == pytest.approx(0.92)
    assert answer["learnt"] is True


def test_a_run_that_is_not_far_enough_below_ends_in_1(record, call):
    put_below(record, 0.5)
    line = call("check-learning").one_line
    says("below the baseline", "0.50").check(line)
    says("required", 0.7).check(line)
    assert str(record.name) in line


def test_json_is_printed_where_the_run_has_not_learnt_too(record, call):
    put_below(record, 0.5)
    answer = call("check-learning", "--json")
    content = json.loads(answer.out)
    assert (answer.code, content["learnt"], content["required"]) == (1, False, 0.7)
    says("below the baseline", "0.50").check(answer.err)
    write_record(record, read_record(record) | DIVERGED)
    answer = call("check-learning", "--json")
    content = json.loads(answer.out)
    assert (answer.code, content["outcome"], content["nats_below_unigram"]) == (1, "diverged", None)


def test_a_run_without_a_result_names_its_outcome(record, call):
    write_record(record, read_record(record) | DIVERGED)
    outcome = prose("outcome", "diverged", "the loss is not finite")
    says("at update", outcome, 3).check(call("check-learning").one_line)


def test_a_run_that_was_not_trained_is_named(record, call):
    record.unlink()
    says("no such file", where="training.json").check(call("check-learning").one_line)


def test_a_folder_of_results_that_is_not_there_is_named(record, call):
    message = says("no folder of it", Path("resutls").resolve(), where="training.json")
    message.check(call("check-learning", "--results", "resutls").one_line)


def test_a_scale_may_name_no_run(record, call):
    path = record.parents[5] / "config" / "scales" / "small.yaml"
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if not line.startswith("check_learning")]
    path.write_text("\n".join(lines), encoding="utf-8")
    answer = call("check-learning")
    assert (answer.code, answer.out) == (0, prose("no run to check", "small") + "\n")
