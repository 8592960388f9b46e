"""From the nested mapping of resolved settings to the frozen specification."""

from dataclasses import fields
from typing import Any, TypeVar

from fathom.errors import FathomError, Findings
from fathom.runs.datasets import Dataset
from fathom.runs.spec import (
    Batches,
    Data,
    Decoding,
    Evaluation,
    Masking,
    Method,
    Model,
    Outcome,
    Schedule,
    Scoring,
    Spec,
    Start,
    Subwords,
    Training,
)

T = TypeVar("T")


def spec_from(
    run: str,
    scale: str,
    tree: dict[str, Any],
    dataset: Dataset,
    definition: dict[str, Any],
    gates: bool,
    base: Spec | None,
) -> Spec:
    """Build a specification.

    Args:
        run: the run's name.
        scale: the scale's name.
        tree: the resolved settings.
        dataset: the data set that the settings name.
        definition: the data set, resolved to what determines its text.
        gates: whether the method has gates; one without is decoded plainly.
        base: the run whose weights this one starts from, where the settings name one.

    Raises:
        Findings: settings that neither the run nor the defaults give.
    """
    data, training, evaluation = (dict(tree[key]) for key in ("data", "training", "evaluation"))
    data["subwords"] = _frozen(Subwords, data["subwords"], "data.subwords")
    data |= {"tasks": dataset.task_names, "definition": definition}
    training["batches"] = _frozen(Batches, training["batches"], "training.batches")
    training["adam_betas"] = tuple(training["adam_betas"])
    training["schedule"] = _schedule(training["schedule"])
    training["start"] = _start(training, base)
    masking = training.get("masking")
    training["masking"] = masking and _frozen(Masking, masking, "training.masking")
    model = tree["model"] | {"residuals": tuple(tree["model"]["residuals"])}
    method = {"settings": {}} | tree["method"]
    method = {key: value for key, value in method.items() if key != "preset"}
    method["sides"] = tuple(method["sides"])
    return Spec(
        run=run,
        scale=scale,
        data=_frozen(Data, data, "data"),
        model=_frozen(Model, model, "model"),
        method=_frozen(Method, method, "method"),
        training=_frozen(Training, training, "training"),
        outcome=_frozen(Outcome, tree["outcome"], "outcome"),
        evaluation=Evaluation(
            decoding=_frozen(Decoding, evaluation["decoding"], "evaluation.decoding"),
            scoring=_frozen(Scoring, evaluation["scoring"], "evaluation.scoring"),
            compared_gates=evaluation["compared_gates"] if gates else "plain",
        ),
    )


def _schedule(values: dict[str, Any]) -> Schedule:
    """Return a schedule; all of its values but the name are keywords."""
    return Schedule(values["name"], {key: each for key, each in values.items() if key != "name"})


def _start(training: dict[str, Any], base: Spec | None) -> Start | None:
    """Return where the weights come from, with what determines them."""
    if base is None:
        return None
    average_of = base.evaluation.decoding.average_of
    return Start(base.run, base.identity, average_of, training["start"]["freeze"])


def _frozen(kind: type[T], values: dict[str, Any], where: str) -> T:
    """Build a dataclass from a mapping, or say which of its values nobody gives."""
    missing = [each.name for each in fields(kind) if each.name not in values]
    if missing:
        raise Findings(
            FathomError("no value is given", f"{where}.{name}", "give it in the run or defaults")
            for name in missing
        )
    return kind(**values)
