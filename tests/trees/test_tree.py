"""What a folder of results has, and what is refused."""

import pytest

from fathom.results.trees.tree import Tree, rows
from tests.support.refused import refused
from tests.support.small_trees import CSV, edit, write_tree


@pytest.fixture
def folder(tmp_path):
    return write_tree(tmp_path / "results")


def test_a_tree_has_scales_artefacts_and_runs(folder):
    tree = Tree.at(folder)
    assert (tree.scales, {*tree.files}) == (["small"], {*CSV})
    assert [(name, seed) for (name, _, seed), _ in tree.runs()] == [
        ("sample/a", 1),
        ("sample/b", 1),
    ]


def test_tables_figures_and_lists_alone_make_a_folder_a_scale(folder):
    """What `make bench` measures was taken for a scale."""
    for place in ("small/curves", "bench/growth", "logs/sample", "corpora/talks", "runs/sample"):
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "other.csv").write_text("label,value\na,1\n")
    tree = Tree.at(folder)
    assert (tree.scales, {*tree.files}) == (["small"], {*CSV})


def test_an_empty_csv_is_not_passed_over(folder):
    (folder / "small/sample/table2.csv").touch()
    with refused("not CSV", where="table2.csv"):
        rows(Tree.at(folder).files["small/sample/table2"])


def test_a_folder_without_results_is_refused(tmp_path):
    with refused("no folder", where="nowhere"):
        Tree.at(tmp_path / "nowhere")
    with refused("no results here", where=tmp_path.name):
        Tree.at(tmp_path)


def test_a_damaged_manifest_is_refused(folder):
    path = next(folder.glob("runs/*/*/*/manifest.json"))
    edit(path, "many_to_one", "one_to_many")
    with refused(where="manifest.json"):
        list(Tree.at(folder).runs())


@pytest.mark.parametrize("text", [b"", b"a,b\n1\n", b"a,b\n1,2,3\n", b'a,b\n"1,2\n', b"a\n\xff\n"])
def test_a_damaged_csv_is_refused(tmp_path, text):
    path = tmp_path / "table1.csv"
    path.write_bytes(text)
    with refused("not CSV", where="table1.csv"):
        rows(path)
