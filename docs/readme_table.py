"""Update the numbers of README.md, of the tutorial and of the page of claims.

    python -m docs.readme_table

`make freeze` does it, too. Counts and status come from config/, trainings and gains from
docs/results, and counts of text from results/, where they exist.
"""

import re
from collections import Counter
from pathlib import Path

from docs import first_result as first
from docs.evidence import BASE, KEPT, PAPER, ROOT, RUNS, SCALE, TABLE, replaced, scores, tables
from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.judged import judged_today
from fathom.artefacts.needs import Needs
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.results.measurements import FINISHED
from fathom.results.tree import rows
from fathom.scoring.students_t import OUTSIDE, holm, p_value

README, TUTORIAL, CLAIMS = PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "tutorial.md",
    ROOT / "docs" / "claims.md",
)
# Who says what a claim says, and what answers it without our results.
READINGS = {
    "printed": "the sentence says it; answers of the paper's own cells",
    "ours": "our reading of a sentence that says less; answers on the same cells",
}
SMALLEST, DEPTHS, AVERAGE = "tiny", "deep", "avg"
AGAIN = "docs/results.md#your-own-results-compared-with-these"
CONFIDENCE = round(100 * (1 - OUTSIDE))
# Notes of printed cells whose run had no result.
FAILED = ("failed", "diverged")
# Tables and figures that the paper prints; those of our controls have no number.
_PRINTED = re.compile(r"(table|figure)\d+")


def judged(project: Project, results: Path = ROOT / "results") -> str:
    """Return what needs no training, as Markdown; text is counted in a folder of results."""
    return f"- {judged_today(Artefacts(project, Paths(results, SMALLEST)), project.papers)}\n"


def trained(project: Project, folder: Path = KEPT / DEPTHS) -> str:
    """Return how trainings at the papers' depths ended, by paper, as Markdown."""
    lines, found = rows(folder / RUNS), ""
    for paper in project.papers.values():
        ends: dict[str, list[str]] = {}
        failed, names = set(), []
        for name, cells in tables(folder).items():
            table = name.partition("/")[2]
            if name.startswith(f"{paper.name}/") and _PRINTED.fullmatch(table):
                printed = {
                    (line["row"], line["column"])
                    for line in rows(paper.reported(table))
                    if line["note"].startswith(FAILED)
                }
                ran = [cell for cell in cells if cell["run"]]
                ends |= {cell["run"]: [] for cell in ran}
                failed |= {cell["run"] for cell in ran if (cell["row"], cell["column"]) in printed}
                names.append(table.removeprefix("table"))
        for line in lines:
            ends.get(line["run"], []).append(line["outcome"])
        outcomes = [outcome for of_run in ends.values() for outcome in of_run]
        if not outcomes:
            continue
        here = [run for run in failed if {*ends[run]} == {FINISHED}]
        seeds = max(map(len, ends.values()))
        those = f"Of {len(failed)} runs that failed in the paper, {len(here)}"
        if len(here) == len(failed):
            those = f"The {len(failed)} runs" if len(failed) > 1 else "The run"
            those += " that failed in the paper"
        found += (
            f"- {paper.about.title}, Table{'s' * (len(names) > 1)} {', '.join(names)}, with the "
            f"paper's depths: {outcomes.count(FINISHED)} of {len(outcomes)} trainings finished. "
            f"{those} train{'s' * (len(here) == 1)} here "
            f"({seeds} seed{'s each' if seeds > 1 else ''}).\n"
        )
    return found


def first_result(project: Project, folder: Path = KEPT / first.SCALE) -> str:
    """Return the table that `make reproduce` prints, of the kept results, as Markdown."""
    found = list(first.gains(project, folder))
    return f"{first.as_table(found)}\n{first.sentence(project, found)}"


