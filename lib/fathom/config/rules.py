"""Settings of a run that do not go together: network, method, training, decoding, data.

Every check yields the key at fault, what is wrong, and what to write.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fathom.config.schema.dataset import Dataset, Fault
from fathom.config.schema.method import OF_A_RUN, MethodCard
from fathom.config.schema.run import Model, RunSettings, TrainingSettings, length
from fathom.config.schema.section import STACKS
from fathom.config.spec import DataSpec, Spec
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
# Saves that are averaged should be of this share of a training, its end.
LAST = 0.2


def faults(run: RunSettings, data: DataSpec, card: MethodCard, dataset: Dataset) -> Iterator[Fault]:
    """Yield what does not go together in a run, what it starts from apart."""
    yield from _model(run)
    yield from _method(run, card)
    yield from _stacks(run, card)
    yield from _requirements(run, data, card)
    yield from _masking(run)
    yield from _lengths(run)
    yield from _decoding(run)
    yield from _direction(run, dataset)
    yield from subword_faults(data)


def shown(value: object) -> str:
    """Return a value as YAML writes it."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _model(run: RunSettings) -> Iterator[Fault]:
    model = run.model
    if model.width % model.heads:
        what = f"{model.width} is not a multiple of {model.heads} heads"
        yield ("model", "heads"), what, "change the width or the number of heads"
    for key, possible in TAKES[model.architecture].items():
        value = getattr(model, key)
        if value not in possible and not (key == "embedding" and value == model.width):
            what = f"'{model.architecture}' does not work with {key} {shown(value)}"
            yield ("model", key), what, f"write {' or '.join(map(shown, possible))}"
    if model.ffn is None and model.architecture != "rnmt_plus":
        yield ("model", "ffn"), "no value is given", "add the key"
    if model.architecture == "rnmt_plus" and model.embedding not in (None, model.width):
        what = "embeddings of another width than the network's are not built"
        yield ("model", "embedding"), what, f"write {model.width}"
    subwords = run.data.subwords
    one_dictionary = subwords.joint is not None or subwords.dictionary == "joint"
    if model.tie_embeddings == "all" and not one_dictionary:
        what = "one table for both sides needs one dictionary for both sides"
        remedy = "write decoder or none, or give data.subwords joint pieces alone"
        yield ("model", "tie_embeddings"), what, remedy


def _method(run: RunSettings, card: MethodCard) -> Iterator[Fault]:
    norm, norms = run.model.norm, card.about.norms
    if norm not in norms and run.model.architecture != "rnmt_plus":
        what = f"'{card.name}' does not work with the norm '{norm}'"
        yield ("model", "norm"), what, nearest(norm, norms)
    if run.model.decoder_layers == 0 and run.method.stacks == ("decoder",):
        yield ("method", "stacks"), "the network has no decoder", "write [encoder]"
    if not card.gates(run.method.settings):
        reasons = {str(card.refusal(gates, run.method.settings)) for gates in ("soft", "hard")}
        what = f"no gates are left to decode with: {'; '.join(sorted(reasons))}"
        yield ("method", "name"), what, "change the method's settings"


def _stacks(run: RunSettings, card: MethodCard) -> Iterator[Fault]:
    """Yield settings that count layers and act on no stack, or count more than it has."""
    layers = {"encoder": run.model.encoder_layers, "decoder": run.model.decoder_layers}
    settings = run.method.settings
    for name, setting in card.about.settings.items():
        number = settings.get(setting.stacks_of or "")
        if setting.stacks_of is None or number is None:
            continue
        stacks = [stack for stack in settings[name] if stack in run.method.stacks]
        most = max((layers[stack] for stack in stacks), default=0)
        if not stacks:
            what = f"{setting.stacks_of} {shown(number)} acts on no stack of the method"
            remedy = f"write [{', '.join(run.method.stacks)}], or {setting.stacks_of}: null"
            yield ("method", name), what, remedy
        elif number > most:
            what = f"{shown(number)} layers, but the {' and the '.join(stacks)} has {most}"
            yield ("method", setting.stacks_of), what, f"write {most} or less"


