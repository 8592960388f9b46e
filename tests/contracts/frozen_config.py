"""What config/ resolves to: every run at every scale, every cell, every reported cell.

`python -m tests.contracts.frozen_config` writes frozen_config.json.gz. An identity names a folder
of results, so the file changes only where a run of a paper is added or its settings are corrected.
"""

import gzip
import json
from dataclasses import asdict
from pathlib import Path

from fathom.config.load import load
from fathom.config.reported import read
from fathom.config.schema.section import plain
from fathom.config.show import describe

ROOT = Path(__file__).parents[2]
FROZEN = Path(__file__).with_name("frozen_config.json.gz")
SHOWN = ("path", "value", "where", "source", "paper", "changed")
CELL = ("block", "row", "column", "id", "kind", "source", "key", "task", "tasks", "gates")
CELL += ("metric", "metric_known", "ours")
# Settings that were added later, with the value that is not hashed; with it they are left out.
ADDED = {
    "training.schedule.start": 0.0,
    "training.schedule.lowest": 0.0,
    "model.initial_deviation": 0.02,
    "training.rate_factor": 1.0,
}


def runs(project):
    """Return what each run is, by `scale:run`; the scale `-` is the papers' own settings."""
    return {
        f"{scale or '-'}:{name}": run(project, name, scale)
        for scale in (None, *project.scales)
        for name in project.entries
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


def shown(project):
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
    for scale in project.scales:
        for name in project.entries:
            settings = [asdict(setting) for setting in describe(project, name, scale)]
            found[f"{scale}:{name}"] = [
                [place(item[key]) if key == "where" else item[key] for key in SHOWN]
                for item in settings
                if item["path"] not in ADDED or item["value"] != ADDED[item["path"]]
            ]
    return found


def cells(project):
    """Return the cells of every table, by `scale:table`; the scale `-` is the papers' own."""
    return {
        f"{scale or '-'}:{paper.name}_{table.name}": [
            [getattr(cell, key) for key in CELL] for cell in project.cells(table, scale)
        ]
        for scale in (None, "tiny")
        for paper in project.papers.values()
        for table in paper.tables.values()
    }


def reported(project):
    """Return the cells as the papers print them."""
    return {
        f"{paper.name}_{table.name}": [
            {key: value for key, value in asdict(cell).items() if key != "where"}
            for cell in read(paper.reported(table.name), project.cells(table), ROOT)
        ]
        for paper in project.papers.values()
        for table in paper.tables.values()
    }


def resolved():
    """Return everything, as JSON has it."""
    project = load(ROOT)
    parts = {
        "runs": runs(project),
        "show": shown(project),
        "cells": cells(project),
        "reported": reported(project),
    }
    return json.loads(json.dumps(parts, default=plain))


def changed(frozen, now):
    """Return the names of what differs, with a frozen and a present value each."""
    names = sorted(frozen.keys() | now.keys())
    pairs = {name: (frozen.get(name), now.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


if __name__ == "__main__":
    text = json.dumps(resolved(), separators=(",", ":"), ensure_ascii=False)
    FROZEN.write_bytes(gzip.compress(text.encode(), mtime=0))
