"""The table of mutants fits the code, and its page lists what the table has."""

from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.mutants import PAGE, SURVIVED, Mutant, Verdict, page, problems, read, row, rows_of
from tests.house.tree import ROOT

MUTANT = Mutant("group", ("tests",), "lib/a.py", "Eq. 1: the sign", "x + y", "x - y")


def test_each_text_is_in_its_file_once_and_each_test_is_there():
    assert problems(read()) == []


def test_every_method_has_mutants():
    counts = Counter(mutant.group for mutant in read())
    methods = {path.stem for path in (ROOT / "config" / "methods").glob("*.yaml")}
    assert methods <= set(counts)
    assert min(counts[method] for method in methods) >= 5


def test_a_mutant_replaces_its_text_and_one_that_is_gone_or_there_twice_is_found(tmp_path):
    path = tmp_path / "lib" / "a.py"
    path.parent.mkdir()
    path.write_text("z = x + y\nw = x + y\n", encoding="utf-8")
    assert problems([MUTANT], tmp_path) == [
        "group: lib/a.py has 2 times 'x + y'",
        "group: no tests",
    ]
    path.write_text("z = x + y\n", encoding="utf-8")
    MUTANT.apply(tmp_path)
    assert path.read_text(encoding="utf-8") == "z = x - y\n"


def test_the_page_names_the_test_that_fails_first_and_rows_without_one_run_once_more():
    other = replace(MUTANT, breaks="Eq. 2: the sign")
    killed, survived = Verdict("tests/a.py::test_sign[x|y]", 3, 1.6), Verdict(SURVIVED, 3, 1.6)
    text = page([(MUTANT, row(MUTANT, killed)), (other, row(other, survived))])
    assert "1 of 2 mutants are noticed." in text
    assert "| Eq. 1: the sign | `lib/a.py` | `a.py::test_sign[x\\|y]` | 2 |" in text
    assert list(rows_of(text).values()) == [row(MUTANT, killed)]


def test_the_page_has_a_row_for_each_mutant():
    path = ROOT / PAGE
    if not path.exists():
        pytest.skip("make mutants writes docs/mutants.md")
    rows = [line for line in path.read_text(encoding="utf-8").split("\n") if line[:2] == "| "]
    table = [line.split(" | ")[0] for line in rows if not line.startswith(("| what", "| ---"))]
    assert table == [f"| {mutant.breaks}" for mutant in read()], "run make mutants"
