"""The runs of a page."""

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.page.runs import runs_of
from fathom.config.paths import Paths
from tests.support.own_project import own_project
from tests.support.run_files import write_training

PAPER = "lamgd"


@pytest.fixture
def artefacts(tmp_path):
    """The project's artefacts, without results."""
    return Artefacts(own_project(), Paths(tmp_path, "tiny"))


def runs(artefacts, *names):
    """Return the runs of some tables."""
    paper = own_project().papers[PAPER]
    return runs_of(artefacts, paper, {n: artefacts.compared(paper, paper.tables[n]) for n in names})


def test_runs_that_were_not_trained_say_so(artefacts):
    known = runs(artefacts, "table3")
    assert known
    for run in known.values():
        assert (run.ended, run.below_unigram, run.learned) == ((), None, False)
        assert run.words == "not run"


def test_a_trained_run_has_nats_below_the_baseline_and_its_logs(artefacts):
    paper = own_project().papers[PAPER]
    tables = {"table3": artefacts.compared(paper, paper.tables["table3"])}
    name = next(iter(runs_of(artefacts, paper, tables)))
    spec, paths = own_project().spec(name, "tiny"), artefacts.paths
    write_training(spec, paths)
    own = paths.training(spec, 1).with_name("train.log")
    jobs = paths.results / "logs" / "train_run" / spec.paper
    jobs.mkdir(parents=True)
    own.touch()
    for seed in (1, 11):
        (jobs / f"{spec.folder}.{seed}.log").touch()
    run = runs_of(artefacts, paper, tables)[name]
    assert run.below_unigram == pytest.approx(6.06 - 4.5)
    assert run.learned
    assert run.trainings[0].logs == (own, jobs / f"{spec.folder}.1.log")


def test_settings_that_a_scale_changes_are_listed_and_deviations_apply(artefacts):
    run = next(iter(runs(artefacts, "table3").values()))
    assert not run.comparable
    changed = {setting.path for setting in run.differing}
    assert {"model.width", "data.dataset", "training.updates"} <= changed
    assert run.deviations


def test_runs_of_figures_alone_are_there_too(artefacts):
    assert set(runs(artefacts)) < set(runs(artefacts, *own_project().papers[PAPER].tables))
