"""Files and functions small enough to be read at once: advice, printed as warnings."""

import warnings
from pathlib import Path

import pytest

from tests.house.tree import ROOT, Function, rule_files, sources

PYTHON_FILE, METHOD_FILE, RULE_FILE, FRONT_DOOR, FUNCTION = 400, 300, 140, 80, 60


def oversized(root: Path) -> list[str]:
    """Return files and functions with too many lines."""
    findings = []
    for source in sources(root, "lib", "tests", "envs"):
        limit = METHOD_FILE if source.name.startswith("lib/fathom/methods/") else PYTHON_FILE
        findings += _too_long(source.name, source.text, limit)
        for node in source.nodes:
            if isinstance(node, Function) and node.end_lineno - node.lineno + 1 > FUNCTION:
                lines = node.end_lineno - node.lineno + 1
                findings.append(
                    f"{source.at(node)}: {node.name}: {lines} lines, at most {FUNCTION}; split it"
                )
    for path in rule_files(root):
        limit = FRONT_DOOR if path.name == "Snakefile" else RULE_FILE
        findings += _too_long(str(path.relative_to(root)), path.read_text(encoding="utf-8"), limit)
    return findings


def _too_long(name: str, text: str, limit: int) -> list[str]:
    lines = text.count("\n")
    return [f"{name}:{limit}: {lines} lines, at most {limit}; split it"] if lines > limit else []


@pytest.mark.slow
def test_long_files_and_functions_are_named_in_warnings():
    for finding in oversized(ROOT):
        warnings.warn(finding, stacklevel=1)


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
