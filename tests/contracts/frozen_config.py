"""What config/ resolves to: every run at every scale, every cell, every reported cell.

`make freeze` writes frozen_config.json.gz. An identity names a folder of results, so the file
changes only where a paper or a run is added, or its settings are corrected.
"""

import gzip
import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from fathom.config.load import load
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.reported import read
from fathom.config.schema.section import plain
from fathom.config.show import describe

ROOT = Path(__file__).parents[2]
FROZEN = Path(__file__).with_name("frozen_config.json.gz")
SHOWN = ("path", "value", "where", "source", "paper", "changed")
CELL = ("block", "row", "column", "id", "kind", "source", "key", "task", "tasks", "gates")
CELL += ("metric", "metric_known", "ours")
# What names a folder of results: with another one, finished trainings and text are not found.
NAMES = ("identity", "folder", "tensors", "corpus", "pieces_corpus", "subwords", "start")
NAMES += ("decodings",)
# Settings that were added later, with the value that is not hashed; with it they are left out.
ADDED = {
    "training.schedule.start": 0.0,
    "training.schedule.lowest": 0.0,
    "model.initial_deviation": 0.02,
    "training.rate_factor": 1.0,
}


@dataclass(frozen=True)
class Part:
    """The papers and scales of a project that are resolved."""

    project: Project
    papers: list[Paper]
    scales: list[str]

    @property
    def entries(self):
        """The full names of the papers' runs."""
        return [name for paper in self.papers for name in self.project.runs_of(paper.name)]

    @property
    def tables(self):
        """The papers' tables by `paper_table`."""
        return {
            f"{paper.name}_{table.name}": (paper, table)
            for paper in self.papers
            for table in paper.tables.values()
        }


def runs(part):
    """Return what each run is, by `scale:run`; the scale `-` is the papers' own settings."""
    return {
        f"{scale or '-'}:{name}": run(part.project, name, scale)
        for scale in (None, *part.scales)
        for name in part.entries
    }


def run(project, name, scale):
    """Return what a run is at a scale."""
    settings, spec = project.run(name, scale), project.spec(name, scale)
    data = spec.data
    found = {
        "settings": without_added(settings.model_dump(mode="json")),
        "identity": spec.identity,
        "folder": spec.folder,
        "tensors": data.folder,
        "corpus": data.corpus_folder,
        "pieces_corpus": data.pieces_corpus_folder,
        "subwords": data.subwords_folder,
        "target_tokens": data.target_tokens,
        "gates": spec.gates,
        "start": spec.start and spec.start.folder,
        "decodings": {
            f"{gates}{', window' * window}": spec.decoding_identity(gates, window)
            for gates in spec.gates
            for window in (False, True)
        },
    }
    if scale is not None:
        found |= {
            "seeds": project.seeds(name, scale),
            "not_built": project.not_built(name, scale),
            "comparable": project.comparable(name, scale),
        }
    return found


def without_added(settings, above=""):
    """Return settings without the added ones that have the value that is not hashed."""
    return {
        key: without_added(value, f"{above}{key}.") if isinstance(value, dict) else value
        for key, value in settings.items()
        if f"{above}{key}" not in ADDED or value != ADDED[f"{above}{key}"]
    }


def shown(part):
    """Return what `fathom show` prints; a place is its file and the text of its line."""
    lines = {}

    def place(where):
        file, _, number = where.rpartition(":")
        if not file:
            return where
        if file not in lines:
            lines[file] = (ROOT / file).read_text(encoding="utf-8").split("\n")
        return f"{file}: {lines[file][int(number) - 1].strip()}"

    found = {}
    for scale in part.scales:
        for name in part.entries:
            settings = [asdict(setting) for setting in describe(part.project, name, scale)]
            found[f"{scale}:{name}"] = [
                [place(item[key]) if key == "where" else item[key] for key in SHOWN]
                for item in settings
                if item["path"] not in ADDED or item["value"] != ADDED[item["path"]]
            ]
    return found


def cells(part):
    """Return the cells of every table, by `scale:table`; the scale `-` is the papers' own."""
    return {
        f"{scale or '-'}:{name}": [
            [getattr(cell, key) for key in CELL] for cell in part.project.cells(table, scale)
        ]
        for scale in (None, "tiny")
        for name, (_, table) in part.tables.items()
    }


def reported(part):
    """Return the cells as the papers print them."""
    return {
        name: [
            {key: value for key, value in asdict(cell).items() if key != "where"}
            for cell in read(paper.reported(table.name), part.project.cells(table), ROOT)
        ]
        for name, (paper, table) in part.tables.items()
    }


def frozen():
    """Return what was frozen."""
    return json.loads(gzip.decompress(FROZEN.read_bytes()))


def is_frozen(paper, before):
    """Return whether a paper was there when everything was frozen."""
    has_runs = any(name.partition(":")[2].startswith(f"{paper.name}/") for name in before["runs"])
    return has_runs or any(f"{paper.name}_{table}" in before["reported"] for table in paper.tables)


def resolved(before=None):
    """Return everything, as JSON has it, or the papers and scales that were frozen before."""
    project = load(ROOT)
    papers = [paper for paper in project.papers.values() if not paper.is_study]
    scales = [*project.scales]
    if before is not None:
        papers = [paper for paper in papers if is_frozen(paper, before)]
        scales = [
            name for name in scales if any(each.startswith(f"{name}:") for each in before["runs"])
        ]
    part = Part(project, papers, scales)
    parts = {
        "runs": runs(part),
        "show": shown(part),
        "cells": cells(part),
        "reported": reported(part),
    }
    return json.loads(json.dumps(parts, default=plain))


def changed(frozen, now):
    """Return the names of what differs, with a frozen and a present value each."""
    names = sorted(frozen.keys() | now.keys())
    pairs = {name: (frozen.get(name), now.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def moved(before, now):
    """Return each run of another identity, text, start or search, and each that is gone."""
    found = defaultdict(list)
    for name, (old, new) in changed(before["runs"], now["runs"]).items():
        scale, _, run_name = name.partition(":")
        if old is not None and new is None:
            found[run_name].append(f"{scale} is gone")
        elif old is not None and old["identity"] != new["identity"]:
            found[run_name].append(f"{scale} {old['identity'][:8]} → {new['identity'][:8]}")
        elif old is not None and (keys := [key for key in NAMES if old[key] != new[key]]):
            found[run_name].append(f"{scale} {', '.join(keys)}")
    return [f"{run_name}: {'; '.join(places)}" for run_name, places in found.items()]


def written(now):
    """Write what is resolved."""
    text = json.dumps(now, separators=(",", ":"), ensure_ascii=False)
    FROZEN.write_bytes(gzip.compress(text.encode(), mtime=0))