def gains(project: Project, folder: Path = KEPT / SCALE) -> str:
    """Return how many rows of the paper differ from the base, with Holm's correction, as text."""
    cells = {(line["row"], line["column"]): line for line in rows(folder / PAPER / f"{TABLE}.csv")}
    less, _ = scores(folder, cells)
    reported = rows(project.papers[PAPER].reported(TABLE))
    printed = dict.fromkeys(line["row"] for line in reported if line["column"] == AVERAGE)
    trained = [row for row in printed if row != BASE and cells[row, AVERAGE]["value"]]
    gaps = [less(row, BASE) for row in trained]
    corrected = holm([p_value(gap.value, gap.parts) for gap in gaps])
    certain = [gap.value for gap, p in zip(gaps, corrected, strict=True) if p < OUTSIDE]
    better, worse = sum(value > 0 for value in certain), sum(value < 0 for value in certain)
    title = f"{project.papers[PAPER].about.title}, Table {TABLE.removeprefix('table')}"
    return (
        f"- {title}, with a quarter of the paper's depth and {cells[BASE, AVERAGE]['seeds']} seeds "
        f"([one command]({AGAIN})): {better} of {len(trained)} rows beat {BASE} by BLEU, "
        f"{worse} are worse ({CONFIDENCE} %, Holm's correction for the rows).\n"
    )


def status(project: Project) -> str:
    """Return how many tables and figures of each paper can be made at the smallest scale."""
    needs = Needs(project, SMALLEST)
    papers, total = [], 0
    for paper in project.papers.values():
        made = [
            match[1]
            for item in needs.artefacts.values()
            if item.paper is paper and not needs.not_built(item)
            if (match := _PRINTED.fullmatch(item.spec.name))
        ]
        if not paper.is_study:
            counts = (f"{made.count(kind)} {kind}s" for kind in ("table", "figure"))
            papers.append(f"[{paper.about.title}]({paper.about.url}) ({', '.join(counts)})")
            total += len(made)
    return f"{total} tables and figures can be run: {'; '.join(papers)}.\n"


def averages(project: Project, folder: Path = KEPT / SMALLEST) -> str:
    """Return the average of each row at the smallest scale, the paper's beside it, as Markdown."""
    ours = {
        line["row"]: line
        for line in rows(folder / PAPER / f"{TABLE}.csv")
        if line["column"] == AVERAGE
    }
    lines = ["| row | paper | here |", "|---|--:|--:|"]
    for paper in rows(project.papers[PAPER].reported(TABLE)):
        if paper["column"] == AVERAGE:
            cell = ours[paper["row"]]
            here = f"{float(cell['value']):.2f}" if cell["value"] else cell["words"]
            printed = paper["value"] or paper["note"].partition(",")[0]
            lines.append(f"| {paper['row']} | {printed} | {here} |")
    return "\n".join(lines) + "\n"


def claims(project: Project) -> str:
    """Return how many parts of claims each answer has on the papers' own cells, as Markdown."""
    written = [claim for of_paper in project.claims.values() for claim in of_paper.values()]
    about_figures = sum(bool(claim.figures) for claim in written)
    counts = Counter((part.reading, part.supports) for claim in written for part in claim.parts)
    judged = f"{len(written) - about_figures} claims about tables have {counts.total()} parts"
    lines = [f"The papers' {judged}; {about_figures} further sentences are about figures.", ""]
    lines.append("| reading | parts | hold | fail | not printed, or undecided |")
    lines.append("|---|--:|--:|--:|--:|")
    for reading, words in READINGS.items():
        total = sum(number for (each, _), number in counts.items() if each == reading)
        hold, fail = counts[reading, "holds"], counts[reading, "fails"]
        lines.append(f"| {reading}: {words} | {total} | {hold} | {fail} | {total - hold - fail} |")
    return "\n".join((*lines, ""))


def parts(project: Project) -> dict[tuple[Path, str], str]:
    """Return what config/ and docs/results alone give, by page and part."""
    return {
        (README, "first result"): first_result(project),
        (README, "trained"): trained(project),
        (README, "gains"): gains(project),
        (README, "status"): status(project),
        (TUTORIAL, "averages"): averages(project),
        (CLAIMS, "counts"): claims(project),
    }


def main() -> None:
    """Update the pages."""
    project = load(ROOT)
    for (page, name), part in {(README, "judged"): judged(project), **parts(project)}.items():
        text = replaced(page.read_text(encoding="utf-8"), name, part)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
