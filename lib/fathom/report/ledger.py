"""The ledger as a page: each choice that a paper leaves open, or that is made otherwise."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from fathom.config.yaml_files import read
from fathom.io.files import write_text
from fathom.papers.deviations import Deviation, load
from fathom.papers.paper import Paper

_PARTS = ("paper", "released", "ours", "why")
_NAMES = {"paper": "Paper", "released": "Released code", "ours": "Here", "why": "Because"}


def ledgers(root: Path, papers: Iterable[str]) -> dict[str, tuple[Deviation, ...]]:
    """Read the ledger of each paper that has one.

    Args:
        root: the project's folder.
        papers: ids of papers, in the order of the page.

    Raises:
        FathomError: a ledger is not YAML.
    """
    places = {name: root / "config" / "papers" / name / "deviations.yaml" for name in papers}
    return {name: load(read(path, root)) for name, path in places.items() if path.exists()}


def page(papers: Mapping[str, Paper], entries: Mapping[str, tuple[Deviation, ...]]) -> str:
    """Return all ledgers as Markdown.

    Args:
        papers: the papers by id.
        entries: the ledger of each.
    """
    parts = [
        "# Deviations",
        "What a paper leaves open, or what is done here otherwise, and why. Generated from "
        "config/papers/*/deviations.yaml.",
    ]
    for name, ledger in entries.items():
        parts.append(f"## {name}")
        parts.append(f"{papers[name].reference}.")
        for entry in ledger:
            parts.append(f"### {entry.name}: {entry.title}")
            said = [(part, getattr(entry, part)) for part in _PARTS]
            lines = [f"- **{_NAMES[part]}:** {text}" for part, text in said if text]
            lines.append(f"- **Applies to:** {', '.join(f'`{each}`' for each in entry.applies)}")
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def write(
    papers: Mapping[str, Paper], entries: Mapping[str, tuple[Deviation, ...]], path: Path
) -> None:
    """Write all ledgers to a Markdown file."""
    write_text(path, page(papers, entries))
