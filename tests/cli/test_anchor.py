"""`fathom anchor`: whether the scale's anchor run has learnt."""

import pytest

from fathom.provenance import manifest as records
from tests.cli.small_project import RUN


@pytest.fixture
def conclude(own, concluded):
    """A function that writes the anchor's manifest with other parts, and returns its place."""
    (path,) = own(concluded).glob("results/small/runs/*/1/manifest.json")
    whole = records.read(path)

    def write(nll, kind="finished"):
        validation = {"nll": nll, "unigram_nll": 6.0, "by_task": {}}
        outcome = whole["outcome"] | {"kind": kind, "update": 3, "reason": "the loss exploded"}
        records.write(path, whole | {"validation": validation, "outcome": outcome})
        return path

    return write


def test_a_run_far_under_the_yardstick_has_learnt(conclude, call):
    conclude(5.0)
    answer = call("anchor", "--scale", "small")
    assert (answer.code, answer.err) == (0, "")
    said = f"{RUN} ends 1.00 nats a token under the unigram yardstick (0.7 are wanted)"
    assert answer.out == f"{said}: the network has learnt\n"


@pytest.mark.parametrize(("nll", "under"), [(5.5, "0.50"), (7.0, "-1.00")])
def test_a_run_that_has_learnt_too_little_fails_the_scale(conclude, call, nll, under):
    path = conclude(nll)
    line = call("anchor").one_line
    assert f"{path}: {RUN} ends {under} nats a token under the unigram yardstick, not 0.7" in line
    assert "metrics.tsv" in line


@pytest.mark.parametrize(
    ("kind", "nll", "said"),
    [
        ("diverged", None, "diverged at update 3 (the loss exploded)"),
        ("diverged", 5.0, "diverged at update 3 (the loss exploded)"),
        ("failed_to_train", 6.1, "failed to train at update 3"),
    ],
)
def test_a_run_without_a_result_fails_the_scale_in_one_line(conclude, call, kind, nll, said):
    conclude(nll, kind)
    line = call("anchor").one_line
    assert f"{RUN} {said}" in line
    assert "train.log" in line


def test_a_run_that_is_missing_is_told(conclude, call):
    conclude(5.0).unlink()
    assert "manifest.json: no such file" in call("anchor").one_line
    assert "/2/manifest.json: no such file" in call("anchor", "--seed", "2").one_line


def test_a_scale_without_an_anchor_passes(project, call):
    answer = call("anchor", "--scale", "paper")
    assert (answer.code, answer.out) == (0, "scale paper has no anchor run\n")
