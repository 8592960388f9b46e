"""Each equation that a paper lists is computed by one function and proven by a test.

Each choice of a method that its paper leaves open is explained in deviations.yaml.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from fathom.artefacts.equations import entries
from fathom.config.deviations import OPEN
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.schema.paper import Equation
from tests.house.tree import ROOT, Function, files, library, listed

NUMBER = r"Eq\. \d+|Alg\. \d+"
SYMBOL = r"[A-Za-z]\w*"
WELL_FORMED = re.compile(rf"(?:{NUMBER})(?: l\. \d+)?|App\. [A-Z](?:\.\d+)*|{SYMBOL}")


class Tag(NamedTuple):
    """A tag such as [paper Eq. 5], and `file:line` of the function, class or line that has it."""

    paper: str
    number: str
    place: str


def tags(text: str, papers: list[str], place: str) -> list[Tag]:
    """Return the tags in a text."""
    pattern = re.compile(rf"\[({'|'.join(papers)}) ([^\]]*)\]")
    return [Tag(match[1], match[2], place) for match in pattern.finditer(text)]


def computing(root: Path, papers: list[str]) -> list[Tag]:
    """Return the tags in the docstrings of functions and classes of the library."""
    return [
        tag
        for source in library(root)
        for node in source.nodes
        if isinstance(node, ast.ClassDef | Function)
        for tag in tags(ast.get_docstring(node) or "", papers, source.at(node))
    ]


def proving(root: Path, papers: list[str]) -> list[Tag]:
    """Return the tags in the tests, but for the house's own."""
    return [
        tag
        for path in files(root, "tests")
        if "house" not in path.relative_to(root).parts
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        for tag in tags(line, papers, f"{path.relative_to(root)}:{number}")
    ]


def wrong(root: Path, equations: Mapping[str, Mapping[str, Equation]]) -> Iterator[str]:
    """Yield equations without their function or test, and tags without their equation."""
    computed, proven = computing(root, [*equations]), proving(root, [*equations])
    for tag in [*computed, *proven]:
        number = re.match(rf"{NUMBER}|{SYMBOL}$", tag.number)
        if not WELL_FORMED.fullmatch(tag.number):
            yield f"{tag.place}: [{tag.paper} {tag.number}] is not a tag of one number"
        elif number is not None and number[0] not in equations[tag.paper]:
            yield f"{tag.place}: paper.yaml of {tag.paper} does not list {number[0]}"
    for paper, of_paper in equations.items():
        for number, equation in of_paper.items():
            by = [tag.place for tag in computed if tag[:2] == (paper, number)]
            if len(by) != (not equation.reason):
                yield f"{paper} {number}: computed by {', '.join(by) or 'no function'}"
            if not equation.reason and not any(tag[:2] == (paper, number) for tag in proven):
                yield f"{paper} {number}: no test has its tag"


def test_equations_are_computed_once_and_proven(own_project):
    papers = {name: paper.about.equations for name, paper in own_project.papers.items()}
    found = [*wrong(ROOT, papers)]
    for entry in (each for name in papers for each in entries(own_project, name)):
        if not entry.reason and not entry.tests:
            found.append(f"{entry.paper} {entry.name}: `fathom where` shows no test")
    assert not found, listed(found)


def test_gaps_and_strays_are_found(small):
    again = "Draw a gate [deep Eq. 5] and lose it [deep Eq. 9], [deep Eq. 1, 2]."
    root = small(
        {
            "lib/fathom/methods/gates.py": 'def sample():\n    """Draw.\n\n    [deep Eq. 5]\n'
            f'    """\n\n\ndef again():\n    """{again}"""\n',
            "tests/methods/test_gates.py": "def test_x():  # [deep Eq. 5]\n    pass\n",
        }
    )
    equations = {
        "Eq. 5": Equation(title="Sample"),
        "Alg. 2": Equation(title="Training"),
        "Eq. 3": Equation(title="Bound", reason="intractable"),
    }
    assert [finding.split(": ")[0] for finding in wrong(root, {"deep": equations})] == [
        "lib/fathom/methods/gates.py:8",
        "lib/fathom/methods/gates.py:8",
        "deep Eq. 5",
        "deep Alg. 2",
        "deep Alg. 2",
    ]


def unexplained(project: Project, papers: Mapping[str, Paper]) -> Iterator[str]:
    """Yield open settings of cards, and methods of no paper, that no entry of a paper explains."""
    users: dict[str, set[str]] = {}
    for name in project.entries:
        users.setdefault(project.run(name).method.name, set()).add(name.split("/")[0])
    for name, card in project.methods.items():
        using = sorted(users.get(name, ()))
        entries = [
            entry
            for paper in ([card.about.paper] if card.about.paper else using)
            for entry in papers[paper].deviations
        ]
        explained = {setting for entry in entries for setting in entry.settings}
        for key, setting in card.about.settings.items():
            if OPEN.search(setting.source) and f"method.{key}" not in explained:
                yield f"{name}: no entry has method.{key}"
        for paper in using if card.about.paper is None and card.about.stacks else []:
            if not any(name in entry.applies for entry in papers[paper].deviations):
                yield f"{name}: no entry of {paper} applies to it"


def test_every_open_choice_of_a_method_is_in_an_entry(own_project):
    found = [*unexplained(own_project, own_project.papers)]
    assert not found, listed(found)


def test_an_open_choice_and_a_method_without_a_paper_are_found(own_project):
    paper = own_project.papers["latent_depth"]
    fewer = tuple(
        entry
        for entry in paper.deviations
        if "dlcl" not in entry.applies and "method.tau" not in entry.settings
    )
    papers = {**own_project.papers, paper.name: SimpleNamespace(deviations=fewer)}
    assert [*unexplained(own_project, papers)] == [
        "dlcl: no entry of latent_depth applies to it",
        "latent_layers: no entry has method.sample",
        "latent_layers: no entry has method.straight_through_after",
        "latent_layers: no entry has method.tau",
    ]
