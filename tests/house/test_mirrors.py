"""Every module has its test file, and every test file its module."""

from pathlib import Path

from tests.house.tree import LEVELS, ROOT, files, library, listed


def unmirrored(root: Path) -> list[str]:
    """Return modules without a test file and test files without a module."""
    wanted = {}
    for source in library(root):
        if source.path.name != "__init__.py":
            below = source.path.relative_to(root / "lib" / "fathom")
            wanted[root / "tests" / below.with_name(f"test_{below.name}")] = source.name
    rooms = [f"tests/{room}" for room in LEVELS if room != "errors"]
    present = {path for path in files(root, *rooms) if path.name.startswith("test_")}
    present |= set((root / "tests").glob("test_*.py"))
    missing = [
        f"{module}:1: no test; write {test.relative_to(root)}"
        for test, module in sorted(wanted.items())
        if test not in present
    ]
    orphans = [
        f"{test.relative_to(root)}:1: tests no module of that name; rename it or delete it"
        for test in sorted(present - set(wanted))
    ]
    return missing + orphans


def test_modules_and_tests_mirror_each_other():
    found = unmirrored(ROOT)
    assert not found, listed(found)


def test_a_missing_test_and_an_orphan_are_found(small):
    root = small(
        {
            "lib/fathom/data/__init__.py": "",
            "lib/fathom/data/split.py": "",
            "lib/fathom/data/formats/po.py": "",
            "tests/data/test_split.py": "",
            "tests/data/test_gone.py": "",
        }
    )
    assert unmirrored(root) == [
        "lib/fathom/data/formats/po.py:1: no test; write tests/data/formats/test_po.py",
        "tests/data/test_gone.py:1: tests no module of that name; rename it or delete it",
    ]
