"""Two trees of results: each planted change is one line, and nothing else is."""

import json
import shutil

import pytest

from fathom.results.trees.compared import compare, lines, record
from fathom.results.trees.tree import Tree
from tests.support.refused import refused
from tests.support.small_trees import METRICS, SPEC, edit, write_run, write_tree


@pytest.fixture
def first(tmp_path):
    return write_tree(tmp_path / "first")


@pytest.fixture
def second(tmp_path):
    return write_tree(tmp_path / "second")


def found(first, second, **options):
    """Return what differs, as group and line."""
    compared = compare(Tree.at(first), Tree.at(second), **options)
    return [(one.group, one.line) for one in compared.differences]


def test_equal_trees_are_equal_and_say_what_was_compared(first, second):
    compared = compare(Tree.at(first), Tree.at(second))
    assert compared.equal
    assert list(lines(compared)) == ["equal: 2 runs, 4 tables, figures and lists"]


CHANGES = {
    "cell": ("small/sample/table1.csv", "20.5", "20.75", "cells", "20.5 in A, 20.75 in B"),
    "outcome of a cell": (
        "small/sample/table1.csv",
        "diverged at",
        "failed at",
        "cells",
        "“24/24”",
    ),
    "row": ("small/sample/table1.csv", ",6/6,", ",8/8,", "cells", "only in A"),
    "point": ("small/sample/figure1.csv", "4.5", "4.25", "figures", "1 of 2 points"),
    "claim": ("small/claims.csv", "holds,1 > 0", "fails,1 > 0", "claims", "deeper [36/36]"),
    "printed claim": ("small/claims.csv", "not printed", "fails", "claims", "wider: reported"),
    "interval": ("small/claims.csv", "[0.5, 2.2]", "[-0.5, 2.2]", "claims", "closer: numbers …"),
    "basis": ("small/claims.csv", "0 > 1,one seed", "0 > 1,5 seeds", "claims", "wider: basis"),
    "printed numbers": ("small/claims.csv", "2 > 0", "3 > 0", "claims", "reported_numbers 2 > 0"),
    "settings": (
        "small/claims.csv",
        "2 > 0,,False",
        "2 > 0,,True",
        "claims",
        "comparable False in A, True in B",
    ),
    "verdict": (
        "small/compare.csv",
        "-0.5,reproduced",
        "-0.5,lower",
        "verdicts",
        "table1 “6/6” avg: verdict reproduced in A, lower in B",
    ),
    "reproduced": ("small/compare.csv", "20.5,", "11.1,", "verdicts", "reproduced 20.5 in A"),
    "stderr": ("small/compare.csv", "0.2,", "0.3,", "verdicts", "stderr 0.2 in A"),
    "seeds": ("small/compare.csv", "0.2,1", "0.2,5", "verdicts", "seeds 1 in A, 5 in B"),
    "delta": ("small/compare.csv", "-0.5,", "-0.6,", "verdicts", "delta -0.5 in A"),
    "mark": ("small/compare.csv", "21.0,,,", "21.0,,*,", "verdicts", "mark nothing in A, * in B"),
    "cause": ("small/compare.csv", "diverged", "failed", "verdicts", "“24/24” avg: cause"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_line_of_a_csv_is_found(first, second, change):
    file, old, new, group, words = CHANGES[change]
    edit(second / file, old, new)
    differences = found(first, second)
    assert {one for one, _ in differences} == {group}
    assert words in differences[0][1]
    assert len(differences) == (2 if change == "row" else 1)


@pytest.mark.parametrize("change", [one for one in CHANGES if "small/c" in CHANGES[one][0]])
def test_lists_alone_are_compared_in_full(first, second, change):
    """A copy that is kept for readers has no runs, and not every table."""
    for folder in (first, second):
        shutil.rmtree(folder / "runs")
        shutil.rmtree(folder / "small/sample")
    assert found(first, second) == []
    file, old, new, group, words = CHANGES[change]
    edit(second / file, old, new)
    ((own, line),) = found(first, second)
    assert own == group
    assert words in line


def test_a_changed_cell_is_one_line_and_its_verdict_another(first, second):
    edit(second / "small/sample/table1.csv", "20.5,0.2", "19.5,0.2")
    edit(second / "small/compare.csv", "20.5,0.2,1,-0.5", "19.5,0.2,1,-1.5")
    cell = ("cells", "sample/table1 “6/6” avg: value 20.5 in A, 19.5 in B")
    assert found(first, second) == [cell]
    edit(second / "small/compare.csv", "-1.5,reproduced", "-1.5,lower")
    verdict = "sample/table1 “6/6” avg: verdict reproduced in A, lower in B"
    assert found(first, second) == [cell, ("verdicts", verdict)]


def test_a_number_that_the_table_does_not_have_is_named(first, second):
    """The table of a tree may be older than its comparison."""
    edit(second / "small/sample/table1.csv", "20.5", "20.75")
    edit(second / "small/compare.csv", "20.5", "19.5")
    assert [group for group, _ in found(first, second)] == ["cells", "verdicts"]


def test_notes_and_the_text_of_numbers_are_no_differences(first, second):
    edit(second / "small/sample/table1.csv", "a note", "another note")
    edit(second / "small/sample/table1.csv", "20.5", "20.50")
    assert found(first, second) == []


def test_a_tolerance_is_in_the_unit_of_the_numbers(first, second):
    edit(second / "small/sample/table1.csv", "20.5", "20.51")
    write_run(second, series=METRICS.replace("4.75", "4.755"))
    edit(second / "small/claims.csv", "1.35 [0.5", "1.37 [0.51")
    assert len(found(first, second, tolerance=0.001)) == 3
    assert found(first, second, tolerance=0.02) == []
    edit(second / "small/sample/table1.csv", "diverged", "failed")
    assert len(found(first, second, tolerance=0.02)) == 1


RUNS = {
    "outcomes": {"outcome": {"kind": "diverged", "update": 300, "reason": "loss is nan"}},
    "recipe": {"recipe": {"training": 99, "decoding": 1, "scoring": 1}},
    "measurements": {"measurements": {"bleu.test.plain.13a": {"tasks": {"bos": {"value": 1.0}}}}},
    "series": {"series": METRICS.replace("4.75", "4.8")},
}


@pytest.mark.parametrize("group", RUNS)
def test_a_changed_run_is_found(first, second, group):
    if group == "recipe":
        write_run(first, recipe={"training": 98, "decoding": 1, "scoring": 1})
    write_run(second, **RUNS[group])
    ((own, line),) = found(first, second)
    assert (own, line.startswith("sample/a")) == (group, True)


def test_a_changed_setting_is_one_line_and_no_run_is_missing(first, second):
    shutil.rmtree(next(second.glob("runs/sample/a-*")))
    write_run(second, spec=SPEC.replace("300", "400").replace("0.98", "0.99"))
    assert found(first, second) == [
        ("settings", "sample/a: training.updates 300 in A, 400 in B"),
        ("settings", "sample/a: training.betas.2 0.98 in A, 0.99 in B"),
    ]


def test_settings_that_are_no_part_of_the_identity_are_found(first, second):
    place = write_run(second, files={"spec.yaml": "0" * 64})
    edit(place / "spec.yaml", SPEC, f"{SPEC}decoding: {{beam: 4}}\n")
    assert ("settings", "sample/a: decoding.beam nothing in A, 4 in B") in found(first, second)


def test_runs_of_one_tree_alone_are_named(first, second):
    shutil.rmtree(next(second.glob("runs/sample/a-*")))
    write_run(second, "c", seed=2)
    next(second.glob("runs/sample/b-*/1/manifest.json")).unlink()
    assert found(first, second) == [
        ("runs", "sample/a: only in A"),
        ("runs", "sample/c, seed 2: only in B"),
        ("runs", "sample/b: no manifest in B: not finished"),
    ]


def test_what_many_runs_share_is_one_line(first, second):
    for name in ("a", "b"):
        write_run(
            second,
            name,
            data={
                "dataset": "small",
                "direction": "many_to_one",
                "corpus_sha256": "e" * 64,
                "tensors_sha256": "d" * 64,
            },
        )
    assert found(first, second) == [("data", "2 runs: text cccccccc in A, eeeeeeee in B")]


def test_an_artefact_or_a_scale_of_one_tree_is_named_once(first, second):
    (second / "small/sample/figure1.csv").unlink()
    shutil.copytree(first / "small", first / "large")
    assert found(first, second) == [
        ("scales", "large: only in A"),
        ("artefacts", "small/sample/figure1: only in A"),
    ]


def test_code_and_costs_are_apart_unless_asked(first, second):
    totals = {"updates": 300, "target_tokens": 307200, "seconds": 7200.0}
    write_run(second, totals=totals, commit="2" * 40, device={"type": "cuda"})
    compared = compare(Tree.at(first), Tree.at(second))
    assert compared.equal
    assert [one.group for one in compared.apart] == ["code", "code", "code", "costs"]
    assert "1.00 hours of training in A, 2.00 in B" in compared.apart[-1].line
    ((group, line),) = found(first, second, costs=True)
    assert (group, "3600 in A, 7200 in B" in line) == ("costs", True)


def test_one_table_is_compared_alone(first, second):
    edit(second / "small/sample/table1.csv", "20.5", "20.75")
    edit(second / "small/claims.csv", "holds,1 > 0", "fails,1 > 0")
    assert [group for group, _ in found(first, second, table="sample_table1")] == ["cells"]
    assert found(first, second, table="sample_figure1") == []
    alone = compare(Tree.at(first), Tree.at(second), table="sample_figure1")
    assert list(lines(alone)) == ["equal: 1 file"]
    with refused("unknown", "table or figure", "sample_table2", nearest="sample_table1"):
        found(first, second, table="sample_table2")


def test_one_scale_is_compared_alone_without_runs(first, second):
    shutil.rmtree(first / "runs")
    shutil.copytree(second / "small", second / "large")
    edit(second / "large/sample/table1.csv", "20.5", "20.75")
    assert found(first, second, scale="small") == []
    edit(second / "small/claims.csv", "holds,1 > 0", "fails,1 > 0")
    assert [group for group, _ in found(first, second, scale="small")] == ["claims"]
    assert found(first, second, scale="small", table="sample_table1") == []
    assert {group for group, _ in found(first, second, scale="large")} == {"artefacts"}
    with refused("unknown", "scale", "smal", nearest="small"):
        found(first, second, scale="smal")


def test_lines_are_in_groups_with_counts_and_json_has_the_values(first, second):
    edit(second / "small/sample/table1.csv", "20.5", "20.75")
    edit(second / "small/claims.csv", "holds,1 > 0", "fails,1 > 0")
    compared = compare(Tree.at(first), Tree.at(second))
    text = list(lines(compared))
    assert [line for line in text if not line.startswith(" ")][:2] == ["cells (1)", "claims (1)"]
    assert text[-1].startswith("2 differences: 1 cells, 1 claims")
    shown = json.loads(json.dumps(record(compared), allow_nan=False))
    assert (shown["equal"], shown["counts"]) == (False, {"cells": 1, "claims": 1})
    assert shown["differences"][0]["first"] == {"value": "20.5"}
