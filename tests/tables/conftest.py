"""Manifests and a table of three rows, made by the tests; the smallest that show every case."""

import copy
import json

import pytest
import yaml

from fathom.papers.paper import Paper
from fathom.tables.manifests import Row

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
UNVALIDATED = {"nll": None, "unigram_nll": 6.06, "by_task": {}}
PAPER = yaml.safe_load("""
title: A paper
authors: [A. Author]
url: https://example.org
citation: {type: misc, key: author2020, year: "2020"}
equations: {}
artefacts:
  main:
    kind: table
    title: Scores & sizes
    caption: BLEU of three models.
    section: §4
    metric: {name: 13a, known: true}
    reported: main.csv
    rows: {6/6: small, "24/24": deep, "LL-D, 6/12": gated}
    columns:
      params:
        {title: Params (M), value: parameters.total, unit: millions, decimals: 1,
         tolerance: {relative: 0.01}}
      avg: {title: Avg., value: mean(scores.*), decimals: 2, tolerance: {absolute: 0.5}}
      bos: {title: bos, value: scores.bos, decimals: 1, tolerance: {at_least: 0.4}}
      fra: {title: fra, value: scores.fra, decimals: 1, tolerance: {at_least: 0.4}}
      hard: {title: "Avg., hard", value: mean(scores.hard.*), decimals: 2, group: Gates}
      depth: {title: "E[L]", value: depth.decoder.effective_depth, decimals: 2, group: Gates}
      undecided:
        {title: undecided, value: depth.decoder.undecided_share, unit: percent, decimals: 0,
         group: Gates}
    groups: {Gates: What the gates amount to.}
  bars:
    kind: grouped_bars
    title: Differences
    caption: Differences to 6/6.
    section: §4
    bars:
      table: main
      baseline: 6/6
      columns: [fra, bos]
      axis: BLEU above 6/6
      series: {"24/24": deep}
      not_drawn: ["LL-D, 6/12"]
""")


@pytest.fixture
def paper_mapping():
    """The paper's YAML, to be changed at will."""
    return copy.deepcopy(PAPER)


@pytest.fixture
def paper(paper_mapping):
    return Paper.from_mapping("a_paper", paper_mapping)


@pytest.fixture
def table(paper):
    return paper.artefacts["main"]


def score(value, sentences=500, half=1.0, metric="13a"):
    """One task's entry under `scores`; the interval is of the compared metric alone."""
    compared = {
        "value": value,
        "signature": SIGNATURE,
        "low": value - half,
        "high": value + half,
        "stderr": half / 2,
    }
    return {"sentences": sentences, "metrics": {metric: compared}}


def manifest(scores=None, **changes):
    """A manifest of a finished run; `changes` replace whole keys."""
    gates = next(iter(scores)) if scores else "plain"
    value = {
        "schema": 1,
        "run": "small",
        "identity": "0" * 64,
        "seed": 1,
        "scale": "paper",
        "outcome": {
            "kind": "finished",
            "update": 14000,
            "reason": "every update is done",
            "schedule": {"name": "inverse_sqrt", "learning_rate": 1.5e-3, "warmup": 2},
            "clip": 1.0,
            "norm": "pre",
            "precision": "fp32",
        },
        "parameters": {
            "total": 66_300_000,
            "trainable": 66_300_000,
            "encoder": 1,
            "decoder": 1,
            "embeddings": 1,
        },
        "data": {
            "dataset": "some",
            "direction": "many_to_one",
            "corpus_sha256": "0" * 64,
            "tensors_sha256": "0" * 64,
        },
        "code": {
            part: {"hash": "0" * 64, "python": "3.11", "modules": []}
            for part in ("training", "decoding", "scoring")
        },
        "versions": {},
        "device": {},
        "attempts": [],
        "attempts_in_all": 1,
        "totals": {"updates": 14000, "target_tokens": 1, "seconds": 1.0},
        "validation": {"nll": 4.5, "unigram_nll": 6.06, "by_task": {"bos": 4.4, "fra": 4.6}},
        "depth": None,
        "compared": {"gates": gates, "metric": "13a"},
        "scores": scores or {},
        "no_layer": {},
        "files": [],
    }
    return value | changes


def ended(kind, update=122):
    """The outcome of a run without a result."""
    return manifest()["outcome"] | {"kind": kind, "update": update, "reason": "its loss"}


@pytest.fixture
def made():
    """The makers of manifests, for tests to call."""

    class Made:
        manifest = staticmethod(manifest)
        score = staticmethod(score)
        ended = staticmethod(ended)
        unvalidated = UNVALIDATED
        signature = SIGNATURE

    return Made


@pytest.fixture
def rows(tmp_path):
    """A function from row -> manifests (one a seed, None for a missing one) to rows on disk."""

    def place(names, **manifests):
        found = []
        for name, run in names.items():
            places = {}
            for seed, value in enumerate(manifests.get(run, [None]), start=1):
                places[seed] = tmp_path / "runs" / run / str(seed) / "manifest.json"
                if value is not None:
                    places[seed].parent.mkdir(parents=True, exist_ok=True)
                    whole = value | {"run": run, "seed": seed}
                    places[seed].write_text(json.dumps(whole), encoding="utf-8")
            found.append(Row(name, f"{run}-00000000", places))
        return tuple(found)

    return place


@pytest.fixture
def typical(rows, table, made):
    """A finished row of two seeds, a diverged one, a gated one with few Bosnian sentences."""
    depth = {
        "effective_depth": 5.875,
        "by_task": {"bos": 6, "fra": 6},
        "sum_p": 6.01,
        "mean_abs_alpha": 0.31,
        "undecided_share": 0.25,
        "layers": 12,
    }
    tasks = ({"bos": 20.0, "fra": 38.0}, {"bos": 21.0, "fra": 39.0})
    plain = [
        made.manifest({"plain": {task: made.score(value) for task, value in each.items()}})
        for each in tasks
    ]
    gated = made.manifest(
        {
            "soft": {"bos": made.score(22.0, sentences=68), "fra": made.score(40.0)},
            "hard": {"bos": made.score(21.5, sentences=68), "fra": made.score(39.5)},
        },
        depth={"decoder": depth},
    )
    gated["compared"]["gates"] = "soft"
    diverged = made.manifest(outcome=made.ended("diverged"), validation=made.unvalidated)
    return rows(table.rows, small=plain, deep=[diverged], gated=[gated])
