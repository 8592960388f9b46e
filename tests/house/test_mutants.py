"""The table of mutants fits the code, and its page lists what the table has."""

from collections import Counter
from dataclasses import replace

from benchmarks.mutants import (
    SURVIVED,
    Mutant,
    Verdict,
    page,
    problems,
    read,
    read_results,
    row,
    write_results,
)
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


def test_the_page_names_the_test_that_fails_first_and_counts_what_is_noticed(tmp_path):
    second = replace(MUTANT, breaks="Eq. 2: the sign")
    killed, survived = Verdict("tests/a.py::test_sign[x|y]", 3, 1.6), Verdict(SURVIVED, 3, 1.6)
    path = tmp_path / "mutants.csv"
    write_results([row(MUTANT, killed), row(second, survived)], path)
    text = page([MUTANT, second], read_results(path))
    assert "1 of 2 mutants are noticed." in text
    assert "| Eq. 1: the sign | `lib/a.py` | `a.py::test_sign[x\\|y]` | 2 |" in text
    assert "| Eq. 2: the sign | `lib/a.py` | `survived` | 2 |" in text


def test_each_mutant_has_a_result():
    assert [*read_results()] == [mutant.key for mutant in read()], "run make mutants"
