"""What may be deleted is what no result of today's config needs."""

import pytest

from fathom.config.paths import Paths
from fathom.io.files import write_lines
from fathom.io.records import hashes, write_record
from fathom.results.clean import KINDS, delete, size
from tests.support.own_project import own_project
from tests.support.run_files import training

RUN = "latent_depth/m2o_diverse_12_12"


@pytest.fixture
def folder(tmp_path):
    """The folder of a training that has ended, with the weights that are decoded and others."""
    spec, paths = own_project().spec(RUN, "tiny"), Paths(tmp_path, "tiny")
    folder = paths.run(spec, 1)
    for name in ("last.pt", "before_last.pt", "update_7.pt"):
        write_lines(folder / "checkpoints" / name, [name])
    files = hashes(folder, "checkpoints/last.pt")
    write_record(paths.training(spec, 1), training(tasks=spec.data.tasks, files=files))
    return folder


def names(kind, results):
    return [path.name for path in KINDS[kind](own_project(), results)]


def test_of_an_ended_training_the_recorded_weights_stay(folder, tmp_path):
    assert names("states", tmp_path) == ["before_last.pt", "update_7.pt"]
    (folder / "training.json").unlink()
    assert names("states", tmp_path) == []


def test_what_killed_writers_left_and_what_was_set_aside_goes(folder, tmp_path):
    (folder / ".metrics.tsv.12.part").write_text("half")
    (folder / "attempts.damaged").write_text("?")
    unused = folder.parent.with_name("m2o_diverse_12_12-00000000")
    write_lines(unused / "1" / "before.damaged", ["goes with its run"])
    run, part, aside = KINDS["unused"](own_project(), tmp_path)
    names = [".metrics.tsv.12.part", "attempts.damaged"]
    assert [run, part.name, aside.name] == [unused, *names]
    assert [size(part), size(aside)] == [4, 1]


def test_runs_and_text_of_other_settings_are_unused(folder, tmp_path):
    project = own_project()
    spec, paths = project.spec(RUN, "tiny"), Paths(tmp_path, "tiny")
    for place in (paths.tensors(spec.data), paths.corpus(spec.data), paths.subwords(spec.data)):
        write_lines(place / "file", ["used"])
        write_lines(place.with_name(f"{place.name[:-8]}00000000") / "file", ["unused"])
    # Tables alone count the text of some data sets.
    for dataset in project.datasets.values():
        place = paths.corpus_named(dataset.corpus_folder(project.sources))
        write_lines(place / "corpus.json", ["{}"])
    other = folder.parent.with_name("m2o_diverse_12_12-00000000")
    write_lines(other / "1" / "metrics.tsv", ["unused"])
    elsewhere, link = tmp_path / "disk" / "run", tmp_path / "corpora" / "old-00000000"
    write_lines(elsewhere / "file", ["unused"])
    link.symlink_to(elsewhere)
    paths_found = [*KINDS["unused"](project, tmp_path)]
    assert len(paths_found) == 5
    assert all(path.name.endswith("-00000000") for path in paths_found)
    for path in paths_found:
        delete(path)
    assert names("unused", tmp_path) == []
    assert (folder / "checkpoints" / "last.pt").exists()
    # Of a link the link alone goes.
    assert not link.is_symlink()
    assert (elsewhere / "file").exists()
