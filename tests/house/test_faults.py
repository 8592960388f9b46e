"""docs/faults.md: one line a fault, in the order of their numbers, each with tests that exist."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import ROOT, listed

PAGE = Path("docs") / "faults.md"
FIXED = ("here", "before", "elsewhere")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


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
        if not tests and cells[3] != "elsewhere":
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
                | F4 | A fourth. |  | elsewhere |
                | F5 | A fifth. | `tests/io/test_files.py::test_b` | later |
                | F6 | A sixth. |
                """,
        }
    )
    assert [finding.split(":")[1] for finding in faults_of_the_page(root)] == list("44578")
