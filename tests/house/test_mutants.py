"""The table of mutants fits the code."""

from benchmarks.mutants import Mutant, problems, read

MUTANT = Mutant("group", ("tests",), "lib/a.py", "Eq. 1: the sign", "x + y", "x - y")


def test_each_text_is_in_its_file_once_and_each_test_is_there():
    assert problems(read()) == []


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
