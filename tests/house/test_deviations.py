"""Every choice of a method that its paper leaves open, and every method without one, is explained.

`fathom validate` looks at runs.yaml in the same way (config/deviations.py); a paper that only
borrows a method need not explain the method's own choices.
"""

from collections.abc import Iterator
from types import SimpleNamespace

from fathom.config.deviations import OPEN
from fathom.config.project import Project
from fathom.config.schema.method import MethodCard
from tests.house.tree import listed


def users(project: Project, card: MethodCard) -> list[str]:
    """Return the papers of which a run has the method."""
    return sorted(
        {name.split("/")[0] for name in project.entries if _method(project, name) == card.name}
    )


def _method(project: Project, run: str) -> str:
    return project.run(run).method.name


def unexplained(project: Project) -> Iterator[str]:
    """Yield the open settings of cards, and the cards without a paper, that no entry names."""
    for card in project.methods.values():
        about, using = card.about, users(project, card)
        papers = [project.papers[name] for name in ([about.paper] if about.paper else using)]
        entries = [entry for paper in papers for entry in paper.deviations]
        named = {setting for entry in entries for setting in entry.settings}
        for name, setting in about.settings.items():
            if OPEN.search(setting.source) and f"method.{name}" not in named:
                yield f"{card.file.place('settings', name)}: no entry has method.{name}"
        for name in using if about.paper is None and about.stacks else []:
            if not any(card.name in entry.applies for entry in project.papers[name].deviations):
                yield f"{card.file.file}: no entry of {name} applies to {card.name}"


def test_every_open_choice_of_a_method_is_in_an_entry(own_project):
    findings = list(unexplained(own_project))
    assert not findings, listed(findings)


def test_an_open_choice_and_a_method_without_a_paper_are_found(own_project):
    paper = own_project.papers["latent_depth"]
    others = [
        entry
        for entry in paper.deviations
        if "dlcl" not in entry.applies and "method.tau" not in entry.settings
    ]
    assert len(others) == len(paper.deviations) - 2
    papers = {**own_project.papers, paper.name: SimpleNamespace(deviations=others)}
    project = SimpleNamespace(
        methods=own_project.methods, entries=own_project.entries, run=own_project.run, papers=papers
    )
    findings = list(unexplained(project))
    assert [finding.partition(": no entry ")[2] for finding in findings] == [
        "of latent_depth applies to dlcl",
        "has method.sample",
        "has method.straight_through_after",
        "has method.tau",
    ]
