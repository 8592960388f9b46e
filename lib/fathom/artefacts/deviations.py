"""Deviations: what papers leave open or what is done differently, and why."""

from collections.abc import Collection, Mapping

from fathom.config.deviations import PAPER, Deviation
from fathom.config.paper import Paper

# Attributes of an entry, and what a reader calls them.
PARTS = {"paper": "Paper", "released": "Released code", "ours": "Here", "why": "Because"}


def page(papers: Mapping[str, Paper]) -> str:
    """Return the deviations of all papers as Markdown."""
    parts = [
        "# Deviations",
        "What a paper leaves open or what is done differently here, and why. Generated from "
        "config/papers/*/deviations.yaml.",
    ]
    for paper in papers.values():
        if paper.deviations:
            parts += [f"## {paper.name}", f"{paper.about.reference}."]
        for entry in paper.deviations:
            texts = ((title, getattr(entry, part)) for part, title in PARTS.items())
            lines = [f"- **{title}:** {text}" for title, text in texts if text]
            lines += _names("Applies to", entry.applies)
            lines += _names("Settings", entry.settings)
            parts += [f"### {entry.name}: {entry.title}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def applying(paper: Paper, names: Collection[str]) -> tuple[Deviation, ...]:
    """Return the entries that apply to a run, those of the paper as such included.

    The names are the run's families and method, and the tables and figures that show it.
    """
    names = {*names, PAPER}
    return tuple(entry for entry in paper.deviations if names.intersection(entry.applies))


def _names(title: str, names: tuple[str, ...]) -> list[str]:
    return [f"- **{title}:** {', '.join(f'`{name}`' for name in names)}"] if names else []
