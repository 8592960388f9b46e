"""Figures of a small paper, and the files of trainings that they are drawn from."""

from fathom.artefacts.figures import check
from fathom.artefacts.figures.inputs import Inputs, RunFiles
from fathom.artefacts.table.sources import ResultSource
from fathom.config.measurement_keys import file_of
from fathom.config.merge import expand
from fathom.config.paper import read_figure
from fathom.config.yaml_values import read
from fathom.io import series
from fathom.results.measurements import Measurements, Record, write
from fathom.results.recipe import RECIPE
from tests.support.small_tables import KNOWN

METRICS = "update\tepoch\tnll\tvalid_nll\tgradient_norm\n"
IDENTITY = "f" * 64
REFERENCE = "A. Author: A paper. 2020"

# A figure of each kind, its keys in YAML's flow style.
CURVES = "kind: lines, series: nll.train, x: update, lines: {a: small, b: deep}"
SAMPLES = (
    "kind: heat_map, series: samples.decoder, rows: task, columns: layer, at: 100%,"
    " panels: {A: small}"
)
SIMILARITY = (
    "kind: heat_map, series: similarity, rows: task, columns: task, numbers: true,"
    " range: [lowest possible, 1], panels: {A: {run: small, order: [fra, bos]}}"
)
CELLS = (
    "kind: heat_map, table: table1, value: avg, rows: λ, columns: p, numbers: true,"
    ' cells: {"10, 0.3": gated, "2, 0.3": small, "2, 0.1": p/control, "10, 0.1": deep}'
)
MASKS = "kind: labelled_points, series: masks, points: task, project: pca, panels: {A: small}"
BARS = (
    'kind: grouped_bars, table: table1, columns: [tasks], less: 6/6, bars: {deeper: "24/24"},'
    ' not_drawn: ["LL-D, 6/12"]'
)


def figure(folder, text, name="figure1"):
    """Return a figure whose own keys are given as YAML, in flow style."""
    path = folder / "figures.yaml"
    path.write_text(f"{name}: {{title: A title, section: §4, {text}}}\n", encoding="utf-8")
    (entries,) = expand(read(path, folder))
    return read_figure("p", name, entries[name].values)


def findings(figure, tables=None):
    """Return what is wrong with a figure."""
    return [str(finding) for finding in check.findings(figure, KNOWN, tables or {})]


def run(folder, name="small", updates=100, seeds=(1,), unused=(), shown_as=None):
    """Return a run without files."""
    folders = {seed: folder / name / str(seed) / "measurements" for seed in seeds}
    source = ResultSource(
        f"p/{name}",
        folders,
        lambda key: file_of(key, None),
        IDENTITY,
        unused=unused,
        shown_as=shown_as or {},
    )
    return RunFiles(source, updates)


def inputs(runs, tables=None):
    """Return what figures are drawn from, runs by their short names."""
    by_name = {files.name.removeprefix("p/"): files for files in runs}
    return Inputs(REFERENCE, "tiny", by_name, tables or {})


def write_metrics(files, rows):
    """Write metrics.tsv: update, epoch, nll, valid_nll and gradient_norm in each row."""
    files.folder.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join("" if value is None else str(value) for value in row) for row in rows]
    text = METRICS + "".join(f"{line}\n" for line in lines)
    (files.folder / "metrics.tsv").write_text(text, encoding="utf-8")


def write_series(files, name, axes, rows):
    """Write a series of diagnostics/: update, places and value in each row."""
    path = files.folder / "diagnostics" / f"{name}.tsv.gz"
    series.append(path, axes, [(update, places, value) for update, places, value in rows])


def write_array(files, key, rule, axes, labels, values):
    """Write a measurement with axes; others of the same rule are replaced."""
    write_arrays(files, rule, {key: Record(axes=axes, labels=labels, values=values)})


def write_arrays(files, rule, records):
    """Write the measurements of a rule."""
    _write(files, rule, ("training", "scoring"), records)


def end(files, outcome="finished", identity=IDENTITY):
    """Write what a training measures by itself when it ends, at update 80."""
    _write(files, "training", ("training",), {}, outcome=outcome, identity=identity, update=80)


def _write(files, rule, stages, measurements, **changes):
    values = {"identity": IDENTITY, "outcome": "finished"} | changes
    file = Measurements(
        rule=rule,
        recipe={stage: RECIPE[stage] for stage in stages},
        run=files.name,
        seed=files.seed,
        measurements=measurements,
        **values,
    )
    write(files.folder / "measurements" / f"{rule}.json", file)
