"""Keep results of a scale in docs/results, and update the page that shows them.

    python -m docs.evidence results

docs/results is a tree of results without its runs: `fathom diff` compares another one with it.
"""

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from docs.readme_table import ROOT, replaced
from fathom.artefacts.rendering import write_csv
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.results.tree import RunResults, Tree, read_run, rows

SCALE, PAPER, TABLE = "tiny_long", "latent_depth", "table5"
PAGE, KEPT = ROOT / "docs" / "results.md", ROOT / "docs" / "results"
RUNS, REPORT = "runs.csv", f"{PAPER}.html"
FILES = (
    f"{PAPER}/{TABLE}.csv",
    f"{PAPER}/{TABLE}_seeds.csv",
    f"{PAPER}/{TABLE}.md",
    f"curves/{PAPER}_{TABLE}.csv",
    f"curves/{PAPER}_{TABLE}.svg",
    "claims.csv",
)
# Answers of claims that results decided.
ANSWERED = ("holds", "fails", "inconclusive")
HOUR = 3600
# Links of a page to the files of its runs, which are not kept.
_TO_RUNS = re.compile(r'<a\b[^>]*href="\.\./[^"]*"[^>]*>(.*?)</a>', re.DOTALL)


def keep(results: Path, kept: Path = KEPT) -> None:
    """Copy the files of the scale, and write a line for each training of the table."""
    folder = kept / SCALE
    report = (results / SCALE / REPORT).read_text(encoding="utf-8")
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(results / SCALE / name, folder / name)
    (folder / REPORT).write_text(_TO_RUNS.sub(r"\1", report), encoding="utf-8")
    runs = dict.fromkeys(line["run"] for line in rows(folder / PAPER / f"{TABLE}.csv"))
    trainings = list(_trainings(results, runs))
    write_csv(folder / RUNS, list(trainings[0]), trainings)


def _trainings(results: Path, runs: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield a line for each training of some runs."""
    project, paths = load(ROOT), Paths(results, SCALE)
    folders = {paths.run(project.spec(run, SCALE), 1).parent for run in runs}
    for folder in Tree.at(results).run_folders:
        if folder.parent in folders and (run := read_run(folder)):
            yield {"run": run.name, "seed": run.seed, "identity": run.identity[:8]} | _measured(run)


def _measured(run: RunResults) -> dict[str, Any]:
    """Return how a training ended, how far it is below the baseline, and what it took."""
    training = run.training
    return {
        "outcome": training.outcome.kind,
        "updates": training.totals.updates,
        "valid_nll": run.over_all("last_validation"),
        "unigram_nll": run.over_all("unigram_nll"),
        "seconds": training.totals.seconds,
        "device": training.device.get("name") or training.device.get("type"),
        "torch": training.versions.get("torch"),
        "commit": (training.commit or "")[:8],
    }


def parts(kept: Path = KEPT) -> dict[str, str]:
    """Return what the page says of the kept files, as Markdown by part."""
    folder = kept / SCALE
    _, _, table = (folder / PAPER / f"{TABLE}.md").read_text(encoding="utf-8").partition("\n")
    return {
        "trainings": _summary(rows(folder / RUNS)),
        "table": table.strip() + "\n",
        "claims": _claims(rows(folder / "claims.csv")),
    }


def _summary(trainings: Sequence[Mapping[str, str]]) -> str:
    """Return how many trainings there were, what they learned, and what they took."""

    def all_of(column: str) -> str:
        return " and ".join(sorted({line[column] for line in trainings}))

    runs = {line["run"] for line in trainings}
    updates = " and ".join(f"{n:,}" for n in sorted({int(line["updates"]) for line in trainings}))
    hours = sum(float(line["seconds"]) for line in trainings) / HOUR
    below = [float(line["unigram_nll"]) - float(line["valid_nll"]) for line in trainings]
    return (
        f"{len(trainings)} trainings of {len(runs)} runs with {updates} updates each: "
        f"{all_of('outcome')}, after {hours:.2f} hours of one core in all ({all_of('device')}, "
        f"torch {all_of('torch')}, commit {all_of('commit')}). Their validation NLL ended "
        f"{min(below):.2f} to {max(below):.2f} nats below the unigram baseline.\n"
    )


def _claims(lines: Sequence[Mapping[str, str]]) -> str:
    """Return the claims about the table that these results decide, as Markdown."""
    table = [
        ("claim", "asks", "here", "numbers", "on the paper's own cells"),
        ("---",) * 5,
    ]
    for line in lines:
        about = line["paper"] == PAPER and f"{TABLE}[" in line["expression"]
        if about and line["answer"] in ANSWERED:
            name = " ".join(filter(None, (line["claim"], line["part"])))
            numbers = (line["answer"], line["numbers"], line["reported_answer"])
            table.append((name, f"`{line['expression']}`", *numbers))
    escaped = ([cell.replace("|", "\\|") for cell in cells] for cells in table)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in escaped)


def main() -> None:
    """Keep the results that the command line names, if any, and update the page."""
    try:
        if sys.argv[1:]:
            keep(Path(sys.argv[1]))
    except FileNotFoundError as error:
        made = f"snakemake {PAPER}_{TABLE} claims page; fathom curves {PAPER}_{TABLE}"
        raise SystemExit(f"{error.filename}: no such file; {made}") from None
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts().items():
        text = replaced(text, name, part)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