def _requirements(run: RunSettings, data: DataSpec, card: MethodCard) -> Iterator[Fault]:
    """Yield the rules of a method's card that a run breaks, at the rule's first setting."""
    of_run = (run.model.width, len(data.tasks), run.training.updates)
    values = dict(zip(OF_A_RUN, of_run, strict=True)) | run.method.settings
    for rule in card.about.requires:
        if not rule.holds(values):
            given = ", ".join(f"{name} {values[name]}" for name in rule.names)
            names = [name for name in rule.names if name not in OF_A_RUN]
            what = f"{rule.reason}: {rule.rule}, but here {given}"
            yield ("method", *names[:1]), what, f"change {' or '.join(names)}"


def _masking(run: RunSettings) -> Iterator[Fault]:
    masked, block = run.model.architecture == "masked_lm", run.model.block
    if run.masking is not None and not masked:
        yield ("masking",), "only masked language models hide pieces", "delete the key"
    if not masked:
        return
    if run.masking is None:
        yield ("masking",), "a masked language model hides pieces", "add masking"
    if block is None:
        yield ("model", "block"), "a masked language model needs a block", "write 512, for example"
    elif run.data.max_pieces > block - 2:
        what = f"a sentence of {run.data.max_pieces} pieces and two symbols is longer than a block"
        yield ("data", "max_pieces"), what, f"write {block - 2} or less"


def _decoding(run: RunSettings) -> Iterator[Fault]:
    decoding, training = run.decoding, run.training
    if run.model.decoder_layers == 0 and decoding is not None:
        yield ("decoding",), "a network without decoder translates nothing", "delete decoding"
    if run.model.decoder_layers > 0 and decoding is None:
        yield ("decoding",), "no beam search is given", "add decoding"
    if decoding is None:
        return
    for key in ("average_of", "window"):
        count = getattr(decoding, key) or 1
        if count > max(training.keep_weights, 1):
            what = f"{count} saved weights are decoded, and {training.keep_weights} are kept"
            yield ("decoding", key), what, f"write training.keep_weights: {count} or more"


def _lengths(run: RunSettings) -> Iterator[Fault]:
    """Yield a rate that never reaches its peak, and too few saves for the weights of a mean."""
    training, count = run.training, run.decoding.average_of if run.decoding else 1
    warmup, updates = training.schedule.settings.get("warmup", 0), training.updates
    if isinstance(updates, str):
        return
    if warmup > updates:
        what = f"a warm-up of {warmup} updates, and the run has {updates}"
        yield ("training", "schedule", "warmup"), what, f"write {updates} or less"
    if _first_averaged(training, count) <= 0:
        what = f"{updates} updates save fewer weights than the {count} that are averaged"
        yield ("decoding", "average_of"), what, _saves_remedy(updates, count)


def _saves_remedy(updates: int, count: int) -> str:
    return f"write training.save_every: {int(LAST * updates) // count or 1} or less"


