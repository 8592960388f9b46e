"""`fathom check-learning`: whether the run that a scale names has learnt."""

import pytest

from fathom.io.files import read_json, write_json
from tests.support.small_project import RUN


@pytest.fixture
def manifest(own, summarised):
    """The manifest of the scale's run, which may be changed."""
    (path,) = own(summarised).glob(f"results/runs/sample/{RUN}-*/1/manifest.json")
    return path


def put_below(path, nats):
    """Put the validation NLL so far below the baseline."""
    content = read_json(path)
    baseline = content["measurements"]["unigram_nll"]["all"]["value"]
    content["measurements"]["last_validation"]["all"]["value"] = baseline - nats
    write_json(path, content)


def test_a_run_far_below_the_baseline_has_learnt(manifest, call):
    put_below(manifest, 0.92)
    answer = call("check-learning")
    assert answer.code == 0
    assert answer.out == (
        f"sample/{RUN}: validation loss is 0.92 nats below the unigram baseline"
        " (>= 0.7 required): OK\n"
    )


def test_a_run_that_is_not_far_enough_below_ends_in_1(manifest, call):
    put_below(manifest, 0.5)
    line = call("check-learning").one_line
    assert "0.50 nats below the unigram baseline (>= 0.7 required)" in line
    assert str(manifest.name) in line


def test_a_run_without_a_result_names_its_outcome(manifest, call):
    outcome = {"kind": "diverged", "update": 3, "reason": "the loss is not finite"}
    write_json(manifest, read_json(manifest) | {"outcome": outcome, "measurements": {}})
    assert "diverged (the loss is not finite) at update 3" in call("check-learning").one_line


def test_a_run_without_a_manifest_is_named(manifest, call):
    manifest.unlink()
    assert "manifest.json: no such file" in call("check-learning").one_line


def test_a_scale_may_name_no_run(manifest, call):
    path = manifest.parents[5] / "config" / "scales" / "small.yaml"
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if not line.startswith("check_learning")]
    path.write_text("\n".join(lines), encoding="utf-8")
    answer = call("check-learning")
    assert (answer.code, answer.out) == (0, "scale small names no run to check\n")
