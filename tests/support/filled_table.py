"""The records that trainings and measurements of a table leave, with invented numbers."""

import random
from collections import defaultdict

from fathom.artefacts.artefacts import Artefacts
from fathom.config.measurement_keys import file_of, made_by, words_of
from fathom.io.records import hashes, write_record
from fathom.results.measurements import Measurements, Number, Record, write
from fathom.results.recipe import RECIPE
from fathom.results.training_record import restore_measured
from tests.support.run_files import training

METRICS = ("update", "nll", "valid_nll")


def fill(artefacts: Artefacts, paper: str, *tables: str, leave: str = "") -> None:
    """Write what is measured of all runs of tables with all seeds, but for the run `leave`."""
    project, dice = artefacts.project, random.Random(1)
    keys: dict[str, dict[str, dict[str | None, None]]] = defaultdict(lambda: defaultdict(dict))
    for table in tables:
        for cell in artefacts.cells(project.papers[paper].tables[table]):
            if cell.kind == "run" and cell.source != leave:
                keys[cell.source][cell.key][cell.task] = None
    for run, measured in keys.items():
        spec, level = project.spec(run, artefacts.scale), dice.uniform(4, 5)
        for seed in project.seeds(run, artefacts.scale):
            folder = artefacts.paths.run(spec, seed)
            folder.mkdir(parents=True)
            rows = [(at, level + 200 / at, level + 100 / at) for at in range(50, 1201, 50)]
            lines = ["\t".join(map(str, row)) for row in (METRICS, *rows)]
            (folder / "metrics.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            record = training(tasks=spec.data.tasks, files=hashes(folder, "metrics.tsv"))
            write_record(folder / "training.json", record)
            restore_measured(folder / "training.json", spec, seed)
            files: dict[str, dict[str, Record]] = defaultdict(dict)
            for key, tasks in measured.items():
                value, named = dice.gauss(10 * level, 0.4), [*filter(None, tasks)]
                values = {task: value + dice.gauss(0, 0.3) for task in named}
                numbers = {
                    task: Number(value=each, n=300, stderr=0.51, low=each - 1.0, high=each + 1.0)
                    for task, each in values.items()
                }
                whole = None if numbers else Number(value=value)
                if words_of(key)[0] != "parameters":
                    shown = Record(tasks=numbers, all=whole, how="version:2.6")
                    files[file_of(key, spec)][key] = shown
            for stem, records in files.items():
                rule = made_by(words_of(next(iter(records)))[0])
                about = {"run": run, "identity": spec.identity, "seed": seed, "outcome": "finished"}
                file = Measurements(rule=rule, recipe=dict(RECIPE), measurements=records, **about)
                write(folder / "measurements" / f"{stem}.json", file)
