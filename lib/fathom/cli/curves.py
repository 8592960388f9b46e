"""`fathom curves`: learning curves of runs, or of all rows of a table."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.options import Json, Results, Scale, Seeds, open_artefacts, report, suggest

if TYPE_CHECKING:
    from fathom.artefacts.artefacts import Artefacts
    from fathom.artefacts.table.sources import Source

Names = Annotated[
    list[str], typer.Argument(help="Runs, as `fathom list runs` names them, or one table.")
]
Events = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Also write all of metrics.tsv for TensorBoard there."),
]


def curves(
    names: Names,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    tensorboard: Events = None,
    as_json: Json = False,
) -> None:
    """Draw learning curves of runs, or of a table's rows.

    Training and validation NLL as svg and csv; the unigram baseline is dashed.
    Prints the mean of the last validation over the seeds that have a result.
    Trains nothing: what was not started is left out.

    Example: fathom curves m2o_diverse_12_12 m2o_diverse_24_24
    """
    from fathom.artefacts.curves import curve, rows, svg
    from fathom.artefacts.table.comparison import write_csv
    from fathom.io.errors import FathomError
    from fathom.io.files import write_text

    artefacts = open_artefacts(scale, results, seeds)
    title, stem, labels = _labels(artefacts, names)
    drawn = [
        curve(label, artefacts.source(run), artefacts.updates(run)) for run, label in labels.items()
    ]
    drawn = [item for item in drawn if item.seeds]
    if not drawn:
        what = f"no training of {', '.join(labels)} in {artefacts.paths.searched}"
        command = artefacts.paths.command("train", next(iter(labels)))
        raise FathomError(what, f"scale {artefacts.scale}", f"train with `{command}`")
    if as_json:
        print(json.dumps([item.record for item in drawn], indent=1, allow_nan=False))
    else:
        for item in drawn:
            print(f"{item.label}: {item.words}")
    path = artefacts.paths.curves(stem)
    write_csv(rows(drawn), path.with_suffix(".csv"))
    write_text(path.with_suffix(".svg"), svg(f"{title}, scale {artefacts.scale}", drawn))
    report(f"curves: {path}.svg, csv")
    if tensorboard is not None:
        for item in drawn:
            _write_events(artefacts.source(item.run), tensorboard)
        suggest(f"tensorboard --logdir {tensorboard}")


def _write_events(source: "Source", folder: Path) -> None:
    """Write the metrics of all seeds of a run that were started for TensorBoard."""
    from fathom.artefacts.curves import write_events
    from fathom.io import metrics

    for seed in source.folders:
        path = source.folders[seed].parent / "metrics.tsv"
        if path.is_file():
            write_events(metrics.read(path), folder / source.name / str(seed))


def _labels(artefacts: "Artefacts", names: list[str]) -> tuple[str, str, dict[str, str]]:
    """Return a title, the name of the files, and what each run is called, by its full name.

    Raises:
        FathomError: there is no such run or table, or the table shows no runs.
    """
    from fathom.artefacts.curves import run_labels
    from fathom.config.paper import find
    from fathom.io.errors import FathomError
    from fathom.io.hashes import identity, short

    project = artefacts.project
    papers = project.papers.values()
    tables = {f"{paper.name}_{table}" for paper in papers for table in paper.tables}
    if len(names) == 1 and names[0] in tables:
        _, table = find(project.papers, names[0], "table")
        labels = run_labels(artefacts.cells(table))
        if not labels:
            remedy = f"name runs, or draw it with `{artefacts.paths.command('table', names[0])}`"
            raise FathomError("the table shows no runs", names[0], remedy)
        return names[0], names[0], labels
    runs = list(dict.fromkeys(project.run_name(name) for name in names))
    title, stem = runs[0], runs[0].replace("/", "_")
    if len(runs) > 1:
        title += f" and {len(runs) - 1} more"
        stem += f"_and_{len(runs) - 1}_more-{short(identity(runs))}"
    return title, stem, {run: run.rpartition("/")[2] for run in runs}
