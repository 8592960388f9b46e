"""Two folders of results: each planted change is one line, and nothing else is."""

import shutil

import pytest

from fathom.io.errors import FathomError
from fathom.io.records import identity
from fathom.results.diff import compare
from fathom.results.recipe import RECIPE
from fathom.results.tree import artefacts
from tests.support.small_trees import CSV, SPEC, edit, write_run, write_tree


@pytest.fixture
def first(tmp_path):
    return write_tree(tmp_path / "first")


@pytest.fixture
def second(tmp_path):
    return write_tree(tmp_path / "second")


TABLE, FIGURE = "small/sample/table1", "small/sample/figure1"
LAST_CELL = ",24/24,avg,,,diverged at update 80,,,1,,sample/b,small\n"
CLAIMS, VERDICTS = "small/claims", "small/compare"
# A change of a CSV file: text before and after, and its line.
CHANGES = {
    "a number": (TABLE, "20.5", "20.75", "“6/6” avg: value 20.5 in A, 20.75 in B"),
    "an outcome": (
        TABLE,
        "diverged at",
        "failed at",
        "“24/24” avg: words diverged at update 80 in A, failed at update 80 in B",
    ),
    "a cell": (TABLE, LAST_CELL, "", "“24/24” avg: only in A"),
    "a mark": (TABLE, "1,,sample/a", "1,†,sample/a", "“6/6” avg: mark nothing in A, † in B"),
    "a point": (FIGURE, "4.5", "4.25", "line 3 value 4.5 in A, 4.25 in B"),
    "no point": (
        FIGURE,
        ",A,sample/a,1,2,4.5,,\n",
        "",
        "line 3 label A in A, nothing in B; line 3 run sample/a in A, nothing in B; "
        "line 3 seed 1 in A, nothing in B; and 2 more",
    ),
    "an answer": (
        CLAIMS,
        "holds,1 > 0",
        "fails,1 > 0",
        "sample deeper 36/36: answer holds in A, fails in B",
    ),
    "long numbers": (
        CLAIMS,
        "[0.5, 2.2]",
        "[-0.5, 2.2]",
        "sample closer: numbers …> 0; a 20.5 - e 19.15 = 1.35 [0.5, 2.2] > 0 in A, "
        "…> 0; a 20.5 - e 19.15 = 1.35 [-0.5, 2.2] > 0 in B",
    ),
    "settings of a claim": (
        CLAIMS,
        "2 > 0,,False",
        "2 > 0,,True",
        "sample deeper 36/36: comparable False in A, True in B",
    ),
    "a verdict": (
        VERDICTS,
        "20.5,0.2,1,-0.5,reproduced",
        "19.5,0.3,1,-1.5,lower",
        "sample table1 “6/6” avg: verdict reproduced in A, lower in B; "
        "reproduced 20.5 in A, 19.5 in B; stderr 0.2 in A, 0.3 in B; and 1 more",
    ),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_changed_line_of_a_csv_file_is_found(first, second, changed):
    file, old, new, line = CHANGES[changed]
    assert compare(first, second) == {}
    edit(second / f"{file}.csv", old, new)
    assert compare(first, second) == {file: [line]}
    # A copy that is kept for readers has no trainings.
    shutil.rmtree(first / "runs")
    assert compare(first, second, scale="small") == {file: [line]}


def test_a_number_of_one_seed_is_a_line_where_both_trees_have_numbers_by_seed(first, second):
    heading = "block,row,column,seed,value,measurement,run\n"
    for tree, values in ((first, (20.5, 20.0)), (second, (20.5, 21.0))):
        assert compare(first, second) == {}
        lines = [f",6/6,avg,{seed},{value},bleu,sample/a\n" for seed, value in enumerate(values, 1)]
        (tree / f"{TABLE}_seeds.csv").write_text(heading + "".join(lines), encoding="utf-8")
    found = {f"{TABLE}_seeds": ["“6/6” avg seed 2: value 20.0 in A, 21.0 in B"]}
    assert compare(first, second) == found
    assert compare(first, second, table="sample_table1") == found


def test_what_repeats_other_columns_is_no_difference(first, second):
    edit(second / f"{TABLE}.csv", "a note", "another note")
    # A column that one file does not have is like an empty one.
    edit(second / f"{TABLE}.csv", "mark,run", "mark,kind,run")
    edit(second / f"{TABLE}.csv", ",1,,sample", ",1,,,sample")
    assert compare(first, second) == {}


def test_lines_of_one_place_are_numbered(first, second):
    for folder in (first, second):
        edit(folder / f"{TABLE}.csv", ",24/24,", ",6/6,")
    edit(second / f"{TABLE}.csv", "update 80", "update 90")
    (line,) = compare(first, second)[TABLE]
    assert line.startswith("“6/6” avg 2: words diverged at update 80")


@pytest.mark.parametrize(
    ("a", "b", "tolerance", "differ"),
    [
        ("0.5", "0.50", 0.0, False),
        ("1", "1.0", 0.0, False),
        ("0.5", "0.51", 0.0, True),
        ("0.5", "0.51", 0.02, False),
        ("-0.5", "0.5", 0.9, True),
        ("2e-05", "1e-05", 1e-6, True),
        ("diverged", "finished", 9.0, True),
        ("diverged at update 80", "diverged at update 82", 1.0, True),
        ("diverged at update 80", "diverged at update 82", 2.0, False),
        ("diverged at update 80", "failed at update 80", 9.0, True),
        ("1.35 [0.5; 2.2]", "1.37 [0.51; 2.2]", 0.001, True),
        ("1.35 [0.5; 2.2]", "1.37 [0.51; 2.2]", 0.03, False),
        ("1.35 [0.5; 2.2]", "1.35 [0.5; 2.2; 2.2]", 9.0, True),
        ("", "0.5", 9.0, True),
        ("True", "1.5", 9.0, True),
        ("nan", "nan", 0.0, False),
        ("nan", "1.0", 9.0, True),
        ("1" + "0" * 400, "1.0", 9.0, True),
        ("inf", "inf", 0.0, False),
        ("inf", "-inf", 9.0, True),
    ],
)
def test_numbers_differ_by_more_than_the_tolerance_and_words_by_their_letters(
    first, second, a, b, tolerance, differ
):
    for folder, text in ((first, a), (second, b)):
        edit(folder / f"{TABLE}.csv", "20.5", text)
    assert bool(compare(first, second, tolerance)) == differ


BOS = {"bleu.test.plain.13a": {"tasks": {"bos": {"value": 20.0}, "fra": {"value": 1.0}}}}
ALL = {"bleu.test.plain.13a": BOS["bleu.test.plain.13a"] | {"all": {"value": 20.5}}}
OTHER = {"chrf.test.plain": ALL["bleu.test.plain.13a"]}
RUNS = {
    "outcome": ({"kind": "diverged"}, "outcome finished at update 5 in A, diverged at"),
    "recipe": ({"recipe": 99}, f"recipe of training {RECIPE['training']} in A, 99 in B"),
    "a task": ({"scores": BOS}, "bleu.test.plain.13a: fra 21.0 in A, 1.0 in B"),
    "a metric": ({"scores": OTHER}, "bleu.test.plain.13a: only in A"),
}


@pytest.mark.parametrize("changed", RUNS)
def test_a_changed_training_is_found(first, second, changed):
    changes, line = RUNS[changed]
    write_run(second, **changes)
    found = compare(first, second)
    assert {*found} == {"runs/sample/a, seed 1"}
    assert found["runs/sample/a, seed 1"][0].startswith(line)


def test_a_training_with_other_settings_is_the_same_run_with_another_identity(first, second):
    shutil.rmtree(next(second.glob("runs/sample/a-*")))
    other = SPEC.replace("300", "400")
    write_run(second, spec=other)
    line = f"identity {identity(SPEC)[:8]} in A, {identity(other)[:8]} in B"
    assert compare(first, second) == {"runs/sample/a, seed 1": [line]}
    assert compare(first, second, scale="small") == {}
    # At another scale the run is another one.
    write_run(second)
    line = f"runs/sample/a-{identity(other)[:8]}, seed 1"
    assert compare(first, second) == {"only in B": [line]}


def test_code_times_and_devices_are_no_difference(first, second):
    totals = {"updates": 5, "target_tokens": 960, "seconds": 3601.5}
    write_run(second, totals=totals, commit="2" * 40, device={"type": "cuda"})
    assert compare(first, second) == {}


def test_scores_of_two_decodings_are_kept_apart(first, second):
    for folder in (first, second):
        (path,) = folder.glob("runs/sample/a-*/1/measurements/scores.*.json")
        shutil.copy(path, path.with_stem("scores.test.plain-11111111"))
    assert compare(first, second) == {}
    path.unlink()
    (lines,) = compare(first, second).values()
    assert "bleu.test.plain.13a (00000000): only in A" in lines


def test_what_one_tree_has_alone_is_named_once(first, second):
    """Kept results have no compare.csv, which follows from the tables."""
    (second / f"{FIGURE}.csv").unlink()
    (second / f"{VERDICTS}.csv").unlink()
    shutil.copytree(first / "small", first / "large")
    shutil.rmtree(next(second.glob("runs/sample/a-*")))
    write_run(second, "c", seed=2)
    # A training that has not ended.
    next(second.glob("runs/sample/b-*/1/training.json")).unlink()
    alone = ["large", FIGURE, "runs/sample/a, seed 1", "runs/sample/b, seed 1"]
    found = compare(first, second)
    assert {side: sorted(lines) for side, lines in found.items()} == {
        "only in A": sorted(alone),
        "only in B": ["runs/sample/c, seed 2"],
    }
    shutil.rmtree(second / "runs")
    assert "runs" in compare(first, second)["only in A"]


def test_one_table_or_one_scale_is_compared_alone(first, second):
    edit(second / f"{TABLE}.csv", "20.5", "20.75")
    edit(second / f"{CLAIMS}.csv", "holds,1 > 0", "fails,1 > 0")
    assert {*compare(first, second, table="sample_table1")} == {TABLE}
    assert compare(first, second, table="sample_figure1") == {}
    shutil.copytree(second / "small", second / "large")
    assert {*compare(first, second, scale="small")} == {TABLE, CLAIMS}
    assert compare(first, second, scale="large") == {"only in B": ["large"]}
    assert {*compare(first, second, scale="small", table="sample_table1")} == {TABLE}
    for words, near in (
        ({"table": "sample_table2"}, "no table or figure 'sample_table2'.*'sample_table1'"),
        ({"scale": "smal"}, "no scale 'smal'.*'small'"),
    ):
        with pytest.raises(FathomError, match=near):
            compare(first, second, **words)


def test_tables_figures_and_lists_alone_make_a_folder_a_scale(first):
    """A folder of benchmarks was taken for a scale."""
    for place in ("small/curves", "bench/growth", "logs/sample", "corpora/talks", "runs/sample"):
        (first / place).mkdir(parents=True, exist_ok=True)
        (first / place / "other.csv").write_text("label,value\na,1\n")
    assert {*artefacts(first)} == {*CSV}


def test_what_is_missing_or_damaged_is_refused(first, second, tmp_path):
    for folder, words in (
        (tmp_path / "nowhere", "no such folder"),
        (tmp_path, "no results are in"),
    ):
        for pair in ((first, folder), (folder, first)):
            with pytest.raises(FathomError, match=words):
                compare(*pair)
    for text in (b"", b"a,b\n1\n", b"a,b\n1,2,3\n", b'a,b\n"1,2\n', b"a\n\xff\n", b"\xff\x00\xfe"):
        for name in (CLAIMS, TABLE):
            path = first / f"{name}.csv"
            before = path.read_bytes()
            path.write_bytes(text)
            with pytest.raises(FathomError, match="not CSV"):
                compare(first, second)
            path.write_bytes(before)
    edit(next(first.glob("runs/*/*/*/training.json")), '"seconds": 1.5', '"seconds": 2.5')
    with pytest.raises(FathomError, match=r"training\.json"):
        compare(first, second)
