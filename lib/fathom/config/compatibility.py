"""Settings of a run that do not go together: network, method, training and decoding."""

from collections.abc import Iterator, Mapping
from typing import Any

from fathom.config import plain
from fathom.config.inheritance import Entry
from fathom.config.schema.method import MethodCard
from fathom.config.schema.run import (
    Decoding,
    Masking,
    Model,
    RunSettings,
    Subwords,
    TrainingSettings,
)
from fathom.config.spec import Spec
from fathom.io.errors import FathomError, nearest

# Values that a kind of network takes of some settings; all others it takes as they are.
TAKES: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "transformer": {"block": (None,), "embedding": (None,)},
    "rnmt_plus": {
        "ffn": (None,),
        "norm": ("none",),
        "activation": ("relu",),
        "activation_dropout": (0.0,),
        "tie_embeddings": ("none",),
        "block": (None,),
    },
    "masked_lm": {
        "decoder_layers": (0,),
        "tie_embeddings": ("decoder",),
        "output_bias": (True,),
        "embedding": (None,),
    },
}
# Another probability of leaving something out does not change what weights mean.
_DROPOUTS = ("dropout", "attention_dropout", "activation_dropout")


def findings(run: RunSettings, card: MethodCard, entry: Entry) -> Iterator[FathomError]:
    """Yield what does not go together, each where its value is given.

    Args:
        run: the checked settings.
        card: of the run's method.
        entry: the run's entry, for the places of its values.
    """
    yield from _shape(run.model, entry)
    yield from _tables(run, entry)
    yield from _target_token(run, entry)
    yield from _method(run, card, entry)
    yield from _stacks(run, card, entry)
    yield from _masking(run, entry)
    yield from _warmup(run.training, entry)
    yield from _decoding(run, card, entry)


def _warmup(training: TrainingSettings, entry: Entry) -> Iterator[FathomError]:
    """Yield a learning rate that never reaches its peak; a run may also count epochs."""
    warmup, updates = training.schedule.settings.get("warmup", 0), training.updates
    if isinstance(updates, int) and warmup > updates:
        where = entry.where(("training", "schedule", "warmup"))
        what = f"a warm-up of {warmup} updates, and the run has {updates}"
        yield FathomError(what, where, f"write {updates} or less")


def _shape(model: Model, entry: Entry) -> Iterator[FathomError]:
    if model.width % model.heads:
        what = f"{model.width} is no multiple of {model.heads} heads"
        remedy = "change the width or the number of heads"
        yield FathomError(what, entry.where(("model", "heads")), remedy)
    for key, possible in TAKES[model.architecture].items():
        value = getattr(model, key)
        if value not in possible and not (key == "embedding" and value == model.width):
            yield FathomError(
                f"'{model.architecture}' does not work with {key} {shown(value)}",
                entry.where(("model", key)),
                f"write {' or '.join(map(shown, possible))}",
            )
    if model.ffn is None and model.architecture != "rnmt_plus":
        yield FathomError("no value is given", entry.where(("model", "ffn")), "add the key")
    if model.architecture == "rnmt_plus" and model.embedding not in (None, model.width):
        what = "embeddings of another width than the network's are not built"
        yield FathomError(what, entry.where(("model", "embedding")), f"write {model.width}")


def _tables(run: RunSettings, entry: Entry) -> Iterator[FathomError]:
    if run.model.tie_embeddings == "all" and not dictionaries_are_one(run.data.subwords):
        what = "one table for both sides needs one dictionary for both sides"
        remedy = "write decoder or none, or give data.subwords joint pieces alone"
        yield FathomError(what, entry.where(("model", "tie_embeddings")), remedy)


def _target_token(run: RunSettings, entry: Entry) -> Iterator[FathomError]:
    if run.data.target_token != "none" and run.data.direction != "one_to_many":
        what = "only one-to-many translation has several target languages to name"
        yield FathomError(what, entry.where(("data", "target_token")), "write none")


def dictionaries_are_one(subwords: Subwords) -> bool:
    """Return whether source and target share one dictionary: that of one model for all text."""
    return subwords.joint is not None or subwords.dictionary == "joint"


