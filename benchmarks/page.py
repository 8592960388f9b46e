"""Write the tables of docs/performance.md from the last benchmarks, and copy their pictures.

    python -m benchmarks.page [--bench results/bench]

A table is between two marks of its part, as in README.md. A part whose benchmark was not run keeps
what the page has.
"""

import argparse
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.peer import goals
from benchmarks.peer.results import Table, all_numbers, described, markdown
from docs.readme_table import IMAGES, ROOT, replaced
from fathom.io.files import read_json

PAGE = ROOT / "docs" / "performance.md"
# The part of the page that each file of a benchmark fills.
FILES = {
    "cpu": "cpu.json",
    "cuda": "cuda.json",
    "growth": "growth.json",
    "estimate": "estimate.json",
    "stages": "stages.json",
}


def tables(content: Mapping[str, Any]) -> list[Table]:
    """Return the tables of a benchmark's file; goals are made again, from all files together."""
    made = [Table(**values) for values in content["tables"]]
    return [table for table in made if table.name != "goals"]


def parts(bench: Path) -> Iterator[tuple[str, str]]:
    """Yield the parts of the page that can be written, with their text.

    Args:
        bench: the folder of the benchmarks' files.
    """
    contents = {
        part: read_json(bench / name) for part, name in FILES.items() if (bench / name).exists()
    }
    for part, content in contents.items():
        text = [described(content["facts"]), *map(markdown, tables(content))]
        if part == "growth":
            text += [f"![{path.stem}](images/{copied(path)})" for path in pictures(bench)]
        yield part, "\n".join([*text, ""])
    # Where both devices have a number of one name, it is the CPU's.
    ordered = sorted(contents, key=lambda part: part != "cuda")
    numbers = all_numbers(table for part in ordered for table in tables(contents[part]))
    if numbers:
        yield "goals", f"{markdown(goals.table(numbers))}\n"


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
        shutil.copy(picture, IMAGES / copied(picture))


if __name__ == "__main__":
    main()
