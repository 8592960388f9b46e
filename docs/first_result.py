"""The first result, by `make reproduce`: transparent attention against its baseline.

    python -m docs.first_result results

prints the cells of Table 1 of transparent_attention that `make reproduce` trains. README.md has the
same table of the kept results (docs/readme_table.py).
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from tabulate import tabulate

from docs.evidence import ROOT
from fathom.artefacts.table.differences import parts_over_seeds
from fathom.config.load import load
from fathom.config.project import Project
from fathom.results.tree import SEEDS, rows
from fathom.scoring.students_t import half_interval

PAPER, TABLE, SCALE = "transparent_attention", "table1", "deep"
BASE, ROW, DEPTHS = "baseline", "transparent", ("6", "20")
HEADINGS = ("encoder layers", "BLEU in the paper", "BLEU here", "difference", "95 % interval")


class Gain(NamedTuple):
    """A row less the base at one depth; `half` is half of its 95 % interval over seeds."""

    depth: str
    paper: str
    here: str
    value: float | None = None  # None where a training failed, or is missing
    half: float | None = None  # None with one seed

    @property
    def certain(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.value is not None and self.half is not None and abs(self.value) > self.half

    def words(self) -> tuple[str, ...]:
        """Return the cells of a line."""
        if self.value is None:
            return self.depth, self.paper, self.here, "", ""
        interval = "one seed"
        if self.half is not None:
            interval = f"{self.value - self.half:+.2f} to {self.value + self.half:+.2f}"
        return self.depth, self.paper, self.here, f"{self.value:+.2f}", interval


def gains(project: Project, folder: Path) -> Iterator[Gain]:
    """Yield what transparent attention adds at each depth.

    Args:
        project: has the printed cells.
        folder: the results of the scale, as results/deep or docs/results/deep.
    """
    table = folder / PAPER / f"{TABLE}.csv"
    cells = {(line["row"], line["column"]): line for line in rows(table)}
    seeds: dict[tuple[str, str], dict[int, float]] = {}
    for line in rows(table.with_name(f"{TABLE}{SEEDS}")):
        cell = line["row"], line["column"]
        seeds.setdefault(cell, {})[int(line["seed"])] = float(line["value"])
    printed = {
        (line["row"], line["column"]): line["value"] or line["note"].partition(",")[0]
        for line in rows(project.papers[PAPER].reported(TABLE))
    }
    for depth in DEPTHS:
        both = [(row, depth) for row in (BASE, ROW)]
        paper = " → ".join(printed[cell] for cell in both)
        here = " → ".join(_score(cells[cell]) for cell in both)
        if not all(cells[cell]["value"] for cell in both):
            yield Gain(depth, paper, here)
            continue
        base, row = (seeds[cell] for cell in both)
        parts = parts_over_seeds([(ROW, 1.0, row), (BASE, -1.0, base)])
        half = None if isinstance(parts, str) else half_interval(parts)
        yield Gain(depth, paper, here, fmean(row.values()) - fmean(base.values()), half)


def _score(cell: dict[str, str]) -> str:
    if not cell["value"]:
        return cell["words"]
    error = f" ±{float(cell['stderr']):.2f}" if cell["stderr"] else ""
    return f"{float(cell['value']):.2f}{error}"


def as_table(found: list[Gain]) -> str:
    """Return the gains as a Markdown table, which a terminal can show, too."""
    lines = [each.words() for each in found]
    return tabulate(lines, HEADINGS, "pipe", colalign=("right",) * 5, disable_numparse=True) + "\n"


def sentence(project: Project, found: list[Gain]) -> str:
    """Return what the numbers say, and what is reduced."""
    better = [each.depth for each in found if each.certain and (each.value or 0) > 0]
    if len(better) == len(found):
        conclusion = "Transparent attention is better at each depth: the intervals leave out 0"
    elif better:
        conclusion = f"Transparent attention is certainly better at {better[0]} layers alone"
    else:
        conclusion = "These trainings do not show that transparent attention is better"
    _, _, reduced = project.scales[SCALE].title.partition(": ")
    return (
        f"English-German, baseline → transparent attention; ±: standard error over the seeds. "
        f"{conclusion}. Scale {SCALE}: {reduced}.\n"
    )


def main() -> None:
    """Print the gains of a folder of results."""
    project, folder = load(ROOT), Path(sys.argv[1], SCALE)
    found = list(gains(project, folder))
    sys.stdout.write(f"{as_table(found)}\n{sentence(project, found)}")


if __name__ == "__main__":
    main()
