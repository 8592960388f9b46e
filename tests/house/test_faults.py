"""docs/faults.md: one line a fault, in the order of their numbers, each with tests that exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import ROOT, listed

PAGE = Path("docs") / "faults.md"
FIXED = ("here", "before", "open")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
# The number that a test carries, in the first line of its docstring.
FIELD = re.compile(r"Field faults? (\d+(?:(?:, | and )\d+)*)")
FIELD_FAULTS = 20


def faults_of_the_page(root: Path) -> Iterator[str]:
    """Yield what is wrong in the table of faults."""
    before = 0
    for line, text in enumerate((root / PAGE).read_text(encoding="utf-8").split("\n"), 1):
        if not text.startswith("| F"):
            continue
        place, cells = f"{PAGE}:{line}", [cell.strip() for cell in text.strip("|").split(" | ")]
        if len(cells) != 4 or not re.fullmatch(r"F\d+", cells[0]):
            yield f"{place}: write | F<number> | fault | tests | {' or '.join(FIXED)} |"
            continue
        number, tests = int(cells[0][1:]), TEST.findall(cells[2])
        if number <= before:
            yield f"{place}: F{number} comes after F{before}; keep the order, a line each"
        before = number
        if cells[3] not in FIXED:
            yield f"{place}: '{cells[3]}' is not {', '.join(FIXED)}"
        if not tests and cells[3] != "open":
            yield f"{place}: no test is named"
        for file, name in tests:
            path = root / file
            if not path.is_file() or f"\ndef {name}(" not in path.read_text(encoding="utf-8"):
                yield f"{place}: no test {file}::{name}"


def test_every_fault_has_tests_that_exist():
    findings = list(faults_of_the_page(ROOT))
    assert not findings, listed(findings)


def test_what_is_wrong_in_the_table_is_found(small):
    root = small(
        {
            "tests/io/test_files.py": "def test_a(): ...\n\ndef test_b(): ...\n",
            "docs/faults.md": """
                | no | fault | test | fixed |
                | --- | --- | --- | --- |
                | F2 | A fault. | `tests/io/test_files.py::test_b` | here |
                | F1 | Another. | `tests/io/test_files.py::test_c` | before |
                | F3 | A third. |  | here |
                | F4 | A fourth. |  | open |
                | F5 | A fifth. | `tests/io/test_files.py::test_b` | later |
                | F6 | A sixth. |
                """,
        }
    )
    assert [finding.split(":")[1] for finding in faults_of_the_page(root)] == list("44578")


def carriers(root: Path) -> dict[int, list[tuple[str, str]]]:
    """Return the tests that carry each number, as file and name."""
    tests: dict[int, list[tuple[str, str]]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for function in ast.parse(text).body if "Field fault" in text else ():
            if not isinstance(function, ast.FunctionDef):
                continue
            match = FIELD.match(ast.get_docstring(function) or "")
            for number in re.findall(r"\d+", match[1]) if match else ():
                name = path.relative_to(root).as_posix(), function.name
                tests.setdefault(int(number), []).append(name)
    return tests


def field_faults_of_the_page(root: Path) -> Iterator[str]:
    """Yield the field faults whose line has not exactly the tests that carry its number."""
    text = (root / PAGE).read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\d+) \|(.*)$", text, re.MULTILINE))
    carried = carriers(root)
    for number in range(1, FIELD_FAULTS + 1):
        on_the_page = sorted(TEST.findall(rows.get(str(number), "")))
        if on_the_page != sorted(carried.get(number, ())) or not on_the_page:
            tests = "<br>".join(f"`{file}::{name}`" for file, name in carried.get(number, ()))
            yield f"{PAGE}: the tests of field fault {number} are {tests or 'missing'}"


def test_every_field_fault_has_the_tests_that_carry_its_number():
    findings = list(field_faults_of_the_page(ROOT))
    assert not findings, listed(findings)


def test_a_test_whose_number_is_not_on_the_page_is_found(small):
    rows = [f"| {number} | A. | `tests/test_a.py::test_{number}` |" for number in range(1, 21)]
    tests = [f'def test_{number}():\n    """Field fault {number}."""' for number in range(1, 20)]
    more = 'def test_more():\n    """Field faults 3 and 4: more."""'
    root = small({"docs/faults.md": "\n".join(rows), "tests/test_a.py": "\n".join([*tests, more])})
    findings = list(field_faults_of_the_page(root))
    assert [re.findall(r"fault (\d+) ", finding)[0] for finding in findings] == ["3", "4", "20"]
