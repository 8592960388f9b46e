"""Specs of tiny runs for tests: the real classes and the real cards, without a project."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from fathom.config.schema import run as settings
from fathom.config.schema.method import MethodCard, read_method
from fathom.config.spec import DataSpec, Spec, StartSpec
from fathom.config.yaml_values import read

ROOT = Path(__file__).resolve().parents[2]
TASKS = ("aaa", "bbb")
TREE: dict[str, Any] = yaml.safe_load("""
data: {dataset: small, direction: many_to_one, max_pieces: 64,
       subwords: {algorithm: bpe, foreign: 60, english: 50}}
model: {architecture: transformer, encoder_layers: 2, decoder_layers: 2, width: 16, ffn: 24,
        heads: 2, norm: pre, dropout: 0.1, tie_embeddings: decoder}
method: {name: static}
training:
  updates: 4
  batch: {tokens: 24, per: task, pool: 2}
  shares: equal
  label_smoothing: 0.1
  schedule: {name: inverse_sqrt, learning_rate: 0.01, warmup: 2}
  adam: {betas: [0.9, 0.98], eps: 1.0e-6}
  clip: 1.0
  validate_every: 2
decoding: {beam: 2, cap_ratio: 1.5, cap_constant: 10}
""")


@cache
def card(name: str) -> MethodCard:
    """Return the real card of a method."""
    return read_method(name, read(ROOT / f"config/methods/{name}.yaml", ROOT))


def method(name: str, **values: Any) -> settings.MethodSettings:
    """Return a method with its card's defaults and some settings of its own."""
    return card(name).method.model_validate({"name": name, **values})


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a nested mapping with changes; one of another `name` replaces the former."""
    tree = dict(base)
    for key, value in changes.items():
        old = tree.get(key)
        same = isinstance(old, dict) and isinstance(value, Mapping)
        same = same and value.get("name", old.get("name")) == old.get("name")
        tree[key] = merged(old, value) if same else value
    return tree


def small_spec(
    changes: Mapping[str, Any] | None = None,
    *,
    run: str = "small",
    paper: str = "paper",
    tasks: tuple[str, ...] = TASKS,
    definition: Mapping[str, Any] | None = None,
    start: StartSpec | None = None,
) -> Spec:
    """Return the spec of a tiny run; `changes` of TREE are nested as in runs.yaml."""
    tree = merged(TREE, changes or {})
    chosen = tree.pop("method")
    checked = settings.RunSettings.model_validate({**tree, "method": method(**chosen)})
    return Spec(
        paper=paper,
        run=run,
        data=DataSpec(checked.data, tasks, dict(definition or {"tasks": list(tasks)})),
        model=checked.model,
        method=checked.method,
        training=checked.training,
        outcome=checked.outcome,
        masking=checked.masking,
        start=start,
        gates=card(checked.method.name).gates(checked.method.settings),
        decoding=checked.decoding,
        scoring=checked.scoring,
    )
