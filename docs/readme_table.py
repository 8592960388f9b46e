"""Update README.md: what is judged, what can be run, and the table of averages.

    python docs/readme_table.py

Counts and status come from config/, averages from docs/results, and counts of text from results/,
where they exist.
"""

from collections.abc import Iterator
from pathlib import Path

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.judged import judged_today
from fathom.artefacts.needs import Artefact, Needs
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.tables import Table
from fathom.results.tree import rows

ROOT = Path(__file__).parents[1]
SCALE = "tiny"
KEPT = ROOT / "docs" / "results"
IMAGES = ROOT / "docs" / "images"
PAPER, TABLE, COLUMN = "latent_depth", "table5", "avg"


def judged(project: Project, results: Path = ROOT / "results") -> str:
    """Return what needs no training, as Markdown; text is counted in a folder of results."""
    return f"{judged_today(Artefacts(project, Paths(results, SCALE)), project.papers)}\n"


def status(project: Project) -> str:
    """Return papers, what can be made of each at the scale, and what cannot, as Markdown."""
    needs = Needs(project, SCALE)
    lines = ["| paper | can be run today | not built yet | reason |", "|---|---|---|---|"]
    for paper in project.papers.values():
        if paper.is_study:
            continue
        artefacts = [item for item in needs.artefacts.values() if item.paper is paper]
        missing = [item for item in artefacts if needs.not_built(item)]
        built = [item for item in artefacts if item not in missing]
        reasons = dict.fromkeys(reason for item in missing for reason in _reasons(needs, item))
        cells = (
            f"[{paper.about.title}]({paper.about.url})",
            _names(built),
            _names(missing),
            "; ".join(reasons),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _names(artefacts: list[Artefact]) -> str:
    """Return `Tables 1, 5 · Figure 4`."""
    parts = []
    for word, is_kind in (("Table", True), ("Figure", False)):
        names = [item.spec.name for item in artefacts if isinstance(item.spec, Table) is is_kind]
        if names:
            numbers = ", ".join(name.removeprefix(word.lower()) for name in names)
            parts.append(f"{word}{'s' if len(names) > 1 else ''} {numbers}")
    return " · ".join(parts) or "none"


def _reasons(needs: Needs, artefact: Artefact) -> Iterator[str]:
    """Yield why an artefact cannot be made, without the names of its runs and settings."""
    project = needs.project
    datasets = [needs.dataset(corpus) for corpus in artefact.corpora]
    for name in artefact.runs:
        datasets.append(project.run(name, needs.scale).data.dataset)
    yield from filter(None, (project.datasets[dataset].not_built for dataset in datasets))


def averages(project: Project) -> str:
    """Return the kept average of each row next to the printed one, as Markdown."""
    reported = rows(project.papers[PAPER].reported(TABLE))
    printed = {line["row"]: line for line in reported if line["column"] == COLUMN}
    lines = ["| row | printed | here | stderr |", "|---|--:|--:|--:|"]
    for line in rows(KEPT / SCALE / PAPER / f"{TABLE}.csv"):
        if line["column"] == COLUMN and (paper := printed.get(line["row"])):
            word = paper["value"] or paper["note"].partition(",")[0]
            numbers = (f"{float(line[column]):.2f}" for column in ("value", "stderr"))
            lines.append(f"| {' | '.join((line['row'], word, *numbers))} |")
    return "\n".join(lines) + "\n"


def replaced(readme: str, part: str, text: str) -> str:
    """Return the README with the text between the marks of a part replaced."""
    begin, end = f"<!-- begin: {part} -->\n", f"<!-- end: {part} -->"
    before, _, rest = readme.partition(begin)
    return f"{before}{begin}{text}{end}{rest.partition(end)[2]}"


def main() -> None:
    """Update README.md."""
    readme = ROOT / "README.md"
    project = load(ROOT)
    text = replaced(readme.read_text(encoding="utf-8"), "judged", judged(project))
    text = replaced(text, "status", status(project))
    text = replaced(text, "averages", averages(project))
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
