"""What a job asks of a machine: memory, by network or text; arithmetic and time on a device."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from fathom.config.schema.run import Model, Subwords
from fathom.config.spec import Spec, into_pivot

# The interpreter, torch, the driver's part and memory-mapped text, in MB.
_BASE = 3_000
# Weights, gradients, two moments and the copy that is saved are 28; the rest is for what a method
# adds and for the differences between networks.
_BYTES_PER_PARAMETER = 48
# Matrices of the width's square: two attentions, or the two directions of a recurrent cell.
_ATTENTIONS, _CELLS = 8, 24
_MEGABYTE = 1_000_000
# Lines as text of Python, several copies, and what SentencePiece makes of them.
_OF_TEXT = 12
# Of text that is read line by line: a few numbers for each line.
_OF_STREAM = 0.25
# Bytes of packed text that are cleaned in a minute: a third of what one core does.
_PER_MINUTE = 60_000_000
# Bytes of a long training sentence.
_SENTENCE = 250
# Of published pieces, whose number config does not have.
_PUBLISHED = 50_000
# Pieces of a sentence of WMT'16: 138 million tokens for 4.5 million pairs in fairseq's logs.
SENTENCE = 30
# What good kernels reach of a device's peaks. Until something is measured, half of it is possible:
# hours are a range, up to this many times the estimate.
SHARE, BANDWIDTH_SHARE = 0.65, 0.75
SLOWEST = 2.0
# Recurrent networks wait for the step before: the share of the peak that they are taken to reach.
_RECURRENT = 0.10
# Of an update, by `make bench-fake-cuda`: values of a layer that kernels read and write per token,
# as multiples of its width and of the width inside its feed-forward network; of a logit; bytes per
# parameter by the optimiser; kernels of a layer of the encoder, of the decoder, and of the rest.
_ENCODER, _DECODER, _FEED_FORWARD, _LOGIT, _OPTIMISER = 45, 105, 28, 13, 40
_KERNELS = 35, 59, 120
_VALUE = {"fp32": 4, "tf32": 4, "bf16": 3, "fp16": 3}  # bytes; autocast leaves some in fp32
# Of an update's operations and kernels, those of its forward pass.
_FORWARD = 1 / 3
# Sentences that a GPU translates together, as decode/translate.py bounds them.
_TOGETHER = 1_000


@dataclass(frozen=True)
class Device:
    """A device's peaks: 10¹² operations/s by arithmetic, 10¹² bytes/s, seconds of a launch."""

    fp32: float
    tf32: float | None = None
    bf16: float | None = None
    bandwidth: float = inf
    launch: float = 5e-6
    fp16: float | None = None  # where it is not that of bf16

    def peak(self, arithmetic: str) -> float:
        """Return the operations/s of an arithmetic; of fp32 where the device has no other."""
        given = getattr(self, arithmetic) or (self.bf16 if arithmetic == "fp16" else None)
        return 1e12 * (given or self.fp32)


# By the makers' data sheets, dense and for SXM boards: NVIDIA H200, H100, A100 80GB, L40S, V100;
# GeForce RTX 4090 by the Ada architecture's white paper, bf16 with sums in fp32. A core of a CPU is
# one large product, measured on an AMD EPYC (2026-11-22).
DEVICES = {
    "h200": Device(67.0, 494.5, 989.0, 4.8),
    "h100": Device(67.0, 494.5, 989.0, 3.35),
    "a100": Device(19.5, 156.0, 312.0, 2.039),
    "l40s": Device(91.6, 183.0, 362.0, 0.864),
    "v100": Device(15.7, bandwidth=0.9, fp16=125.0),
    "4090": Device(82.6, 82.6, 165.2, 1.008),
    "cpu": Device(0.093, launch=0.0),
}


def operations_per_token(spec: Spec, entries: int) -> float:
    """Return the operations of an update per piece that a network reads, with its source's piece.

    A parameter of a product costs 6: multiply and add, forward and twice backward; 4 where it is
    frozen. Source and target are taken to be equally long. What a method adds is left out.

    Args:
        entries: the pieces of the target dictionary.
    """
    model, width = spec.model, spec.model.width
    each = 4 if spec.start and spec.start.freeze else 6
    if model.ffn is None:
        # A layer of the decoder has one direction, and the output reads state and context.
        cells = _CELLS * model.encoder_layers + _CELLS // 2 * model.decoder_layers
        return each * (cells * width**2 + 2 * entries * width)
    attentions = model.encoder_layers + 2 * model.decoder_layers
    stacks = model.encoder_layers + model.decoder_layers
    met = 4 * width**2 * attentions + 2 * width * model.ffn * stacks
    output = entries * width * (spec.masking.chosen if spec.masking else 1)
    # Each position meets those of its sentence or block, in two products.
    return each * (met + output) + 12 * attentions * (model.block or SENTENCE) * width


def arithmetic_of(spec: Spec, tf32: bool) -> str:
    """Return the arithmetic of a training's products; `tf32` as for `seconds_per_update`."""
    given = spec.training.precision
    return "tf32" if tf32 and given == "fp32" and spec.training.matmul is None else given


