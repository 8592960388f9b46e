"""Papers and methods are data: no code knows a paper's id, a table's number or a method's name."""

import ast
import re
from pathlib import Path

from tests.house.tree import ROOT, Source, files, library, rule_files, told

NUMBERED = re.compile(r"\b(?:tables?|figures?|tab\.|fig\.)[ ~_]?\d+", re.IGNORECASE)
EXAMPLE = re.compile(r"^\s*Example: .*$", re.MULTILINE)


def papers(root: Path) -> list[str]:
    """Return the ids of the papers in config/."""
    return sorted(path.parent.name for path in (root / "config" / "papers").glob("*/paper.yaml"))


def methods(root: Path) -> list[str]:
    """Return the names of the methods in config/."""
    return sorted(path.stem for path in (root / "config" / "methods").glob("*.yaml"))


def paper_names(root: Path) -> list[str]:
    """Return lines with a paper's id or a table's or figure's number.

    Tags such as [paper Eq. 5] and the one line of example in a verb's help may have them.
    """
    known = papers(root)
    word = re.compile("|".join([NUMBERED.pattern, *known]), re.IGNORECASE)
    tag = re.compile(rf"\[(?:{'|'.join(known)}) [^\]]*\]")
    found = []
    for path in [*files(root, "lib"), *rule_files(root)]:
        text = tag.sub("", path.read_text(encoding="utf-8")) if known else path.read_text("utf-8")
        name = str(path.relative_to(root))
        if name.startswith("lib/fathom/cli/"):
            text = EXAMPLE.sub("", text)
        for number, line in enumerate(text.split("\n"), 1):
            if match := word.search(line):
                found.append(
                    f"{name}:{number}: knows '{match[0]}'; a paper is data, in config/papers/"
                )
    return found


def method_names(root: Path) -> list[str]:
    """Return identifiers and strings that are a method's name outside the method's own file."""
    known = methods(root)
    found = []
    for source in library(root):
        own = source.module.removeprefix("fathom.methods").strip(".").split(".")[0]
        others = [name for name in known if name != own]
        if others:
            word = re.compile(rf"\b(?:{'|'.join(others)})\b")
            found += _named(source, word)
    for path in rule_files(root) if known else []:
        word = re.compile(rf"\b(?:{'|'.join(known)})\b")
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if match := word.search(line.split("#")[0]):
                name = path.relative_to(root)
                found.append(f"{name}:{number}: knows the method '{match[0]}'; ask the catalog")
    return found


def _named(source: Source, word: re.Pattern[str]) -> list[str]:
    found = []
    for node in source.nodes:
        texts = [getattr(node, part, None) for part in ("id", "attr", "arg", "name", "module")]
        if isinstance(node, ast.Constant) and id(node) not in source.docstrings:
            texts.append(node.value)
        for text in texts:
            if isinstance(text, str) and (match := word.search(text)):
                line = getattr(node, "lineno", 1)
                found.append(
                    f"{source.at(line)}: knows the method '{match[0]}'; load it by its file's name"
                )
    return found


def test_no_code_knows_a_paper():
    found = paper_names(ROOT)
    assert not found, told(found)


def test_no_code_knows_a_method_but_its_own_file():
    found = method_names(ROOT)
    assert not found, told(found)


def test_a_paper_a_table_and_a_method_are_found(small):
    root = small(
        {
            "config/papers/deep/paper.yaml": "",
            "config/methods/gates.yaml": "",
            "lib/fathom/methods/gates.py": 'NAME = "gates"\n',
            "lib/fathom/tables/grid.py": '''
                """Draws gates as in [deep Eq. 5], which is allowed."""

                PAPER = "deep"
                # As in Table 5.
                METHOD = "gates"
                ''',
            "lib/fathom/cli/table.py": '''
                def table():
                    """Draw.

                    Example: fathom table deep_table5
                    """
                ''',
            "workflow/rules/runs.smk": "rule all:\n    input: 'figure4.pdf'\n",
        }
    )
    assert [each.split("'")[0] for each in paper_names(root)] == [
        "lib/fathom/tables/grid.py:3: knows ",
        "lib/fathom/tables/grid.py:4: knows ",
        "workflow/rules/runs.smk:2: knows ",
    ]
    assert [each.split("'")[0] for each in method_names(root)] == [
        "lib/fathom/tables/grid.py:5: knows the method "
    ]
