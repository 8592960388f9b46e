"""Deviations on the page: which of them apply to a run in a table or figure."""

from collections.abc import Collection

from fathom.config.deviations import PAPER, Deviation
from fathom.config.paper import Paper

PARTS = {"paper": "Paper", "released": "Released code", "ours": "Here", "why": "Because"}


def fragment(entry: Deviation) -> str:
    """Return the id of an entry on the page."""
    return f"deviation-{entry.name}"


def applying(paper: Paper, names: Collection[str]) -> tuple[Deviation, ...]:
    """Return the entries that apply to something, those of the paper as such included.

    Args:
        paper: the paper.
        names: the run's families and method, and the tables and figures that show it.
    """
    own = {*names, PAPER}
    return tuple(entry for entry in paper.deviations if own.intersection(entry.applies))
