"""How to cite the paper and the reproduction."""

from collections.abc import Iterable
from importlib.metadata import version

from fathom.artefacts.page.runs import Run
from fathom.config.schema.paper import PaperSettings


def bibtex(about: PaperSettings) -> str:
    """Return the BibTeX entry of a paper."""
    fields = about.citation.fields()
    kind, key = fields.pop("type"), fields.pop("key")
    entry = {"title": f"{{{about.title}}}", "author": " and ".join(about.authors), **fields}
    entry["url"] = about.url
    width = max(map(len, entry))
    lines = [f"  {name:{width}} = {{{value}}}," for name, value in entry.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def software(scale: str, runs: Iterable[Run]) -> str:
    """Return what to cite of the reproduction: version, commits and scale."""
    files = [training.file for run in runs for training in run.ended]
    commits = sorted({file.commit[:12] for file in files if file and file.commit})
    sources = f", trained by commit {', '.join(commits)}" if commits else ""
    return f"fathom {version('fathom')}, scale {scale}{sources}"
