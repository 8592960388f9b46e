"""Two trees of results: each planted change is one line, and nothing else is."""

import math
import shutil

import pytest

from fathom.io.errors import FathomError
from fathom.results.diff import compare, differences
from fathom.results.tree import Tree
from tests.support.small_trees import CSV, METRICS, SPEC, edit, write_run, write_tree


@pytest.fixture
def first(tmp_path):
    return write_tree(tmp_path / "first")


@pytest.fixture
def second(tmp_path):
    return write_tree(tmp_path / "second")


def found(first, second, **options):
    """Return what differs, as group and line."""
    compared = compare(Tree.at(first), Tree.at(second), **options)
    return [(item.group, item.line) for item in compared.differences]


def test_equal_trees_are_equal_and_say_what_was_compared(first, second):
    compared = compare(Tree.at(first), Tree.at(second))
    assert compared.equal
    assert list(compared.lines()) == ["equal: 2 runs, 4 tables, figures and lists"]


TABLE, FIGURE = "small/sample/table1.csv", "small/sample/figure1.csv"
CLAIMS, VERDICTS = "small/claims.csv", "small/compare.csv"
# A change of a csv file: text before and after, the group, and words of the line.
CHANGES = [
    (TABLE, "20.5", "20.75", "cells", "sample/table1 “6/6” avg: value 20.5 in A, 20.75 in B"),
    (TABLE, "diverged at", "failed at", "cells", "24/24"),
    (TABLE, "mark,run,scale\n,6/6,", "mark,run,scale\n,8/8,", "cells", "only in A"),
    (FIGURE, "4.5", "4.25", "figures", "sample/figure1: line 3 value 4.5 in A, 4.25 in B"),
    (FIGURE, ",A,sample/a,1,2,4.5,,\n", "", "figures", "lines 2 in A, 1 in B"),
    (CLAIMS, "holds,1 > 0", "fails,1 > 0", "claims", "deeper 36/36: answer holds in A"),
    (CLAIMS, "[0.5, 2.2]", "[-0.5, 2.2]", "claims", "closer: numbers …"),
    (CLAIMS, "2 > 0,,False", "2 > 0,,True", "claims", "comparable False in A, True in B"),
    (VERDICTS, "-0.5,reproduced", "-0.5,lower", "verdicts", "verdict reproduced in A, lower"),
    (VERDICTS, "21.0,,,", "21.0,,*,", "verdicts", "mark nothing in A, * in B"),
    (VERDICTS, "diverged", "failed", "verdicts", "“24/24” avg: cause"),
]


@pytest.mark.parametrize(("file", "old", "new", "group", "words"), CHANGES)
def test_a_changed_line_of_a_csv_file_is_found(first, second, file, old, new, group, words):
    edit(second / file, old, new)
    # A copy that is kept for readers has no runs, and not every table.
    for place in ("runs", "small/sample") if file in (CLAIMS, VERDICTS) else ():
        shutil.rmtree(first / place)
        shutil.rmtree(second / place)
    lines = found(first, second)
    assert {of_line for of_line, _ in lines} == {group}
    assert words in lines[0][1]
    assert len(lines) == (2 if "only in" in words else 1)


def test_a_changed_cell_is_one_line_and_its_verdict_another(first, second):
    edit(second / TABLE, "20.5,0.2", "19.5,0.2")
    edit(second / VERDICTS, "20.5,0.2,1,-0.5", "19.5,0.2,1,-1.5")
    cell = ("cells", "sample/table1 “6/6” avg: value 20.5 in A, 19.5 in B")
    assert found(first, second) == [cell]
    edit(second / VERDICTS, "-1.5,reproduced", "-1.5,lower")
    verdict = "sample table1 “6/6” avg: verdict reproduced in A, lower in B"
    assert found(first, second) == [cell, ("verdicts", verdict)]


def test_a_number_of_one_seed_is_a_line_where_both_trees_have_numbers_by_seed(first, second):
    heading = "block,row,column,seed,value,measurement,run\n"
    for tree, values in ((first, (20.5, 20.0)), (second, (20.5, 21.0))):
        assert found(first, second) == []
        lines = [f",6/6,avg,{seed},{value},bleu,sample/a\n" for seed, value in enumerate(values, 1)]
        path = tree / TABLE.replace(".csv", "_seeds.csv")
        path.write_text(heading + "".join(lines), encoding="utf-8")
    line = "sample/table1 “6/6” avg seed 2: value 20.0 in A, 21.0 in B"
    assert found(first, second) == [("cells", line)]
    assert found(first, second, table="sample_table1") == [("cells", line)]


def test_what_repeats_other_columns_is_no_difference(first, second):
    edit(second / TABLE, "a note", "another note")
    edit(second / TABLE, "20.5", "20.50")
    assert found(first, second) == []
    # A column that one file does not have is like an empty one.
    edit(second / TABLE, "mark,run", "mark,kind,run")
    edit(second / TABLE, ",1,,sample", ",1,,,sample")
    assert found(first, second) == []


