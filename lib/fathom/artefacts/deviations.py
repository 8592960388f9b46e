"""Deviations: what papers leave open or what is done differently, and why."""

from collections.abc import Collection, Mapping

from fathom.artefacts.rendering import environment
from fathom.config.deviations import PAPER, Deviation
from fathom.config.paper import Paper

# Attributes of an entry, and what a reader calls them.
PARTS = {"paper": "Paper", "released": "Released code", "ours": "Here", "why": "Because"}


def page(papers: Mapping[str, Paper]) -> str:
    """Return the deviations of all papers as Markdown."""
    template = environment().get_template("deviations.md")
    return template.render(papers=papers.values(), parts=PARTS)


def applying(paper: Paper, names: Collection[str]) -> tuple[Deviation, ...]:
    """Return the entries of a run's families, method, tables and figures, and of all of a paper."""
    names = {*names, PAPER}
    return tuple(entry for entry in paper.deviations if names.intersection(entry.applies))
