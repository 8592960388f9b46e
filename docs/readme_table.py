"""Write the table of averages that README.md shows, from the comparison of a finished start."""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- begin: make readme -->\n", "<!-- end -->"
COLUMNS = ("row", "reported", "reproduced", "stderr", "seeds", "verdict", "run")


def table(lines: list[dict[str, str]]) -> str:
    """Return the average of each row beside the reported one, as Markdown."""
    rows = [[line[column] for column in COLUMNS] for line in lines if line["column"] == "avg"]
    for row in rows:
        row[2:4] = [f"{float(each):.2f}" if each else "" for each in row[2:4]]
    head = ["| " + " | ".join(COLUMNS) + " |", "|---|--:|--:|--:|--:|---|---|"]
    return "\n".join([*head, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def main(comparison: str) -> None:
    """Put the table of a compare.csv between the marks of README.md."""
    with open(comparison, encoding="utf-8", newline="") as stream:
        written = table(list(csv.DictReader(stream)))
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    readme.write_text(f"{before}{BEGIN}{written}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