def test_lines_of_one_place_are_numbered_and_many_changed_columns_counted(first, second):
    for folder in (first, second):
        edit(folder / TABLE, ",24/24,", ",6/6,")
    edit(second / TABLE, "update 80", "update 90")
    edit(second / TABLE, "20.5,0.2,,a note,0.4,1,,sample/a", "1,2,,,3,4,,sample/c")
    one, two = (line for _, line in found(first, second))
    assert one.endswith("; and 2 more")
    assert "“6/6” avg 2" in two


def test_a_tolerance_is_in_the_unit_of_the_numbers(first, second):
    edit(second / TABLE, "20.5", "20.51")
    write_run(second, series=METRICS.replace("4.75", "4.755"))
    edit(second / CLAIMS, "1.35 [0.5", "1.37 [0.51")
    assert len(found(first, second)) == 3
    assert len(found(first, second, tolerance=0.001)) == 2
    assert found(first, second, tolerance=0.02) == []
    # The words of a text must be equal.
    edit(second / CLAIMS, "1.37 [0.51", "1.37 > [0.51")
    edit(second / TABLE, "diverged", "failed")
    assert len(found(first, second, tolerance=0.02)) == 2


RUNS = {
    "outcomes": {"outcome": {"kind": "diverged", "update": 300, "reason": "loss is nan"}},
    "recipe": {"recipe": 99},
    "data": {"corpus_sha256": "e" * 64},
    "measurements": {"scores": {"bleu.test.plain.13a": {"tasks": {"bos": {"value": 1.0}}}}},
    "series": {"series": METRICS.replace("4.75", "4.8")},
}


@pytest.mark.parametrize("group", RUNS)
def test_a_changed_run_is_found(first, second, group):
    write_run(second, **RUNS[group])
    lines = found(first, second)
    assert {of_line for of_line, _ in lines} == {group}
    assert all(line.startswith("sample/a") for _, line in lines)
    assert len(lines) == (2 if group == "outcomes" else 1)


def test_changed_settings_are_lines_and_no_run_is_missing(first, second):
    shutil.rmtree(next(second.glob("runs/sample/a-*")))
    place = write_run(second, spec=SPEC.replace("300", "400").replace("0.98", "0.99"))
    assert found(first, second) == [
        ("settings", "sample/a: training.updates 300 in A, 400 in B"),
        ("settings", "sample/a: training.betas.2 0.98 in A, 0.99 in B"),
    ]
    # Settings that are no part of the identity.
    shutil.rmtree(place.parent)
    place = write_run(second, files={"spec.yaml": "0" * 64})
    edit(place / "spec.yaml", SPEC, f"{SPEC}decoding: {{beam: 4}}\n")
    assert ("settings", "sample/a: decoding.beam nothing in A, 4 in B") in found(first, second)


def test_an_identity_is_no_difference_where_a_tree_lacks_measurements(first, second):
    """It was eight digits in A and the same eight digits in B."""
    for path in second.glob("runs/*/*/*/measurements/*.json"):
        path.unlink()
    assert "settings" not in {group for group, _ in found(first, second)}


def test_runs_of_one_tree_alone_are_named(first, second):
    shutil.rmtree(next(second.glob("runs/sample/a-*")))
    write_run(second, "c", seed=2)
    next(second.glob("runs/sample/b-*/1/training.json")).unlink()
    assert found(first, second) == [
        ("runs", "sample/a: only in A"),
        ("runs", "sample/b: has not ended in B"),
        ("runs", "sample/c, seed 2: only in B"),
    ]


def test_a_run_at_another_scale_is_another_run(first, second):
    write_run(first, spec=SPEC.replace("300", "90000"))
    ((group, line),) = found(first, second)
    assert (group, line.startswith("sample/a-"), line[-9:]) == ("runs", True, "only in A")


def test_scores_of_two_decodings_are_kept_apart(first, second):
    for folder in (first, second):
        (path,) = folder.glob("runs/sample/a-*/1/measurements/scores.*.json")
        shutil.copy(path, path.with_stem("scores.test.plain-11111111"))
    assert found(first, second) == []
    path.unlink()
    ((_, line),) = found(first, second)[:1]
    assert "13a" in line


def test_other_diagnostics_are_named_and_a_tolerance_leaves_them_out(first, second):
    for folder, digit in ((first, "1"), (second, "3")):
        write_run(folder, files={f"diagnostics/{name}.tsv.gz": digit * 64 for name in "abcd"})
    ((group, line),) = found(first, second)
    assert group == "series"
    assert "diagnostics/a.tsv.gz 11111111 in A, 33333333 in B" in line
    assert line.endswith("; and 1 more")
    assert found(first, second, tolerance=0.1) == []


def test_a_column_of_metrics_without_numbers_is_no_difference(first, second):
    more = "".join(f"{line}\t\n" for line in METRICS.splitlines()).replace("nll\t\n", "nll\tnew\n")
    place = write_run(second, series=more)
    assert found(first, second) == []
    edit(place / "metrics.tsv", "4.75", "?")
    with pytest.raises(FathomError, match=r"metrics\.tsv:3"):
        found(first, second)


