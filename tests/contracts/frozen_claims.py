"""What claims answer and figures draw on invented results, and on the papers' own cells.

`make freeze` writes frozen_claims.json. An answer changes only where a sentence of a paper, its
expression or a reported cell is corrected.
"""

import json
import math
import tempfile
from collections import defaultdict
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.judged import judged
from fathom.artefacts.figures import kinds
from fathom.config.load import load
from fathom.config.measurement_keys import file_of, words_of
from fathom.config.paths import Paths
from fathom.config.reported import read
from fathom.io import series as packed
from fathom.io.records import hashes, write_record
from fathom.results.measurements import Measurements, Number, Record, write
from fathom.results.recipe import RECIPE
from fathom.scoring import sentences
from fathom.scoring.metrics import Statistics, bleu, chrf
from tests.contracts.frozen_config import is_frozen

ROOT = Path(__file__).parents[2]
FROZEN = Path(__file__).with_name("frozen_claims.json")
# These have their invented results together; another paper, whose cells would change them, alone.
TOGETHER = ("lamgd", "latent_depth", "transparent_attention")
# One seed each, so that test sets are drawn again; and several, of which some have no result.
WORLDS = {"one seed": (1,), "three seeds": (1, 2, 3)}
UPDATES = (1, 2, 3, 5, 10, 20, 50, 100)
SENTENCES = 12
# What is measured where the paper prints no number.
USUAL = {"bleu": 25.0, "nll": 2.5, "perplexity": 8.0, "parameters": 6e7, "depth": 12.0}


