"""Update README.md: what is judged, what can be run, the table of averages, and the picture.

    python docs/readme_table.py

Counts and status come from config/. Counts of text, averages and picture come from results/, where
they exist.
"""

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.judged import judged_today
from fathom.artefacts.needs import Artefact, Needs
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.tables import Table

ROOT = Path(__file__).parents[1]
SCALE = "tiny"
RESULTS = ROOT / "results" / SCALE
COMPARED = ("latent_depth", "table5", "avg")
COLUMNS = ("row", "reported", "reproduced", "stderr", "seeds", "verdict")
PICTURE = RESULTS / "latent_depth" / "figure4.png"
IMAGES = ROOT / "docs" / "images"


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


def averages(comparison: Path) -> str:
    """Return the average of each row next to the reported one, as Markdown."""
    with open(comparison, encoding="utf-8", newline="") as stream:
        lines = [
            line
            for line in csv.DictReader(stream)
            if (line["paper"], line["table"], line["column"]) == COMPARED
        ]
    rows = [[line[column] for column in COLUMNS] for line in lines]
    for row in rows:
        row[2:4] = [f"{float(number):.2f}" if number else "" for number in row[2:4]]
    head = ["| " + " | ".join(COLUMNS) + " |", "|---|--:|--:|--:|--:|---|"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def replaced(readme: str, part: str, text: str) -> str:
    """Return the README with the text between the marks of a part replaced."""
    begin, end = f"<!-- begin: {part} -->\n", f"<!-- end: {part} -->"
    before, _, rest = readme.partition(begin)
    return f"{before}{begin}{text}{end}{rest.partition(end)[2]}"


def main() -> None:
    """Update README.md and docs/images."""
    readme = ROOT / "README.md"
    project = load(ROOT)
    text = replaced(readme.read_text(encoding="utf-8"), "judged", judged(project))
    text = replaced(text, "status", status(project))
    if (RESULTS / "compare.csv").exists():
        text = replaced(text, "averages", averages(RESULTS / "compare.csv"))
    readme.write_text(text, encoding="utf-8")
    if PICTURE.exists():
        IMAGES.mkdir(exist_ok=True)
        shutil.copy(PICTURE, IMAGES / PICTURE.name)


if __name__ == "__main__":
    main()
