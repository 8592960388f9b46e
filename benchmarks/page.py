"""Write the tables of docs/performance.md from the last benchmarks, and copy their pictures.

    python -m benchmarks.page [--bench results/bench]

A table is between two marks of its part, as in README.md. A part whose benchmark was not run keeps
what the page has. The goals have a column for each machine: benchmarks/measured/ keeps its numbers.
"""

import argparse
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.peer import goals
from benchmarks.peer.results import Table, all_numbers, described, markdown
from docs.evidence import ROOT, replaced
from fathom.io.files import read_json, write_json

PAGE = ROOT / "docs" / "performance.md"
# The part of the page that each file of a benchmark fills.
FILES = {
    "cpu": "cpu.json",
    "cuda": "cuda.json",
    "fake_cuda": "fake_cuda.json",
    "growth": "growth.json",
    "estimate": "estimate.json",
    "stages": "stages.json",
}


# What each machine reached of the goals, a file for each.
MEASURED = ROOT / "benchmarks" / "measured"


def tables(content: Mapping[str, Any]) -> list[Table]:
    """Return the tables of a benchmark's file; the goals are made again, for all machines."""
    made = [Table(**values) for values in content["tables"]]
    return [table for table in made if table.name != "goals"]


def parts(bench: Path, measured: Path = MEASURED) -> Iterator[tuple[str, str]]:
    """Yield the parts of the page that can be written, with their text.

    Args:
        bench: the folder of the benchmarks' files.
        measured: the folder with a file for each machine; that of this machine is updated.
    """
    contents = {
        part: read_json(bench / name) for part, name in FILES.items() if (bench / name).exists()
    }
    for part, content in contents.items():
        text = [described(content["facts"]), *map(markdown, tables(content))]
        if part == "growth":
            text += [f"![{path.stem}](images/{copied(path)})" for path in pictures(bench)]
        yield part, "\n".join([*text, ""])
    # The facts of a machine are those of its last part here, `make bench`.
    for part in reversed(contents):
        if part != "cuda":
            keep(measured, contents[part]["facts"], all_numbers(tables(contents[part])))
    if machines := [read_json(path) for path in sorted(measured.glob("*.json"))]:
        heads = {head(machine["facts"]): machine["numbers"] for machine in machines}
        lines = [f"- {described(machine['facts'])}" for machine in machines]
        yield "goals", f"{markdown(goals.table(heads))}\n" + "\n".join([*lines, ""])


def head(facts: Mapping[str, Any]) -> str:
    """Return a machine as the head of a column."""
    return f"{facts['processor']}, {facts['cores']} cores"


def keep(measured: Path, facts: Mapping[str, Any], numbers: Mapping[str, float]) -> None:
    """Add a machine's numbers that goals refer to, and its facts, to its file."""
    wanted = {goal.number for goal in goals.GOALS}
    path = measured / f"{re.sub('[^a-z0-9]+', '_', head(facts).lower())}.json"
    before = read_json(path)["numbers"] if path.exists() else {}
    now = {name: number for name, number in numbers.items() if name in wanted}
    if now:
        measured.mkdir(exist_ok=True)
        write_json(path, {"facts": facts, "numbers": before | now})


def pictures(bench: Path) -> list[Path]:
    """Return the pictures of the curves."""
    return sorted((bench / "growth").glob("*.png"))


def copied(picture: Path) -> str:
    """Return the name of a picture in docs/images."""
    return f"growth_{picture.name}"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bench", type=Path, default=Path("results/bench"))
    bench = parser.parse_args().bench
    text = PAGE.read_text(encoding="utf-8")
    for part, written in parts(bench):
        text = replaced(text, part, written)
    PAGE.write_text(text, encoding="utf-8")
    for picture in pictures(bench):
        shutil.copy(picture, ROOT / "docs" / "images" / copied(picture))


if __name__ == "__main__":
    main()