def invented(*key):
    """Return a number from 0 to 1 that is always the same for a key."""
    digest = sha256("/".join(map(str, key)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def layers_of(spec):
    return {"encoder": spec.model.encoder_layers, "decoder": spec.model.decoder_layers}


class World:
    """Invented files of all runs that tables and figures of some papers show."""

    def __init__(self, project, papers, folder, seeds):
        self.project, self.seeds = project, seeds
        self.artefacts = Artefacts(project, Paths(folder, "paper"), seeds)
        self.asked = defaultdict(lambda: defaultdict(list))
        self.drawn = set()
        for paper in papers:
            self._ask(paper)
        for run in sorted(self.asked):
            for seed in seeds:
                self._write(run, seed)

    def _ask(self, paper):
        """Note which measurements of which runs a paper's artefacts show, with printed numbers."""
        for figure in paper.figures.values():
            for run in figure.settings.runs:
                full = run if "/" in run else f"{paper.name}/{run}"
                for key in figure.settings.measurements(run):
                    self.asked[full][key] += []
                self.asked[full]["parameters"] += []
                self.drawn.add(full)
        for name, table in paper.tables.items():
            cells = self.artefacts.cells(table)
            printed = {
                (item.row, item.column): item
                for item in read(paper.reported(name), self.project.cells(table), ROOT)
            }
            for cell in cells:
                if cell.kind != "empty" and cell.source in self.project.entries:
                    item = printed.get((cell.id, cell.column))
                    self.asked[cell.source][cell.key].append((cell, item))

    def _write(self, run, seed):
        project = self.project
        fate = invented(run, seed, len(self.seeds))
        printed = [item for asked in self.asked[run].values() for _, item in asked if item]
        fails = printed and all(item.outcome and not item.number for item in printed)
        outcome = "finished"
        if fate < 0.04:
            return
        if fate < 0.09 or (fails and fate < 0.8):
            outcome = "diverged" if fate < 0.5 else "failed_to_train"
        spec = project.spec(run, "paper")
        files = {"training": {}}
        for key, asked in sorted(self.asked[run].items()):
            if outcome != "finished" and key != "parameters":
                continue
            if invented(run, seed, key, "missing") > 0.02:
                record = self._record(run, seed, key, asked)
                files.setdefault(file_of(key, spec), {})[key] = record
        for stem, measured in files.items():
            file = Measurements(
                rule=stem.partition(".")[0],
                recipe=dict(RECIPE),
                run=run,
                identity=spec.identity,
                seed=seed,
                outcome=outcome,
                update=80 if outcome == "diverged" else 100,
                measurements=measured,
            )
            write(self.artefacts.paths.measurements(spec, seed, stem), file)
        if run in self.drawn:
            self._series(run, seed, spec)

    def _record(self, run, seed, key, asked):
        """Return a measurement: close to what is printed, or usual."""
        name, qualifiers = words_of(key)
        tasks = self.project.datasets[self.project.run(run, "paper").data.dataset].tasks
        layers = range(1, 1 + max(layers_of(self.project.spec(run)).values()))
        if name in ("gates", "samples"):
            return _array(run, seed, key, task=tasks, layer=layers)
        if name == "masks":
            return _array(run, seed, key, task=tasks, site=("a", "b"), group=range(8))
        if name == "similarity":
            return _array(run, seed, key, task=tasks, task_2=tasks)
        aims = {}
        for cell, item in asked:
            if item is not None and item.number is not None:
                for task in [cell.task] if cell.task else tasks:
                    aims.setdefault(task, item.number / cell.value.factor)
        usual = USUAL.get(name, 0.5)
        noise = {
            task: 1 + 0.03 * (invented(run, seed, key, task) - 0.5) for task in (*tasks, "all")
        }
        if name == "parameters":
            return Record(all=Number(value=round(aims.get(tasks[0], usual) * noise["all"])))
        values = {task: aims.get(task, usual) * noise[task] for task in tasks}
        if name == "bleu" and "window" not in qualifiers:
            return self._scores(run, seed, key, values, qualifiers)
        numbers = {task: Number(value=value, n=100) for task, value in values.items()}
        return Record(tasks=numbers, all=Number(value=sum(values.values()) / len(values), n=100))

    def _scores(self, run, seed, key, values, qualifiers):
        """Return scores; of one seed with the counts of each sentence."""
        spec = self.project.spec(run, "paper")
        folder = self.artefacts.paths.decoding(spec, seed, qualifiers["split"], qualifiers["gates"])
        numbers = {}
        for task, value in values.items():
            if len(self.seeds) == 1:
                counted = _counts(run, task, value, qualifiers["tokenizer"])
                sentences.write(sentences.path_of(folder, task), counted)
                value = counted[0].value
            numbers[task] = Number(
                value=value, low=value - 1, high=value + 1, stderr=0.5, n=SENTENCES
            )
        if len(self.seeds) == 1:
            write_record(folder / "scoring.json", {"files": hashes(folder, "*.gz")})
        return Record(unit="BLEU", tasks=numbers, how="nrefs:1")

    def _series(self, run, seed, spec):
        folder = self.artefacts.paths.run(spec, seed)
        columns = ("nll", "valid_nll", "train_nll", "gradient_norm")
        lines = ["\t".join(("update", "epoch", *columns))]
        for at in UPDATES:
            level = 2 + 3 / math.sqrt(at) + invented(run, seed, "level")
            numbers = [level + 0.2 * invented(run, seed, at, column) for column in columns]
            lines.append("\t".join([str(at), str(at / 40), *(f"{one:.6f}" for one in numbers)]))
        (folder / "metrics.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        places = {"encoder_gradient_ratio": ((), [()])}
        depths, tasks = layers_of(self.project.spec(run)), self.project.spec(run).data.tasks
        for stack, layers in depths.items():
            labels = [str(layer) for layer in range(1, layers + 1)]
            for name in ("gradient_norm", "utilisation"):
                places[f"{stack}_{name}"] = (("layer",), [(label,) for label in labels])
            pairs = [(task, label) for task in tasks for label in labels]
            for name in ("samples", "alpha"):
                places[f"{stack}_{name}"] = (("task", "layer"), pairs)
        grid = [
            (str(source), str(memory))
            for source in range(depths["encoder"] + 1)
            for memory in range(1, depths["decoder"] + 1)
        ]
        places["encoder_weights"] = (("source", "memory"), grid)
        for name, (axes, labels) in places.items():
            if labels:
                rows = [
                    (at, label, round(invented(run, seed, name, at, *label), 6))
                    for at in UPDATES[:: 1 if len(labels) < 60 else 3]
                    for label in labels
                ]
                packed.append(folder / "diagnostics" / f"{name}.tsv.gz", axes, rows)


def _array(run, seed, key, **axes):
    labels = {axis.removesuffix("_2"): [*map(str, places)] for axis, places in axes.items()}
    names = tuple(axis.removesuffix("_2") for axis in axes)

    def values(place):
        if len(place) == len(names):
            number = invented(run, seed, key, *place)
            return float(number > 0.5) if "masks" in key else round(number, 6)
        return [values((*place, label)) for label in labels[names[len(place)]]]

    return Record(axes=names, labels=labels, values=values(()))


@cache
def _references(task):
    """Return how many words and characters the references of a task have."""
    return [10 + int(12 * invented("reference", task, at)) for at in range(SENTENCES)]


def _counts(run, task, value, tokenizer):
    """Return what BLEU and chrF may have counted in sentences whose score is near a value."""
    share = min(max(value / 100, 0.02), 0.9)
    rows, characters = [], []
    for at, words in enumerate(_references(task)):
        own = max(5, words - 2 + int(4 * invented(run, task, at)))
        totals = [own - order for order in range(4)]
        skill = share * (0.6 + 0.8 * invented(run, task, at, "skill"))
        correct = [min(total, round(total * skill**0.9) + (at % 3 == 0)) for total in totals]
        rows.append([own, words, *correct, *totals])
        characters.append([words * 5 - order for order in range(len(chrf.METRIC.columns))])
    counted = Statistics(bleu.metric(tokenizer), np.array(rows))
    return [counted, Statistics(chrf.METRIC, np.array(characters))]


def _digits(value):
    return value if value is None or isinstance(value, str) else float(f"{value:.7g}")


def _facts(evidence):
    """Return each comparison: its line, what it says of the answer, and its numbers."""
    return [
        [fact.text, fact.answer, fact.basis, *map(_digits, (fact.difference, fact.low, fact.high))]
        for fact in evidence
    ]


def _answers(artefacts, papers):
    """Return each part's answers with all that decides them."""
    return {
        one.full_name: {
            "ours": [one.answer, one.comparable, _facts(one.evidence)],
            "printed": [one.reported_answer, False, _facts(one.reported_evidence)],
        }
        for paper in papers
        for one in judged(artefacts, paper)
    }


def _drawings(artefacts, papers):
    """Return a hash of the numbers of each figure, without the digits of other machines."""
    found = {}
    for paper in papers:
        for name, figure in paper.figures.items():
            frame = kinds.rows(figure, artefacts.inputs(paper, figure))
            text = frame.to_csv(index=False, float_format="%.5g")
            found[f"{paper.name}_{name}"] = [len(frame), sha256(text.encode()).hexdigest()[:16]]
    return found


def frozen():
    """Return what was frozen."""
    return json.loads(FROZEN.read_text(encoding="utf-8"))


def answers(before=None):
    """Return all answers and drawings, or those of the papers that are in a frozen config."""
    project = load(ROOT, check=False)
    papers = {
        name: paper
        for name, paper in project.papers.items()
        if not paper.is_study and (before is None or is_frozen(paper, before))
    }
    together = [papers[name] for name in TOGETHER if name in papers]
    groups = [together, *([paper] for name, paper in papers.items() if name not in TOGETHER)]
    found = {name: {"claims": {}, "figures": {}} for name in WORLDS}
    for (name, seeds), group in product(WORLDS.items(), groups):
        with tempfile.TemporaryDirectory() as folder:
            artefacts = World(project, group, Path(folder), seeds).artefacts
            found[name]["claims"] |= _answers(artefacts, group)
            found[name]["figures"] |= _drawings(artefacts, group)
    printed = {name: part.pop("printed") for name, part in found["one seed"]["claims"].items()}
    again = {name: part.pop("printed") for name, part in found["three seeds"]["claims"].items()}
    assert printed == again
    return json.loads(json.dumps(found | {"printed": printed}, allow_nan=True))


def written(now):
    """Write the answers."""
    text = json.dumps(now, indent=0, ensure_ascii=False, sort_keys=True)
    FROZEN.write_text(text + "\n", encoding="utf-8")
