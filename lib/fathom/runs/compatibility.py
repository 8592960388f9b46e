"""What of a run's network, method, training and decoding does not go together."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from fathom.errors import FathomError, nearest
from fathom.runs.method_card import Card
from fathom.runs.resolve import Leaf, Setting
from fathom.runs.spec import Masking, Model, Spec

# Another probability of leaving something out does not change what weights mean.
_DROPOUTS = {"dropout", "attention_dropout", "activation_dropout"}


def findings(
    spec: Spec,
    base: Spec | None,
    settings: Mapping[Leaf, Setting],
    takes: Mapping[str, Mapping[str, list[Any]]],
) -> Iterator[FathomError]:
    """Yield what does not fit, each where its value is given.

    Args:
        spec: the run, resolved.
        base: the run that it starts from, if it does.
        settings: the run's settings by path.
        takes: by architecture, the fields of a model of which it takes some values alone.
    """
    yield from _shape(spec.model, settings, takes)
    yield from _training(spec, settings)
    if base is not None:
        yield from _base(spec, base, settings)


def method_findings(card: Card, settings: Mapping[Leaf, Setting]) -> Iterator[FathomError]:
    """Yield what of a run's model or decoding does not go with its method.

    Args:
        card: of the run's method.
        settings: all settings of the run by path, those of its method included and right.
    """
    norm, gates = settings[("model", "norm")], settings[("evaluation", "compared_gates")]
    if norm.value not in card.norms:
        what = f"'{card.name}' does not work with the norm '{norm.value}'"
        yield FathomError(what, norm.where, nearest(norm.value, card.norms))
    place = ("method", "settings")
    chosen = {leaf[2]: each.value for leaf, each in settings.items() if leaf[:2] == place}
    reason = card.refusal(gates.value, chosen) if card.gates else None
    if reason is not None:
        yield FathomError(f"{gates.value} gates are refused: {reason}", gates.where, "write soft")


def _shape(
    model: Model, settings: Mapping[Leaf, Setting], takes: Mapping[str, Mapping[str, list[Any]]]
) -> Iterator[FathomError]:
    if model.width % model.heads:
        yield FathomError(
            f"{model.width} is no multiple of {model.heads} heads",
            settings[("model", "width")].where,
            "change the width or the number of heads",
        )
    for field, possible in takes[model.architecture].items():
        value = getattr(model, field)
        if value not in possible:
            yield FathomError(
                f"'{model.architecture}' does not work with {field} {_told(value)}",
                settings[("model", field)].where,
                f"write {' or '.join(map(_told, possible))}",
            )


def _told(value: object) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _training(spec: Spec, settings: Mapping[Leaf, Setting]) -> Iterator[FathomError]:
    model, masking = spec.model, spec.training.masking
    without_decoder = model.decoder_layers == 0
    if (masking is not None) != without_decoder:
        yield FathomError(
            "pieces are hidden from networks without a decoder, and from them alone",
            settings[("model", "decoder_layers")].where,
            "give training.masking and no decoder layers, or neither",
        )
    if masking:
        yield from _masking(spec, masking, settings)
    if without_decoder and "decoder" in spec.method.sides:
        where = settings[("method", "sides")].where
        yield FathomError("the network has no decoder", where, nearest("decoder", ["encoder"]))
    yield from _averaging(spec, settings)


def _masking(
    spec: Spec, masking: Masking, settings: Mapping[Leaf, Setting]
) -> Iterator[FathomError]:
    positions = spec.model.learned_positions
    if masking.masked + masking.random > 1:
        where = settings[("training", "masking", "random")].where
        yield FathomError("shares over 1 in all", where, "make masked and random smaller")
    if positions is None:
        where, remedy = settings[("model", "learned_positions")].where, "write 512, for example"
        yield FathomError("blocks of text have as many tokens as positions", where, remedy)
    elif spec.data.max_pieces > positions - 2:
        yield FathomError(
            f"a sentence of {spec.data.max_pieces} pieces and two symbols is longer than a block",
            settings[("data", "max_pieces")].where,
            f"write {positions - 2} or less",
        )


def _averaging(spec: Spec, settings: Mapping[Leaf, Setting]) -> Iterator[FathomError]:
    average_of, kept = spec.evaluation.decoding.average_of, spec.training.keep_weights
    if average_of > 1 and kept < average_of:
        yield FathomError(
            f"{average_of} weights are averaged, and {kept} are kept",
            settings[("evaluation", "decoding", "average_of")].where,
            f"write training.keep_weights: {average_of}, or average fewer",
        )


def _base(spec: Spec, base: Spec, settings: Mapping[Leaf, Setting]) -> Iterator[FathomError]:
    where = settings[("training", "start", "run")].where
    for field in (each.name for each in fields(Model)):
        own, other = getattr(spec.model, field), getattr(base.model, field)
        if field not in _DROPOUTS and own != other:
            what = f"'{base.run}' has {field} {_told(other)}, and this run {_told(own)}"
            yield FathomError(what, where, "start from a run with the same model")
    if spec.data != base.data:
        yield FathomError(f"'{base.run}' has other data", where, "start from a run with the same")
