"""Runs of two trees, paired by name, settings and seed."""

import shutil

import pytest

from fathom.results.trees.runs import differences, gathered, pairs
from fathom.results.trees.tree import Tree
from tests.support.refused import refused
from tests.support.small_trees import METRICS, SPEC, edit, write_run, write_tree


@pytest.fixture
def trees(tmp_path):
    return [write_tree(tmp_path / name) for name in ("first", "second")]


def names(trees):
    both, alone = pairs(*map(Tree.at, trees))
    return [pair.name for pair in both], [one.line for one in alone]


def test_a_run_at_another_scale_is_another_run(trees):
    large = SPEC.replace("300", "90000")
    write_run(trees[0], spec=large)
    assert names(trees) == (["sample/a", "sample/b"], ["sample/a: only in A"])


def test_other_settings_of_one_run_are_paired_where_there_is_one(trees):
    shutil.rmtree(next(trees[1].glob("runs/sample/a-*")))
    write_run(trees[1], spec=SPEC.replace("300", "400"))
    assert names(trees) == (["sample/b", "sample/a"], [])
    write_run(trees[1], spec=SPEC.replace("300", "500"))
    both, alone = names(trees)
    assert (both, len(alone)) == (["sample/b"], 3)


def test_a_column_of_metrics_without_numbers_is_no_difference(trees):
    more = "".join(f"{line}\t\n" for line in METRICS.splitlines()).replace("nll\t\n", "nll\tnew\n")
    write_run(trees[1], series=more)
    both, _ = pairs(*map(Tree.at, trees))
    assert list(differences(both)) == []


def test_other_diagnostics_are_named_by_their_files(trees):
    files = {"diagnostics/a.tsv.gz": "1" * 64, "diagnostics/b.tsv.gz": "2" * 64}
    for folder, own in zip(trees, (files, {name: "3" * 64 for name in files}), strict=True):
        place = next(folder.glob("runs/sample/a-*/1"))
        write_run(folder, files={"spec.yaml": "0" * 64, **own})
        assert place.is_dir()
    both, _ = pairs(*map(Tree.at, trees))
    (one,) = gathered(differences(both))
    assert one.line == "sample/a: another diagnostics/a.tsv.gz and 1 more"
    assert list(differences(both, tolerance=0.1)) == []


def test_damaged_metrics_are_refused(trees):
    place = write_run(trees[1], series=METRICS.replace("4.75", "4.8"))
    edit(place / "metrics.tsv", "4.8", "?")
    both, _ = pairs(*map(Tree.at, trees))
    with refused("no row of metrics", where="metrics.tsv:3"):
        list(differences(both))
