"""From the nested mapping of resolved settings to the frozen specification."""

from dataclasses import fields
from typing import Any, TypeVar

from fathom.catalog.datasets import Dataset
from fathom.catalog.spec import (
    Batches,
    Data,
    Decoding,
    Evaluation,
    Method,
    Model,
    Outcome,
    Scoring,
    Spec,
    Subwords,
    Training,
)
from fathom.records.errors import FathomError, Findings

T = TypeVar("T")


def spec_from(
    run: str,
    scale: str,
    tree: dict[str, Any],
    dataset: Dataset,
    definition: dict[str, Any],
    gates: bool,
) -> Spec:
    """Build a specification.

    Args:
        run: the run's name.
        scale: the scale's name.
        tree: the resolved settings.
        dataset: the data set that the settings name.
        definition: the data set, resolved to what determines its text.
        gates: whether the method has gates; one without is decoded plainly.

    Raises:
        Findings: settings that neither the run nor the defaults give.
    """
    data, training, evaluation = (dict(tree[key]) for key in ("data", "training", "evaluation"))
    data["subwords"] = _frozen(Subwords, data["subwords"], "data.subwords")
    data |= {"tasks": dataset.task_names, "definition": definition}
    training["batches"] = _frozen(Batches, training["batches"], "training.batches")
    training["adam_betas"] = tuple(training["adam_betas"])
    method = {"settings": {}} | tree["method"]
    method["sides"] = tuple(method["sides"])
    return Spec(
        run=run,
        scale=scale,
        data=_frozen(Data, data, "data"),
        model=_frozen(Model, tree["model"], "model"),
        method=_frozen(Method, method, "method"),
        training=_frozen(Training, training, "training"),
        outcome=_frozen(Outcome, tree["outcome"], "outcome"),
        evaluation=Evaluation(
            decoding=_frozen(Decoding, evaluation["decoding"], "evaluation.decoding"),
            scoring=_frozen(Scoring, evaluation["scoring"], "evaluation.scoring"),
            compared_gates=evaluation["compared_gates"] if gates else "plain",
        ),
    )


def _frozen(kind: type[T], values: dict[str, Any], where: str) -> T:
    """Build a dataclass from a mapping, or say which of its values nobody gives."""
    missing = [each.name for each in fields(kind) if each.name not in values]
    if missing:
        raise Findings(
            FathomError("no value is given", f"{where}.{name}", "give it in the run or defaults")
            for name in missing
        )
    return kind(**values)
