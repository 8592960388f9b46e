"""Each equation that a paper lists is computed by one function and proven by a test.

Each choice of a method that its paper leaves open is explained in deviations.yaml.
"""

import re
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from fathom.artefacts.equations import entries
from fathom.config.deviations import OPEN
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.schema.paper import Equation
from tests.house.tree import files, listed

NUMBER = r"Eq\. \d+|Alg\. \d+"
SYMBOL = r"[A-Za-z]\w*"
WELL_FORMED = re.compile(rf"(?:{NUMBER})(?: l\. \d+)?|App\. [A-Z](?:\.\d+)*|{SYMBOL}")


def wrong(project: Project) -> Iterator[str]:
    """Yield equations without their function or test, and tags without their equation."""
    equations = {name: paper.about.equations for name, paper in project.papers.items()}
    tags = re.compile(rf"\[({'|'.join(equations)}) ([^\]]*)\]")
    for path in files(project.root, "lib", "tests"):
        at = path.relative_to(project.root)
        for tag in tags.finditer("" if "house" in at.parts else path.read_text(encoding="utf-8")):
            number = re.match(rf"{NUMBER}|{SYMBOL}$", tag[2])
            if not WELL_FORMED.fullmatch(tag[2]):
                yield f"{at}: {tag[0]} is not a tag of one number"
            elif number is not None and number[0] not in equations[tag[1]]:
                yield f"{at}: paper.yaml of {tag[1]} does not list {number[0]}"
    for entry in (each for paper in equations for each in entries(project, paper)):
        if len(entry.functions) != (not entry.reason):
            by = ", ".join(place.name for place in entry.functions)
            yield f"{entry.paper} {entry.name}: computed by {by or 'no function'}"
        if not entry.reason and not entry.tests:
            yield f"{entry.paper} {entry.name}: no test has its tag"


def test_equations_are_computed_once_and_proven(own_project):
    assert not (found := [*wrong(own_project)]), listed(found)


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
    paper = SimpleNamespace(about=SimpleNamespace(equations=equations))
    project: Any = SimpleNamespace(root=root, papers={"deep": paper})
    assert [finding.split(": ")[0] for finding in wrong(project)] == [
        "lib/fathom/methods/gates.py",
        "lib/fathom/methods/gates.py",
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
