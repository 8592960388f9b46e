"""Papers and methods are data: no code knows a paper's id, a table's number or a method's name.

Comments and docstrings may cite a paper; names, values and rules may not.
"""

import ast
import re
from pathlib import Path

import pytest

from tests.house.tree import ROOT, Source, library, listed, rule_files

NUMBERED = r"\b(?:tables?|figures?|tab\.|fig\.)[ ~_]?\d+"
DATA = "a paper is data, in config/papers/"
OWN_FILE = "load it by its file's name"


def names_in(root: Path, pattern: str) -> list[str]:
    """Return the names that config/ has: of papers, or of methods."""
    return sorted(
        path.parent.name if path.stem == "paper" else path.stem
        for path in (root / "config").glob(pattern)
    )


def paper_names(root: Path) -> list[str]:
    """Return names and values that are a paper's id or a table's or figure's number."""
    word = re.compile("|".join([NUMBERED, *names_in(root, "papers/*/paper.yaml")]), re.IGNORECASE)
    findings = [line for source in library(root) for line in _named(source, word, DATA)]
    return findings + _in_rules(root, word, DATA)


def method_names(root: Path) -> list[str]:
    """Return names and values that are a method's name outside the method's own files."""
    methods, findings = names_in(root, "methods/*.yaml"), []
    for source in library(root):
        mine = source.module.removeprefix("fathom.methods").strip(".").split(".")[0]
        if others := "|".join(name for name in methods if name != mine):
            findings += _named(source, re.compile(rf"\b(?:{others})\b"), OWN_FILE)
    return findings + _in_rules(root, re.compile(rf"\b(?:{'|'.join(methods)})\b"), OWN_FILE)


def _named(source: Source, word: re.Pattern[str], remedy: str) -> list[str]:
    """Return identifiers and strings that have the word; a sentence is prose, and may have it."""
    findings = []
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("fathom"):
            continue
        texts = [getattr(node, part, None) for part in ("id", "attr", "arg", "name", "module")]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts += [] if " " in node.value else [node.value]
        for text in texts:
            if isinstance(text, str) and (match := word.search(text)):
                line = getattr(node, "lineno", 1)
                findings.append(f"{source.at(line)}: knows '{match[0]}'; {remedy}")
    return findings


def _in_rules(root: Path, word: re.Pattern[str], remedy: str) -> list[str]:
    return [
        f"{path.relative_to(root)}:{number}: knows '{match[0]}'; {remedy}"
        for path in rule_files(root)
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if (match := word.search(line.split("#")[0]))
    ]


@pytest.mark.parametrize("rule", [paper_names, method_names])
def test_no_code_knows_a_paper_or_a_method_but_its_own_file(rule):
    findings = rule(ROOT)
    assert not findings, listed(findings)


def test_a_paper_a_table_and_a_method_are_found(small):
    lines = '"""Draws gates as in [deep Eq. 5], Table 5."""\n\nPAPER = "deep"\nTABLE = "table5"\n'
    root = small(
        {
            "config/papers/deep/paper.yaml": "",
            "config/methods/gates.yaml": "",
            "lib/fathom/methods/gates.py": 'NAME = "gates"\n',
            "lib/fathom/tables/grid.py": f'{lines}METHOD = "gates"\n',
            "workflow/rules/runs.smk": "rule all:\n    input: 'figure4.pdf'\n",
        }
    )
    found = [finding.split(": ")[0] for finding in (*paper_names(root), *method_names(root))]
    grid = "lib/fathom/tables/grid.py"
    assert found == [f"{grid}:3", f"{grid}:4", "workflow/rules/runs.smk:2", f"{grid}:5"]
