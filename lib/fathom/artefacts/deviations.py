"""The page of deviations: what papers leave open or what is done differently, and why."""

from collections.abc import Mapping

from fathom.config.paper import Paper

_PARTS = {"paper": "Paper", "released": "Released code", "ours": "Here", "why": "Because"}


def page(papers: Mapping[str, Paper]) -> str:
    """Return the deviations of all papers as Markdown."""
    parts = [
        "# Deviations",
        "What a paper leaves open or what is done differently here, and why. Generated from "
        "config/papers/*/deviations.yaml.",
    ]
    for paper in papers.values():
        if not paper.deviations:
            continue
        parts += [f"## {paper.name}", f"{paper.reference}."]
        for entry in paper.deviations:
            lines = [
                f"- **{title}:** {text}"
                for part, title in _PARTS.items()
                if (text := getattr(entry, part))
            ]
            lines += _names("Applies to", entry.applies)
            lines += _names("Settings", entry.settings)
            parts += [f"### {entry.name}: {entry.title}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _names(title: str, names: tuple[str, ...]) -> list[str]:
    return [f"- **{title}:** {', '.join(f'`{name}`' for name in names)}"] if names else []