def _first_averaged(training: TrainingSettings, count: int) -> float:
    """Return the share of a training after which the first weights of a mean are saved.

    0 or less where too few are saved; 1 where nothing is averaged, or only the text says how long
    an epoch is.
    """
    updates, every = training.updates, training.save_every or training.validate_every
    if count < 2 or type(updates) is not type(every):
        return 1.0
    saves = -(-length(updates) // length(every))
    return (saves - count + 1) * length(every) / length(updates)


def early_average(spec: Spec, paper: Spec) -> str | None:
    """Return a warning that a scale averages weights saved before the last fifth of a training.

    None where it does not, and where the paper's own settings do so as well.
    """
    count, updates = spec.decoding.average_of if spec.decoding else 1, spec.training.updates
    share, of_paper = (_first_averaged(each.training, count) for each in (spec, paper))
    if isinstance(updates, str) or share >= min(of_paper, 1 - LAST):
        return None
    what = f"the mean of {count} saved weights begins at update {share * updates:.0f} of {updates}"
    return f"{spec.folder}: {what}; {_saves_remedy(updates, count)}"


def _direction(run: RunSettings, dataset: Dataset) -> Iterator[Fault]:
    """Yield a missing or needless direction, and a target token without several targets."""
    # A data set of one language pair has `translates`.
    direction, key = run.data.direction, ("data", "direction")
    takes = dataset.pivot is not None and dataset.translates is None
    if direction is None and takes:
        remedy = "write many_to_one (into the pivot) or one_to_many (out of it)"
        yield key, f"'{dataset.name}' needs a direction", remedy
    if direction is not None and not takes:
        has = "no pairs" if dataset.pivot is None else "one direction: its card's `translates`"
        yield key, f"'{dataset.name}' has {has}", "delete the key"
    if run.data.target_token != "none" and direction != "one_to_many":
        what = "only one-to-many translation has several target languages to name"
        yield ("data", "target_token"), what, "write none"


def is_marked(definition: Mapping[str, Any]) -> bool:
    """Return whether the text of a data set comes in marked pieces (data/subwords.py)."""
    return bool(definition.get("pieces"))


def subword_faults(data: DataSpec) -> Iterator[Fault]:
    """Yield the keys of `data` that ask for text that is not there, or is cut already."""
    here, subwords = data.definition, data.subwords
    definition = data.pieces_definition or here
    if "not_built" in {*here, *definition}:
        return  # of text that cannot be made yet nothing is known
    algorithm, english = ("data", "subwords", "algorithm"), ("data", "subwords", "english")
    published = subwords.algorithm == "published"
    if published and not is_marked(definition):
        remedy = "write bpe or unigram, and the pieces of each text"
        yield algorithm, "the text has no pieces of its own", remedy
    if is_marked(definition) and not published:
        yield algorithm, "the text comes cut into pieces", "write {algorithm: published}"
    if subwords.english is not None and not definition.get("pivot"):
        what = "the data set has no pairs, so it has no text in a pivot language"
        yield english, what, "write joint alone"
    if data.pieces_definition is None:
        return
    key, pieces_of = ("data", "pieces_of"), data.settings.pieces_of
    if definition.get("pivot") != here.get("pivot"):
        remedy = "name a data set with the same pivot"
        yield key, f"'{pieces_of}' has another pivot language", remedy
    if is_marked(definition) != is_marked(here):
        what = f"of '{pieces_of}' and '{data.dataset}' one comes cut into pieces"
        yield key, what, "delete the key"
    tasks = {task for task, _ in definition["tasks"]}
    missing = [task for task, _ in here["tasks"] if task not in tasks]
    if subwords.per_task is not None and missing:
        what = f"'{pieces_of}' has no pieces of {', '.join(missing)}"
        yield key, what, "write joint or foreign, or name another"


def start_faults(spec: Spec, start: Spec) -> Iterator[Fault]:
    """Yield what keeps a run from starting with another run's weights.

    The tasks may differ; model, pieces and dictionaries may not.
    """
    key = ("start", "run")
    for name in type(spec.model).model_fields:
        here, there = getattr(spec.model, name), getattr(start.model, name)
        if name not in _DROPOUTS and here != there:
            what = f"'{start.run}' has {name} {shown(there)}, and this run {shown(here)}"
            yield key, what, "start from a run with the same model"
    if spec.data.subwords_identity != start.data.subwords_identity:
        remedy = "start from a run with the same pieces, or give data.pieces_of"
        yield key, f"'{start.run}' has other pieces", remedy
        return
    # As they are in the dictionaries.
    here, there = ([*dict.fromkeys(each.data.target_tokens.values())] for each in (spec, start))
    if (spec.data.settings.target_token, here) != (start.data.settings.target_token, there):
        remedy = "start from a run with the same data.target_token and languages"
        yield key, f"'{start.run}' has other tokens of target languages", remedy


# Which networks are a plain Transformer, that fairseq, CTranslate2 and transformers also compute.
# Settings say this before anything is trained; decode/export looks at the network itself.
NOT_PLAIN = "translate with fathom instead"  # what to do where a network is none


def beyond_plain(model: Model) -> Iterator[str]:
    """Yield what a network's shape has that no plain Transformer has."""
    foreign = {
        f"the architecture {model.architecture}": model.architecture != "transformer",
        f"the norm {model.norm}": model.norm not in ("pre", "post"),
        "a network without all residuals": {*model.residuals} != {*STACKS},
        "an output bias": model.output_bias,
        "learned positions": model.block is not None,
    }
    yield from (what for what, there in foreign.items() if there)


def require_plain_gates(card: MethodCard, gates: str, where: str) -> None:
    """Refuse gates with which a method adds something to the layers that it keeps."""
    if gates not in card.about.plain_with:
        what = f"not a plain Transformer: the method {card.name} with {gates} gates"
        raise FathomError(what, where, NOT_PLAIN)