def test_what_many_runs_share_is_one_line(first, second):
    for name in ("a", "b"):
        write_run(second, name, corpus_sha256="f" * 64)
    assert found(first, second) == [("data", "2 runs: corpus_sha256 cccccccc in A, ffffffff in B")]


def test_an_artefact_or_a_scale_of_one_tree_is_named_once(first, second):
    """Kept results have no compare.csv, which follows from the tables."""
    (second / FIGURE).unlink()
    (second / VERDICTS).unlink()
    shutil.copytree(first / "small", first / "large")
    assert found(first, second) == [
        ("scales", "large: only in A"),
        ("artefacts", "small/sample/figure1: only in A"),
    ]


def test_code_and_costs_are_apart(first, second):
    totals = {"updates": 5, "target_tokens": 960, "seconds": 3601.5}
    device = {"type": "cuda", "products": {"precision": "high"}}
    write_run(second, totals=totals, commit="2" * 40, device=device)
    compared = compare(Tree.at(first), Tree.at(second))
    assert compared.equal
    assert any(item.what.startswith("device products precision") for item in compared.apart)
    assert {item.group for item in compared.apart[:-1]} == {"code"}
    assert compared.apart[-1].line == "sample/a: 0.00 hours of training in A, 1.00 in B"


def test_one_table_or_one_scale_is_compared_alone(first, second):
    edit(second / TABLE, "20.5", "20.75")
    edit(second / CLAIMS, "holds,1 > 0", "fails,1 > 0")
    assert [group for group, _ in found(first, second, table="sample_table1")] == ["cells"]
    alone = compare(Tree.at(first), Tree.at(second), table="sample_figure1")
    assert list(alone.lines()) == ["equal: 1 file"]
    with pytest.raises(FathomError, match="'sample_table1'"):
        found(first, second, table="sample_table2")
    shutil.rmtree(first / "runs")
    shutil.copytree(second / "small", second / "large")
    groups = [group for group, _ in found(first, second, scale="small")]
    assert groups == ["cells", "claims"]
    assert {group for group, _ in found(first, second, scale="large")} == {"artefacts"}
    with pytest.raises(FathomError, match="'small'"):
        found(first, second, scale="smal")


def test_lines_are_in_groups_with_counts(first, second):
    edit(second / TABLE, "20.5", "20.75")
    edit(second / CLAIMS, "holds,1 > 0", "fails,1 > 0")
    compared = compare(Tree.at(first), Tree.at(second))
    text = list(compared.lines())
    assert [line for line in text if not line.startswith(" ")][:2] == ["cells (1)", "claims (1)"]
    assert text[-1].startswith("2 differences: 1 cells, 1 claims")
    assert compared.differences[0].first == {"value": "20.5"}


@pytest.mark.parametrize(
    ("first", "second", "tolerance", "differ"),
    [
        ("0.5", "0.50", 0.0, False),
        (1, 1.0, 0.0, False),
        ("0.5", "0.51", 0.0, True),
        ("0.5", "0.51", 0.02, False),
        ("diverged", "finished", 9.0, True),
        ("", "0.5", 9.0, True),
        (None, 0.5, 9.0, True),
        (True, 1.5, 9.0, True),
        (math.nan, math.nan, 0.0, False),
        (math.nan, 1.0, 9.0, True),
        (10**400, 1.0, 9.0, True),
        (math.inf, math.inf, 0.0, False),
        (math.inf, -math.inf, 9.0, True),
    ],
)
def test_numbers_differ_by_more_than_the_tolerance_and_words_by_their_letters(
    first, second, tolerance, differ
):
    assert any(differences("cells", {"a": {"b": first}}, {"a": {"b": second}}, tolerance)) == differ


def test_tables_figures_and_lists_alone_make_a_folder_a_scale(first):
    """A folder of benchmarks was taken for a scale."""
    for place in ("small/curves", "bench/growth", "logs/sample", "corpora/talks", "runs/sample"):
        (first / place).mkdir(parents=True, exist_ok=True)
        (first / place / "other.csv").write_text("label,value\na,1\n")
    tree = Tree.at(first)
    assert (tree.scales, {*tree.files}) == (["small"], {*CSV})


def test_what_is_missing_or_damaged_is_refused(first, second, tmp_path):
    with pytest.raises(FathomError, match="no such folder"):
        Tree.at(tmp_path / "nowhere")
    with pytest.raises(FathomError, match="no results are in this folder"):
        Tree.at(tmp_path)
    for text in (b"", b"a,b\n1\n", b"a,b\n1,2,3\n", b'a,b\n"1,2\n', b"a\n\xff\n", b"\xff\x00\xfe"):
        for name in (CLAIMS, TABLE):
            before = (first / name).read_bytes()
            (first / name).write_bytes(text)
            with pytest.raises(FathomError, match="not CSV"):
                found(first, second)
            (first / name).write_bytes(before)
    edit(next(first.glob("runs/*/*/*/training.json")), '"seconds": 1.5', '"seconds": 2.5')
    with pytest.raises(FathomError, match=r"training\.json"):
        found(first, second)