def shown(value: object) -> str:
    """Return a value as YAML writes it."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _method(run: RunSettings, card: MethodCard, entry: Entry) -> Iterator[FathomError]:
    norm, norms = run.model.norm, card.about.norms
    if norm not in norms and run.model.architecture != "rnmt_plus":
        what = f"'{card.name}' does not work with the norm '{norm}'"
        yield FathomError(what, entry.where(("model", "norm")), nearest(norm, norms))
    if run.model.decoder_layers == 0 and run.method.stacks == ("decoder",):
        where = entry.where(("method", "stacks"))
        yield FathomError("the network has no decoder", where, "write [encoder]")
    if not card.gates(run.method.settings):
        reasons = {card.refusal(gates, run.method.settings) for gates in ("soft", "hard")}
        where = entry.where(("method", "name"))
        yield FathomError(
            f"no gates are left to decode with: {'; '.join(map(str, reasons))}",
            where,
            "change the method's settings",
        )


def _stacks(run: RunSettings, card: MethodCard, entry: Entry) -> Iterator[FathomError]:
    """Yield settings that count layers and act on no stack, or count more than it has."""
    layers = {"encoder": run.model.encoder_layers, "decoder": run.model.decoder_layers}
    for name, setting in card.about.settings.items():
        number = run.method.settings.get(setting.stacks_of or "")
        if setting.stacks_of is None or number is None:
            continue
        stacks = [stack for stack in run.method.settings[name] if stack in run.method.stacks]
        if not stacks:
            what = f"{setting.stacks_of} {shown(number)} acts on no stack of the method"
            remedy = f"write [{', '.join(run.method.stacks)}], or {setting.stacks_of}: null"
            yield FathomError(what, entry.where(("method", name)), remedy)
        elif number > (most := max(layers[stack] for stack in stacks)):
            what = f"{shown(number)} layers, but the {' and the '.join(stacks)} has {most}"
            where = entry.where(("method", setting.stacks_of))
            yield FathomError(what, where, f"write {most} or less")


def _masking(run: RunSettings, entry: Entry) -> Iterator[FathomError]:
    masking: Masking | None = run.masking
    masked = run.model.architecture == "masked_lm"
    if masking is not None and not masked:
        where = entry.where(("masking",))
        yield FathomError("only masked language models hide pieces", where, "delete the key")
    if not masked:
        return
    if masking is None:
        where = entry.where(("masking",))
        yield FathomError("a masked language model hides pieces", where, "add masking")
    block = run.model.block
    if block is None:
        where = entry.where(("model", "block"))
        yield FathomError("a masked language model needs a block", where, "write 512, for example")
    elif run.data.max_pieces > block - 2:
        yield FathomError(
            f"a sentence of {run.data.max_pieces} pieces and two symbols is longer than a block",
            entry.where(("data", "max_pieces")),
            f"write {block - 2} or less",
        )


def _decoding(run: RunSettings, card: MethodCard, entry: Entry) -> Iterator[FathomError]:
    decoding: Decoding | None = run.decoding
    if (decoding is None) != (run.model.decoder_layers == 0):
        what, remedy = "no beam search is given", "add decoding"
        if decoding is not None:
            what, remedy = "a network without decoder translates nothing", "delete decoding"
        yield FathomError(what, entry.where(("decoding",)), remedy)
    if decoding is None:
        return
    yield from _saves(run.training, decoding, entry)
    if decoding.decoder == "ctranslate2":
        where = entry.where(("decoding", "decoder"))
        yield from plain.findings(run.model, run.method, card, where)
    saved_weights = run.training.keep_weights
    for key in ("average_of", "window"):
        count = getattr(decoding, key) or 1
        if count > max(saved_weights, 1):
            yield FathomError(
                f"{count} saved weights are decoded, and {saved_weights} are kept",
                entry.where(("decoding", key)),
                f"write training.keep_weights: {count} or more",
            )


def _saves(training: TrainingSettings, decoding: Decoding, entry: Entry) -> Iterator[FathomError]:
    """Yield a training that is too short to save as many weights as are averaged."""
    every, count = training.save_every or training.validate_every, decoding.average_of
    if isinstance(training.updates, str):
        return
    saved = -(-training.updates // every)
    if count > max(saved, 1):
        yield FathomError(
            f"{training.updates} updates save weights {saved} times, but {count} are averaged",
            entry.where(("decoding", "average_of")),
            f"write training.save_every: {training.updates // count or 1} or less",
        )


def start_findings(spec: Spec, start: Spec, entry: Entry) -> Iterator[FathomError]:
    """Yield what keeps a run from starting with another run's weights.

    The tasks may differ; model, pieces and dictionaries may not.

    Args:
        spec: the run.
        start: the run that it starts from.
        entry: the run's entry, for the places of its values.
    """
    where = entry.where(("start", "run"))
    for key in type(spec.model).model_fields:
        own, other = getattr(spec.model, key), getattr(start.model, key)
        if key not in _DROPOUTS and own != other:
            what = f"'{start.run}' has {key} {shown(other)}, and this run {shown(own)}"
            yield FathomError(what, where, "start from a run with the same model")
    if spec.data.subwords_identity != start.data.subwords_identity:
        remedy = "start from a run with the same pieces, or give data.pieces_of"
        yield FathomError(f"'{start.run}' has other pieces", where, remedy)
    elif _tokens(spec) != _tokens(start):
        remedy = "start from a run with the same data.target_token and languages"
        yield FathomError(f"'{start.run}' has other tokens of target languages", where, remedy)


def _tokens(spec: Spec) -> tuple[str, ...]:
    """Return the place and the names of the tokens of target languages, as in the dictionaries."""
    return (spec.data.target_token, *dict.fromkeys(spec.data.target_tokens.values()))
