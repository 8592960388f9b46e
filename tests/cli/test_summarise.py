"""`fathom summarise`: everything that is known of a run, in one file."""

import pytest

from fathom.results.manifest import read
from tests.support.refused import says
from tests.support.small_project import RUN


@pytest.fixture
def folder(own, summarised):
    """The folder of a run that may be changed."""
    (folder,) = own(summarised).glob(f"results/runs/sample/{RUN}-*/1")
    return folder


def test_the_manifest_has_outcome_and_measurements(folder, call):
    found = read(folder / "manifest.json")
    assert (found.run, found.seed, found.outcome.kind) == (f"sample/{RUN}", 1, "finished")
    for key in ("parameters", "last_validation", "bleu.test.plain.13a", "chrf.test.plain"):
        assert key in found.measurements
    assert found.stale == {}
    before = (folder / "manifest.json").read_bytes()
    answer = call("summarise", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert "finished" in answer.err
    assert (folder / "manifest.json").read_bytes() == before


def test_the_model_card_has_the_scores_of_the_manifest(folder):
    found = read(folder / "manifest.json")
    card = (folder / "README.md").read_text(encoding="utf-8")
    for task, number in found.measurements["bleu.test.plain.13a"].tasks.items():
        (row,) = [line for line in card.split("\n") if line.startswith(f"| {task} |")]
        assert f"{number.value:.2f}" in row


def test_what_is_measured_later_comes_in(folder, call):
    assert call("likelihood", RUN).code == 0
    assert call("summarise", RUN).code == 0
    found = read(folder / "manifest.json")
    nll = found.measurements["nll.valid.plain"].all.value
    assert nll == pytest.approx(found.measurements["last_validation"].all.value, abs=1e-6)


def test_a_training_that_has_not_ended_is_named(folder, call):
    line = call("summarise", RUN, "--seed", "2").one_line
    says("no such file", where="/2/training.json").check(line)


def test_scores_that_do_not_fit_the_decoding_are_refused(folder, call):
    (path,) = folder.glob("decodings/*/decoding.json")
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    says(remedy="fathom score").check(call("summarise", RUN).one_line)
