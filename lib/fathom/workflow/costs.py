"""What a training costs: arithmetic, seconds on a device, and disk.

Stated rates are what well-kept code reaches at such sizes; as soon as trainings have run, what was
measured replaces them (`Rates`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median

from fathom.config.schema.run import Model
from fathom.config.spec import DataSpec, Spec
from fathom.data.subwords.sides import into_pivot
from fathom.io import metrics
from fathom.io.errors import FathomError
from fathom.results import training_record
from fathom.workflow.memory import layers, vocabulary

# 10¹² operations/s at most: dense bfloat16 by the makers' data sheets; for a core of a CPU, one
# large product in fp32 as `make bench` measured it.
PEAKS = {"h200": 989.0, "h100": 989.0, "a100": 312.0, "l40s": 362.0, "v100": 125.0, "cpu": 0.093}
# Pieces of a sentence of WMT'16: 138 million tokens for 4.5 million pairs in fairseq's logs.
_SENTENCE = 30
# Multiply and add, forward and twice backward.
_A_PARAMETER = 6
# Two states with weights and two moments in fp32, and saved weights.
_STATE, _WEIGHTS = 2 * 12, 4
# Updates after which a rate is known.
_ENOUGH = 200
# What the shares below are multiplied with where nothing was measured.
_AS_STATED = 1.0


@dataclass(frozen=True)
class Cost:
    """What one training costs.

    Attributes:
        updates: how many there are, of Θ. One of φ uses the gradients of the last of its inner
            updates, so it adds no pass through the network.
        tokens: target tokens of all updates, as the batches are asked for.
        operations: floating-point operations of its matrix products; attention over positions is
            left out, which is a few percent of sentences.
        disk: bytes of its checkpoints.
    """

    updates: int
    tokens: int
    operations: float
    disk: int


def cost(spec: Spec, lines: int | None) -> Cost:
    """Return what a training costs.

    Args:
        spec: the run.
        lines: of the training text, all tasks; None where config does not know it.

    Raises:
        FathomError: the run counts epochs, and the size of its text is not known.
    """
    batch, updates = spec.training.batch, spec.training.updates
    per_update = batch.tokens * (len(spec.data.tasks) if batch.per == "task" else 1)
    if isinstance(updates, str):
        if lines is None:
            remedy = "write the number of its lines under `expected`"
            raise FathomError("the size of the text is not known", spec.data.dataset, remedy)
        updates = ceil(int(updates.split()[0]) * lines * _SENTENCE / per_update)
    width, subwords = spec.model.width, spec.data.subwords
    stored = layers(spec.model) + 2 * vocabulary(subwords, len(spec.data.tasks)) * width
    # Each token meets the layers of one stack, and a target token the output's table.
    used = _met(spec.model) + (target_pieces(spec.data) or vocabulary(subwords, 1)) * width
    return Cost(
        updates=updates,
        tokens=updates * per_update,
        operations=float(_A_PARAMETER * used * updates * per_update),
        disk=stored * (_STATE + _WEIGHTS * _saved_weights(spec, updates)),
    )


def _met(model: Model) -> int:
    """Return about how many parameters of the layers a pair of a source and a target token meets.

    A layer of a Transformer's decoder has twice the attention of one of the encoder.
    """
    if model.ffn is None:
        return layers(model)
    attention, network = 4 * model.width**2, 2 * model.width * model.ffn
    encoder = model.encoder_layers * (attention + network)
    return encoder + model.decoder_layers * (2 * attention + network)


def target_pieces(data: DataSpec) -> int | None:
    """Return the pieces of the target dictionary; None where config does not say."""
    subwords = data.subwords
    if subwords.joint is not None:
        return subwords.joint
    if into_pivot(data.definition, data.direction):
        return subwords.english
    per_task = subwords.per_task
    return subwords.foreign or (per_task and per_task * len(data.tasks))


def _saved_weights(spec: Spec, updates: int) -> int:
    """Return how many saved weights there are at the end."""
    training = spec.training
    return min(training.keep_weights, updates // (training.save_every or training.validate_every))


def stated_share(model: Model) -> float:
    """Return the share of a device's peak that a training is taken to reach.

    Deep and narrow networks spend their time on starting kernels, recurrent ones on waiting for the
    step before. Published rates of good code: a third of the peak for Transformer-big.
    """
    if model.ffn is None:
        return 0.10
    if model.width >= 1024:
        return 0.33
    return 0.15 if model.encoder_layers + model.decoder_layers >= 48 else 0.25


def peak_of(device: str) -> float:
    """Return the operations/s that a device reaches at most.

    Args:
        device: a name of `PEAKS`, or a number of 10¹² operations/s.

    Raises:
        FathomError: it is neither.
    """
    name = device.lower()
    if name in PEAKS:
        return PEAKS[name] * 1e12
    try:
        given = float(name)
    except ValueError:
        given = 0.0
    if not 0 < given < float("inf"):
        remedy = f"choose one of {', '.join(PEAKS)}, or write its 10¹² operations/s, as 312"
        raise FathomError(f"no device '{device}'", "--gpu", remedy)
    return given * 1e12


def measured_seconds(folder: Path, device: str | None = None) -> float | None:
    """Return the device-seconds of an update of a training; None before enough updates were made.

    Args:
        folder: of a run with one seed.
        device: the type or name of the device on which it must have been trained; None for any
            device. Of a training that has not ended it is not recorded.
    """
    try:
        ended = training_record.read(folder / "training.json")
    except (FathomError, OSError):
        return None if device else _early_seconds(folder / "times.tsv")
    names = (str(ended.device.get(key, "")).lower() for key in ("type", "name"))
    if device and not any(device.lower() in name for name in names):
        return None
    seconds = training_record.device_seconds(ended.totals, ended.device)
    return seconds / ended.totals.updates if ended.totals.updates else None


def _early_seconds(path: Path) -> float | None:
    """Return the seconds of an update at the first row with enough of them; None without one."""
    try:
        rows = metrics.read(path)
    except (FathomError, OSError):
        return None
    for row in rows:
        update, seconds = row.get("update"), row.get("seconds")
        if update and seconds and update >= _ENOUGH:
            return seconds / update
    return None


class Rates:
    """How many seconds trainings take on one device."""

    def __init__(self, peak: float, measured: Iterable[tuple[Spec, Cost, float]] = ()):
        """Compare what was measured with what is stated.

        Args:
            peak: of the device, operations/s.
            measured: trainings, with their seconds an update.
        """
        self._peak = peak
        self._factors: dict[float, list[float]] = {}
        for spec, known, seconds in measured:
            ratio = seconds * known.updates / self._stated(spec, known)
            self._factors.setdefault(stated_share(spec.model), []).append(ratio)

    @property
    def count(self) -> int:
        """The trainings that were measured."""
        return sum(map(len, self._factors.values()))

    def factor(self, model: Model) -> float:
        """Return the measured time over the stated time of networks of such a kind."""
        every = [ratio for ratios in self._factors.values() for ratio in ratios]
        of_kind = self._factors.get(stated_share(model)) or every
        return median(of_kind) if of_kind else _AS_STATED

    def seconds(self, spec: Spec, known: Cost) -> float:
        """Return the seconds of all updates of a training."""
        return self._stated(spec, known) * self.factor(spec.model)

    def _stated(self, spec: Spec, known: Cost) -> float:
        return known.operations / (self._peak * stated_share(spec.model))
