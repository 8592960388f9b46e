"""Csv files of two trees, where names and lines need care."""

import pytest

from fathom.results.trees.artefacts import differences
from fathom.results.trees.tree import Tree
from tests.support.small_trees import edit, write_tree


@pytest.fixture
def trees(tmp_path):
    return [write_tree(tmp_path / name) for name in ("first", "second")]


def found(trees):
    return [one.line for one in differences(*map(Tree.at, trees))]


def test_lines_of_one_key_are_numbered(trees):
    for folder in trees:
        edit(folder / "small/sample/table1.csv", ",24/24,", ",6/6,")
    assert found(trees) == []
    edit(trees[1] / "small/sample/table1.csv", "update 80", "update 90")
    (line,) = found(trees)
    assert "“6/6” avg 2" in line


def test_a_figure_with_other_lines_says_how_many(trees):
    path = trees[1] / "small/sample/figure1.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert found(trees) == ["sample/figure1: lines 2 in A, 1 in B"]


def test_many_changed_columns_are_counted(trees):
    edit(trees[1] / "small/sample/table1.csv", "20.5,0.2,", "1,2,")
    edit(trees[1] / "small/sample/table1.csv", "0.4,1,,sample/a", "3,4,,sample/c")
    (line,) = found(trees)
    assert line.endswith("; and 2 more")


def test_a_column_that_one_file_lacks_is_like_an_empty_one(trees):
    path = trees[1] / "small/sample/table1.csv"
    edit(path, "mark,run", "mark,kind,run")
    edit(path, ",1,,sample", ",1,,,sample")
    assert found(trees) == []
