"""A small paper's tables, its runs, and measurement files for them, without a project."""

import random
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from fathom.artefacts.table.comparison import compare_table
from fathom.artefacts.table.sources import CORPUS, ResultSource
from fathom.config import tables
from fathom.config.check import check
from fathom.config.measurement_keys import file_of
from fathom.config.merge import expand
from fathom.config.reported import Reported
from fathom.config.schema.columns import read_vocabulary
from fathom.config.schema.table import Mark, MetricSettings, TableSettings
from fathom.config.spec import full_name
from fathom.config.yaml_values import read
from fathom.io.errors import unknown
from fathom.io.records import hashes, write_record
from fathom.results.measurements import Measurements, Number, Record, write
from fathom.results.recipe import RECIPE
from fathom.scoring import sentences
from fathom.scoring.metrics import HeldOut, measure, metrics_of
from fathom.scoring.score import records_of, scores_of

ROOT = Path(__file__).resolve().parents[2]
TASKS = ("bos", "fra")
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
HASH = "abcd1234"
TABLES = """
table1:
  title: Scores & sizes
  section: §4
  columns: [params, avg, tasks]
  rows: {6/6: small, "24/24": deep, "LL-D, 6/12": gated}
  ours: {columns: [avg_hard, depth_decoder], rows: {Control: control}}
table2:
  title: Differences
  section: Results
  columns: [tasks, params]
  rows: {small: small, deep: deep}
  marks: {added: {means: difference, to: small}, delta: {means: with difference, to: bos}}
table3:
  title: Text
  section: App. A
  rows: {train: pairs.train in thousands, valid: pairs.valid}
  blocks: {First: {corpus: text, columns: [tasks]}, Second: {corpus: other, columns: [kor]}}
table4:
  title: Domains in blocks
  section: §5
  rows: {small: small, deep: deep}
  columns: [avg, nll_valid]
  blocks: {A: {columns: [bos, avg]}, B: {columns: [fra, avg]}}
"""
SEEDS = {"p/small": (1, 2), "p/deep": (1,), "p/gated": (1,), "p/control": (1,)}


class Known:
    """The runs and data sets that a small paper's tables and figures may name, as a project."""

    def __init__(self):
        self.entries = SEEDS
        self.datasets = {
            "text": SimpleNamespace(tasks=TASKS),
            "other": SimpleNamespace(tasks=("kor",)),
        }
        self.methods = {
            "static": SimpleNamespace(about=SimpleNamespace(gates=False)),
            "latent_layers": SimpleNamespace(about=SimpleNamespace(gates=True)),
        }

    def has_run(self, name):
        return name in SEEDS

    def names_in(self, paper):
        return [name.removeprefix(f"{paper}/") for name in SEEDS]

    def run_in(self, paper, run, where):
        if not self.has_run(full_name(paper, run)):
            raise unknown("run", run, where, self.names_in(paper))
        return full_name(paper, run)

    def spec(self, name, scale=None):
        gated = name == "p/gated"
        name, stacks = ("latent_layers", ("decoder",)) if gated else ("static", ())
        return SimpleNamespace(
            data=SimpleNamespace(tasks=TASKS, target_languages=dict.fromkeys(TASKS, "eng")),
            model=SimpleNamespace(encoder_layers=12, decoder_layers=6),
            method=SimpleNamespace(name=name, stacks=stacks),
            gates=("soft", "hard") if gated else ("plain",),
        )

    def cells(self, table, scale=None):
        return tables.resolve_cells(table, self, scale)

    def cell(self, table, row, column, block=""):
        """Return the cell of a row and column; a block is named where it is not the only one."""
        return next(
            cell
            for cell in self.cells(table)
            if (cell.row, cell.column) == (row, column) and block in ("", cell.block)
        )


KNOWN = Known()
SPEC = SimpleNamespace(
    identity="f" * 64, decoding_identity=lambda gates, window=False: HASH + "0" * 56
)


def vocabulary_of_the_project():
    """Return the measurements and columns of config/columns.yaml."""
    return read_vocabulary(read(ROOT / "config" / "columns.yaml", ROOT))


def table(folder, name="table1", text=TABLES, marks=None):
    """Return a table, read from a file in a folder."""
    path = folder / "tables.yaml"
    path.write_text(text, encoding="utf-8")
    (entries,) = expand(read(path, folder))
    values = entries[name].values
    settings, findings = check(TableSettings, values)
    assert not findings
    marks = settings.marks or marks or {"bold": Mark(means="gain", to="6/6")}
    metric = MetricSettings(tokenize="13a", unknown_for=())
    return tables.Table("p", name, settings, values, vocabulary_of_the_project(), metric, marks)


def reported(row, column, value="", stderr="", mark="", right="", note=""):
    """Return a reported cell."""
    return Reported(row, column, value, stderr, mark, right, note, "table.csv:2")


