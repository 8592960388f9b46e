"""How cost grows with depth, tokens, languages, jobs and runs, next to the growth expected.

    python -m benchmarks.growth [--results results] [--device cpu|cuda] [part …]

It writes <results>/bench/growth/<curve>.csv and .png, and all numbers to growth.json.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.growth import training, workflow
from benchmarks.growth.curves import Panel, write
from benchmarks.growth.point import Point
from benchmarks.peer.contenders import OURS
from benchmarks.peer.results import Cell, Table, described, machine, markdown
from benchmarks.peer.workload import Workload
from fathom.io.files import write_json
from fathom.train.environment import choose_device

PARTS: dict[str, Callable[[Point], dict[str, list[Panel]]]] = {
    "depth": training.depth,
    "tokens": training.tokens,
    "languages": training.languages,
    "jobs": workflow.plan,
    "runs": workflow.starts,
}
COLUMNS = ("", "first", "last", "a unit more costs", "largest deviation")


def table(pictures: dict[str, list[Panel]]) -> Table:
    """Return each curve's ends and slopes."""
    rows: list[list[Cell]] = []
    numbers: dict[str, float] = {}
    for name, panels in pictures.items():
        for panel in panels:
            for curve in panel.curves:
                first, last = (
                    f"{value:.4g} at {x:g}" for x, value in (curve.points[0], curve.points[-1])
                )
                title = f"{panel.y} by {panel.x}, {curve.name}"
                rows.append([title, first, last, f"{curve.slope:.4g}", f"{curve.change:.0%}"])
                key = f"growth.{name}.{panel.y}.{curve.name}"
                numbers |= {f"{key}.slope": curve.slope, f"{key}.change": curve.change}
                numbers[f"{key}.largest"] = max(value for _, value in curve.points)
    return Table("growth", "Growth of cost", COLUMNS, rows, numbers)


def main() -> None:
    """Measure, draw and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}, or all")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--results", type=Path, default=Path("results"), help="where the text is")
    parser.add_argument("--out", type=Path, help="a folder for the curves; else <results>/bench")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part '{min(unknown)}'; there are {', '.join(PARTS)}")
    workload = Workload(given.results.absolute(), choose_device(given.device))
    facts = machine(workload.device)
    workload.prepare()
    out = given.out or workload.results / "bench"
    base = Point(str(workload.results), OURS, device=str(workload.device))
    pictures: dict[str, list[Panel]] = {}
    for name in given.parts or PARTS:
        for picture, panels in PARTS[name](base).items():
            pictures[picture] = panels
            write(out / "growth" / picture, panels)
            sys.stdout.write(f"{picture}: {out / 'growth' / picture}.png\n")
            sys.stdout.flush()
    tables = table(pictures)
    write_json(out / "growth.json", {"facts": facts, "tables": [vars(tables)]})
    sys.stdout.write(f"{markdown(tables)}\n{described(facts)}\n")


if __name__ == "__main__":
    main()
