"""Each equation that a paper lists is computed by one function and proven by a test."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from fathom.config.load import load
from fathom.config.schema.paper import Equation
from tests.house.tree import ROOT, Function, files, library, listed

NUMBER = r"Eq\. \d+|Alg\. \d+"
SYMBOL = r"[A-Za-z]\w*"
WELL_FORMED = re.compile(rf"(?:{NUMBER})(?: l\. \d+)?|App\. [A-Z](?:\.\d+)*|{SYMBOL}")


@dataclass(frozen=True)
class Tag:
    """A tag such as [paper Eq. 5], and `file:line` of the function, class or line that has it."""

    paper: str
    number: str
    place: str


def tags_in(text: str, papers: list[str], place: str) -> list[Tag]:
    """Return the tags in a text."""
    pattern = re.compile(rf"\[({'|'.join(papers)}) ([^\]]*)\]")
    return [Tag(match[1], match[2], place) for match in pattern.finditer(text)]


def claims(root: Path, papers: list[str]) -> list[Tag]:
    """Return the tags in the docstrings of functions and classes of the library."""
    return [
        tag
        for source in library(root)
        for node in source.nodes
        if isinstance(node, ast.ClassDef | Function)
        for tag in tags_in(ast.get_docstring(node) or "", papers, source.at(node))
    ]


def proofs(root: Path, papers: list[str]) -> list[Tag]:
    """Return the tags in the tests, but for the house's own."""
    return [
        tag
        for path in files(root, "tests")
        if "house" not in path.relative_to(root).parts
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        for tag in tags_in(line, papers, f"{path.relative_to(root)}:{number}")
    ]


def wrong(root: Path, equations: dict[str, dict[str, Equation]]) -> list[str]:
    """Return equations without their function or test, and tags without their equation.

    Args:
        root: the project's folder.
        equations: by paper and number, as in paper.yaml.
    """
    papers = list(equations)
    claimed, proven = claims(root, papers), proofs(root, papers)
    found = []
    for tag in [*claimed, *proven]:
        known = equations[tag.paper]
        if not WELL_FORMED.fullmatch(tag.number):
            found.append(f"{tag.place}: [{tag.paper} {tag.number}] is no tag; one number a tag")
        elif (listed := re.match(rf"{NUMBER}|{SYMBOL}$", tag.number)) and listed[0] not in known:
            found.append(f"{tag.place}: {tag.paper} lists no {listed[0]}; add it to paper.yaml")
    for paper, known in equations.items():
        for number, equation in known.items():
            by = [tag.place for tag in claimed if (tag.paper, tag.number) == (paper, number)]
            tests = [tag.place for tag in proven if (tag.paper, tag.number) == (paper, number)]
            place = f"config/papers/{paper}/paper.yaml: equations.{number}"
            if not equation.computed:
                found += [f"{each}: computes {number}, but {place} says why not" for each in by]
                continue
            if len(by) != 1:
                where = ", ".join(by) or "none"
                found.append(f"{place}: one function computes it by its tag, not {where}")
            if not tests:
                found.append(f"{place}: no test has its tag; prove it in one")
    return found


def test_equations_are_computed_once_and_proven():
    catalog = load(ROOT, check=False)
    found = wrong(ROOT, {name: paper.about.equations for name, paper in catalog.papers.items()})
    assert not found, listed(found)


def test_a_card_lists_equations_that_its_paper_lists():
    catalog = load(ROOT, check=False)
    unknown = [
        f"config/methods/{card.name}.yaml: {card.about.paper} lists no {number}"
        for card in catalog.methods.values()
        for number in card.about.equations
        if number not in catalog.papers[card.about.paper].about.equations
    ]
    assert not unknown, listed(unknown)


@pytest.fixture
def tagged(small) -> Path:
    return small(
        {
            "lib/fathom/methods/gates.py": '''
                def sample():
                    """Draw a gate.

                    [deep Eq. 5]
                    """


                def again():
                    """Draw a gate [deep Eq. 5] and lose it [deep Eq. 9], [deep Eq. 1, 2]."""
                ''',
            "tests/methods/test_gates.py": "def test_x():  # [deep Eq. 5]\n    pass\n",
        }
    )


def test_gaps_and_strays_are_found(tagged):
    listed = {
        "Eq. 5": Equation(title="Sample"),
        "Alg. 2": Equation(title="Training"),
        "Eq. 3": Equation(title="Bound", reason="intractable"),
    }
    assert wrong(tagged, {"deep": listed}) == [
        "lib/fathom/methods/gates.py:8: deep lists no Eq. 9; add it to paper.yaml",
        "lib/fathom/methods/gates.py:8: [deep Eq. 1, 2] is no tag; one number a tag",
        "config/papers/deep/paper.yaml: equations.Eq. 5: one function computes it by its tag, not "
        "lib/fathom/methods/gates.py:1, lib/fathom/methods/gates.py:8",
        "config/papers/deep/paper.yaml: equations.Alg. 2: one function computes it by its tag, "
        "not none",
        "config/papers/deep/paper.yaml: equations.Alg. 2: no test has its tag; prove it in one",
    ]