def texts(left_out, seed=1, lines=30):
    """Return hypotheses by task that lack a share of the words of their references."""
    references = [
        f"line {at} of these has some words and number {at * 7 % 11}" for at in range(lines)
    ]
    dice = random.Random(seed)
    return {
        task: (
            [" ".join(w for w in line.split() if dice.random() > left_out) for line in references],
            references,
        )
        for task in TASKS
    }


def scores(bos=None, fra=None, n=500, missing=()):
    """Return a record of scores; half of each interval is 1."""
    values = {"bos": bos, "fra": fra}
    numbers = {
        task: Number(value=value, low=value - 1, high=value + 1, stderr=0.5, n=n)
        for task, value in values.items()
        if value is not None
    }
    reasons = dict.fromkeys(missing, "no layer is left with hard gates")
    return Record(unit="BLEU", tasks=numbers, missing=reasons, how=SIGNATURE)


class Results:
    """Measurement files in a folder, and the sources that read them."""

    def __init__(self, folder, comparable=True):
        self.folder, self.comparable = folder, comparable
        folder.mkdir(parents=True, exist_ok=True)

    def spec(self, run):
        return SPEC

    def write(self, run, records, seed=1, outcome="finished", identity=None):
        """Write records by key into their files; the training's file is always there."""
        files = {"training": {}}
        for key, record in records.items():
            files.setdefault(file_of(key, self.spec(run)), {})[key] = record
        for stem, measured in files.items():
            file = Measurements(
                rule=stem.partition(".")[0],
                recipe=dict(RECIPE),
                run=run,
                identity=identity or self.spec(run).identity,
                seed=seed,
                outcome=outcome,
                update=122,
                measurements=measured,
            )
            write(self.path(run, seed) / f"{stem}.json", file)

    def score(self, run, texts, seed=1, gates="plain"):
        """Score (hypotheses, references) by task, and write scores and counts of sentences."""
        folder = self.decoding(run, seed, "test", gates)
        lines = []
        for task, (hypotheses, references) in texts.items():
            statistics = measure(hypotheses, HeldOut("eng", references), metrics_of("eng"), task)
            sentences.write(sentences.path_of(folder, task), statistics)
            lines += scores_of(task, statistics, 40)
        write_record(folder / "scoring.json", {"files": hashes(folder, "*.gz")})
        self.write(run, records_of(lines, metrics_of(""), "test", gates, ()), seed)

    def of_seeds(self, run, *seeds):
        """Write what each seed has (a score, an outcome, "unscored" or nothing) for a source."""
        for seed, what in enumerate(seeds, start=1):
            number = isinstance(what, float)
            records = {"bleu.test.plain.13a": scores(what, what)} if number else {}
            outcome = "finished" if number or what == "unscored" else what
            if what is not None:
                self.write(run, records, seed, outcome=outcome)
        folders = {seed: self.path(run, seed) for seed in range(1, len(seeds) + 1)}
        return replace(self.sources[run], folders=folders)

    def decoding(self, run, seed, split, gates):
        return self.path(run, seed).parent / "decodings" / f"{split}.{gates}"

    def path(self, run, seed=1):
        return self.folder / run / str(seed) / "measurements"

    def corpus(self, name, records):
        of = {"corpus": name, "identity": "0" * 64, "measurements": records}
        file = Measurements(rule="statistics", recipe={"scoring": 1}, **of)
        write(self.folder / name / "statistics.json", file)

    @property
    def sources(self):
        runs = {
            name: ResultSource(
                name,
                {seed: self.path(name, seed) for seed in seeds},
                lambda key: file_of(key, SPEC),
                "f" * 64,
                self.comparable,
                decoding=partial(self.decoding, name),
            )
            for name, seeds in SEEDS.items()
        }
        corpora = {
            name: ResultSource(name, {CORPUS: self.folder / name}, lambda _: "statistics")
            for name in KNOWN.datasets
        }
        return runs | corpora


def compared(results, name="table1", text=TABLES, printed=(), scale="tiny", **options):
    """Return a table of results next to reported cells; `marks` and `sources` may be given."""
    drawn = table(results.folder, name, text, options.get("marks"))
    sources = results.sources | options.get("sources", {})
    return compare_table(drawn, KNOWN.cells(drawn), printed, sources, scale)


def typical(folder, comparable=True):
    """Return results: a run of two seeds, a diverged one, a gated one with few sentences."""
    results = Results(folder, comparable)
    size = {"parameters": Record(all=Number(value=66_300_000))}
    for seed, (bos, fra) in ((1, (20.0, 38.0)), (2, (21.0, 39.0))):
        results.write("p/small", size | {"bleu.test.plain.13a": scores(bos, fra)}, seed)
    results.write("p/deep", size, outcome="diverged")
    depth = Record(tasks={"bos": Number(value=5.0), "fra": Number(value=6.0)})
    gated = {"bleu.test.soft.13a": scores(22.0, 40.0, n=68), "depth.decoder": depth}
    gated["bleu.test.hard.13a"] = scores(fra=39.5, missing=("bos",))
    results.write("p/gated", gated | size)
    return results
