"""Papers and methods are data: no code knows a paper's id, a table's number or a method's name.

Comments and docstrings may cite a paper; names, values and rules may not.
"""

import ast
import re
from pathlib import Path

import pytest
import yaml

from tests.house.tree import ROOT, Source, library, listed, rule_files

QUOTED = ("sentence", "context")
NUMBERED = r"\b(?:tables?|figures?|tab\.|fig\.)[ ~_]?\d+"
CLAIMS = "config/papers/deep/claims.yaml"
DATA = "a paper is data, in config/papers/"
CONJUNCTIONS = "and|but|or|nor|so|yet|as|while|whereas|where|when|because|since|if|though|although"
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


def broken_quotations(root: Path) -> list[str]:
    """Return sentences of claims that their context lacks, or that break off within a clause."""
    # Behind the last quoted word: the end, a punctuation mark or a conjunction.
    end = rf"(?=\s*(?:$|[^\w\s]|(?:{CONJUNCTIONS})\b))"
    findings = []
    for path in sorted(root.glob("config/papers/*/claims.yaml")):
        for name, claim in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            sentence, context = (" ".join(claim.get(key, "").split()) for key in QUOTED)
            parts = [re.escape(part.strip()) for part in re.split("…", sentence.rstrip(".)"))]
            if context and not re.search(rf"\b{'.*?'.join(parts)}{end}", context):
                findings.append(f"{path.relative_to(root)}: {name} is not what its context says")
    return findings


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


def test_a_quoted_sentence_stands_in_its_context_up_to_the_end_of_a_clause():
    findings = broken_quotations(ROOT)
    assert not findings, listed(findings)


@pytest.mark.parametrize(
    ("sentence", "fits"),
    [
        ("we observed stable training … achieved better performance for 24 layers", True),
        ("For 24 and 48 layer encoders, we observed stable training with 2x learning rate", True),
        # It made a sentence on 24 layers one on 48.
        ("For 24 and 48 layer encoders, we observed … achieved better performance", False),
        ("achieved better performance for 24 layers … we observed stable training", False),
        ("we observed a stable training", False),
    ],
)
def test_a_quotation_that_breaks_off_is_found(small, sentence, fits):
    context = (
        "For 24 and 48 layer encoders, we observed stable training with 2x learning rate\n"
        "  and achieved better performance for 24 layers."
    )
    text = yaml.safe_dump({"gains": {"sentence": sentence, "context": context}})
    found = broken_quotations(small({"config/papers/deep/claims.yaml": text}))
    assert found == ([] if fits else [f"{CLAIMS}: gains is not what its context says"])


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
