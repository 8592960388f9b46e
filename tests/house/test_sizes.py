"""Files and functions stay small enough to be read in one go."""

from pathlib import Path

from tests.house.tree import ROOT, Function, rule_files, sources, told

PYTHON_FILE, METHOD_FILE, RULE_FILE, FRONT_DOOR, FUNCTION = 400, 300, 140, 80, 60


def oversized(root: Path) -> list[str]:
    """Return files and functions with too many lines."""
    found = []
    for source in sources(root, "lib", "tests", "envs"):
        limit = METHOD_FILE if source.name.startswith("lib/fathom/methods/") else PYTHON_FILE
        found += _too_long(source.name, source.text, limit)
        for node in source.nodes:
            if isinstance(node, Function) and node.end_lineno - node.lineno + 1 > FUNCTION:
                lines = node.end_lineno - node.lineno + 1
                found.append(
                    f"{source.at(node)}: {node.name}: {lines} lines, at most {FUNCTION}; split it"
                )
    for path in rule_files(root):
        limit = FRONT_DOOR if path.name == "Snakefile" else RULE_FILE
        found += _too_long(str(path.relative_to(root)), path.read_text(encoding="utf-8"), limit)
    return found


def _too_long(name: str, text: str, limit: int) -> list[str]:
    lines = text.count("\n")
    return [f"{name}:{limit}: {lines} lines, at most {limit}; split it"] if lines > limit else []


def test_files_and_functions_are_small():
    found = oversized(ROOT)
    assert not found, told(found)


def test_a_long_file_and_a_long_function_are_found(small):
    body = "    x = 1\n" * FUNCTION
    root = small(
        {
            "lib/fathom/data/long.py": f"def f():\n{body}" + "y = 2\n" * PYTHON_FILE,
            "Snakefile": "# A comment.\n" * (FRONT_DOOR + 1),
        }
    )
    assert oversized(root) == [
        "lib/fathom/data/long.py:400: 461 lines, at most 400; split it",
        "lib/fathom/data/long.py:1: f: 61 lines, at most 60; split it",
        "Snakefile:80: 81 lines, at most 80; split it",
    ]
