"""`fathom export`, `status`: what is made of a trained run, and what it came to."""

import json
import sys

import pytest
import torch

from fathom.io.records import read_record, write_record
from tests.support.small_project import GATED, RUN
from tests.support.trained import put_checkpoint

# Which decoder layers the two tasks keep.
ACTIVE = {"bos": [0, 1], "kor": [1]}


@pytest.fixture(scope="session")
def gated(encoded, after):
    """A project with a trained run, whose gates are then set by hand."""
    folder = after(encoded, ("train", GATED))
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    alpha = checkpoint["model"]["decoder.method.alpha"].fill_(-5.0)
    for row, layers in zip(alpha, ACTIVE.values(), strict=True):
        row[layers] = 5.0
    put_checkpoint(path, checkpoint)
    return folder


@pytest.mark.parametrize("program", ["fairseq", "ctranslate2", "transformers"])
def test_a_run_is_written_for_a_program(trained, own, call, program):
    pytest.importorskip(program, reason=f"run `make {program}`")
    folder = own(trained)
    answer = call("export", RUN, "new", "--format", program)
    assert (answer.code, answer.out) == (0, "")
    assert f"{program}: new" in answer.err
    assert read_record(folder / "new" / "export.json")["program"] == program
    card = (folder / "new" / "README.md").read_text(encoding="utf-8")
    assert f"# sample/{RUN}, seed 1" in card
    assert f"library_name: {program}\n" in card


def test_the_layers_of_a_task_are_written_without_gates(gated, own, call):
    folder = own(gated)
    for task, layers in ACTIVE.items():
        answer = call("export", GATED, task, "--format", "fairseq", "--task", task)
        assert (answer.code, answer.out) == (0, "")
        record = read_record(folder / task / "export.json")
        assert (record["gates"], record["active"]["decoder"]) == ("hard", layers)
        kept = f"2 of 2 encoder and {len(layers)} of 2 decoder layers"
        assert f"fairseq: {task}: {kept}" in answer.err


def test_a_method_that_computes_more_is_refused_before_torch_is_loaded(
    project, edit, call, monkeypatch
):
    edit("papers/sample/runs.yaml", "method: static", "method: dlcl")
    monkeypatch.setitem(sys.modules, "torch", None)
    line = call("export", RUN, "new", "--format", "fairseq").one_line
    assert f"{RUN}: " in line
    assert "dlcl" in line


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
def test_status_counts_what_learned_and_says_the_time_that_it_took(record, call):
    put_below(record, 0.92)
    answer = call("status")
    *_, learned, time = answer.lines
    assert learned == "1 of 1 trainings learned: 0.9 nats per token below the unigram baseline."
    assert time.startswith("time: 1 trainings took ")
    following = "next: snakemake all --config scale=small, or your text: fathom adopt\n"
    assert answer.err == f"nothing is drawn in results/small yet\n{following}"
    ended = json.loads(call("status", "--json").out)["ended"][f"sample/{RUN} seed 1"]
    assert (ended["outcome"], round(ended["nats_below_unigram"], 6)) == ("finished", 0.92)
    assert ended["seconds"] > 0


def test_where_nothing_has_ended_status_says_what_is_missing_alone(project, call):
    answer = call("status")
    assert (answer.code, len(answer.lines)) == (0, 2)
    assert "learned" not in answer.out


def test_status_says_what_finished_here_and_not_in_the_paper(gated, own, call):
    own(gated)
    assert call("table", "sample_table1", "--partial").code == 0
    line = "sample_table1: Gated finished here, and diverged in the paper."
    assert line in call("status").lines


def test_a_run_that_has_not_learned_ends_in_1_with_the_reason(record, call):
    put_below(record, 0.5)
    answer = call("status")
    assert answer.code == 1
    assert "0.50 nats below the unigram baseline (>= 0.7 required)" in answer.err
    assert record.name in answer.err
    write_record(record, read_record(record) | DIVERGED)
    content = json.loads(call("status", "--json").out)["ended"]
    assert {name: each["outcome"] for name, each in content.items()} == {
        f"sample/{RUN} seed 1": "diverged"
    }
    assert "diverged (the loss is not finite) at update 3" in call("status").out