def seconds_per_update(
    spec: Spec, entries: int, tokens: int, device: Device, tf32: bool = False
) -> float:
    """Return an estimate of the time of an update: of arithmetic and memory in turn, or launches.

    Args:
        tokens: pieces that the network reads in an update, target side.
        entries: the pieces of the target dictionary.
        tf32: whether float32 products are in TF32 where the device has it and the run may.
    """
    model, arithmetic = spec.model, arithmetic_of(spec, tf32)
    operations = tokens * operations_per_token(spec, entries)
    if model.ffn is None:
        return operations / (_RECURRENT * device.peak(arithmetic))
    counts = model.encoder_layers, model.decoder_layers, 1
    kernels = sum(count * each for count, each in zip(counts, _KERNELS, strict=True))
    values = model.width * (_ENCODER * model.encoder_layers + _DECODER * model.decoder_layers)
    values += _FEED_FORWARD * model.ffn * (model.encoder_layers + model.decoder_layers)
    values += _LOGIT * entries * (spec.masking.chosen if spec.masking else 1)
    stored = layers(model) + 2 * entries * model.width
    moved = _VALUE[arithmetic] * values * tokens + _OPTIMISER * stored
    computing = operations / (SHARE * device.peak(arithmetic))
    moving = moved / (BANDWIDTH_SHARE * 1e12 * device.bandwidth)
    return max(computing + moving, kernels * device.launch)


def seconds_of_likelihood(spec: Spec, entries: int, sentences: int, device: Device) -> float:
    """Return an estimate of the time of a forward pass over sentences, in the run's precision."""
    whole = replace(spec, start=None)  # nothing is frozen
    return _FORWARD * seconds_per_update(whole, entries, sentences * SENTENCE, device)


def seconds_of_translation(spec: Spec, entries: int, sentences: int, device: Device) -> float:
    """Return an estimate of the time of a beam search over sentences, in float32.

    The encoder reads each sentence once. In a step, each hypothesis has a pass of the decoder, and
    reads the keys and values of its source and of its pieces so far, half of them on average.
    """
    if spec.decoding is None:
        return 0.0
    model, beam = spec.model, spec.decoding.beam
    whole = replace(spec, start=None)
    encoder = replace(whole, model=model.model_copy(update={"decoder_layers": 0}))
    decoder = replace(whole, model=model.model_copy(update={"encoder_layers": 0}))
    steps = sentences * SENTENCE * beam
    operations = _FORWARD * steps * operations_per_token(decoder, entries)
    operations += _FORWARD * sentences * SENTENCE * operations_per_token(encoder, 0)
    if model.ffn is None:
        return operations / (_RECURRENT * device.peak("fp32"))
    values = 2 * model.width * model.decoder_layers * (SENTENCE + SENTENCE / 2)
    values += _FORWARD * _LOGIT * entries
    computing = operations / (SHARE * device.peak("fp32"))
    moving = _VALUE["fp32"] * steps * values / (BANDWIDTH_SHARE * 1e12 * device.bandwidth)
    kernels = _FORWARD * (_KERNELS[1] * model.decoder_layers + _KERNELS[2])
    batches = -(-sentences // _TOGETHER)
    return max(computing + moving, batches * SENTENCE * kernels * device.launch)


def tokens_of_update(spec: Spec) -> int:
    """Return the target tokens of an update, as a batch is asked for."""
    batch = spec.training.batch
    return batch.tokens * (len(spec.data.tasks) if batch.per == "task" else 1)


def entries_of(spec: Spec) -> int:
    """Return the pieces of the target dictionary, as far as config says."""
    data, subwords = spec.data, spec.data.subwords
    stated = subwords.joint
    if stated is None and into_pivot(data.definition, data.settings.direction):
        stated = subwords.english
    elif stated is None:
        stated = subwords.foreign or (subwords.per_task or 0) * len(data.tasks)
    return stated or vocabulary(subwords, 1)


def kind_of(model: Model) -> str:
    """Return the kind of a network: others of its kind are slower than estimates by a like factor.

    A class of depths ends where the depth has doubled.
    """
    count = model.encoder_layers + model.decoder_layers
    least = 1 << (count.bit_length() - 1)
    return f"{model.architecture} of width {model.width}, {least} to {2 * least - 1} layers"


def memory_of_run(spec: Spec) -> int:
    """Return the memory of a training or translation of a run, in MB."""
    entries = vocabulary(spec.data.subwords, len(spec.data.tasks))
    parameters = layers(spec.model) + 4 * entries * spec.model.width
    return _BASE + _BYTES_PER_PARAMETER * parameters // _MEGABYTE


def memory_of_text(records: Iterable[str], sentences: int | None = None) -> int:
    """Return the memory of a job that holds its text, in MB.

    The text is next to its inputs `records`, or below; it holds `sentences` at most, if it draws.
    """
    size = held = _size(records)
    if sentences is not None:
        held = min(size, sentences * _SENTENCE)
    return _BASE + int(_OF_TEXT * held + _OF_STREAM * size) // _MEGABYTE


def memory_of_stream(records: Iterable[str]) -> int:
    """Return the memory of a job that reads its text line by line, in MB."""
    return memory_of_text(records, 0)


def minutes_of_stream(records: Iterable[str]) -> int:
    """Return the time limit of a job that cleans packed text next to its inputs, in minutes."""
    return 30 + _size(records) // _PER_MINUTE


def _size(records: Iterable[str]) -> int:
    """Return the bytes of all files next to records, or below."""
    folders = {Path(record).parent for record in records}
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files)


def layers(model: Model) -> int:
    """Return about how many parameters the layers of a network have."""
    width, count = model.width, model.encoder_layers + model.decoder_layers
    matrices = (_ATTENTIONS if model.ffn else _CELLS) * width**2
    return count * (matrices + 2 * width * (model.ffn or 0))


def vocabulary(subwords: Subwords, tasks: int) -> int:
    """Return how many pieces the dictionaries have together, at most."""
    trained = (subwords.joint, subwords.english, subwords.foreign, (subwords.per_task or 0) * tasks)
    return sum(filter(None, trained)) or _PUBLISHED
