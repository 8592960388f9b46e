"""What is refused before torch is loaded, which takes seconds: a mistyped name should not wait."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from fathom.config.paths import Paths
from fathom.config.schema.run import Decoding
from fathom.config.spec import Spec
from fathom.config.switches import DEVICE, DEVICES
from fathom.io.commands import again
from fathom.io.errors import FathomError, nearest
from fathom.io.files import MISSING, is_there, require_file
from fathom.io.records import Recorded
from fathom.results import decoding_record, training_record
from fathom.results.recipe import RECIPE
from fathom.results.training_record import TrainingRecord

SPLITS = ("valid", "test")


def require_device(name: str) -> None:
    """Refuse a name that no device has."""
    if not re.fullmatch(DEVICE, name):
        raise FathomError(f"no device '{name}'", "device", f"write {DEVICES}")


def require_name(name: str, valid: Iterable[str], what: str, where: str) -> None:
    """Refuse an unknown name, with the nearest valid one."""
    names = tuple(valid)
    if name not in names:
        raise FathomError(f"no {what} '{name}'", where, nearest(name, names))


def require_decoder(spec: Spec) -> Decoding:
    """Return the settings of beam search, or refuse a network that cannot translate."""
    if spec.decoding is None or not spec.model.decoder_layers:
        remedy = f"measure it on held-out text: `fathom likelihood {spec.paper}/{spec.folder}`"
        raise FathomError("a network without a decoder translates nothing", spec.name, remedy)
    return spec.decoding


def averaged(spec: Spec) -> int:
    """Return how many of the last saved weights are averaged; 1 takes the final state."""
    return spec.decoding.average_of if spec.decoding else 1


def require_made(path: Path, command: str) -> None:
    """Refuse to work without a file, and name the command that makes it."""
    if is_there(path):
        return require_file(path, again(path))
    what, gone = MISSING, [folder for folder in path.parents if not folder.is_dir()]
    if gone:
        what = f"{MISSING}, since there is no folder {gone[-1].resolve()}"
    raise FathomError(what, str(path), f"run `{command}`")


def require_training(spec: Spec, seed: int, paths: Paths) -> TrainingRecord:
    """Return how a training ended."""
    path = paths.training(spec, seed)
    require_made(path, paths.run_command(spec.name, seed))
    return training_record.read(path)


def require_weights(spec: Spec, seed: int, paths: Paths) -> TrainingRecord:
    """Return how a training ended; refuse one that finished and lacks the weights to decode."""
    training = require_training(spec, seed, paths)
    folder, count = paths.run(spec, seed) / "checkpoints", averaged(spec)
    last = folder / "last.pt"
    if training.outcome.finished and count == 1:
        require_file(last, again(last))
    saved = len([name for name in training.weights if name != last.name])
    if training.outcome.finished and count > 1 and saved < count:
        what = f"weights of {saved} updates where the mean of {count} is decoded"
        remedy = "set training.keep_weights higher and train again"
        raise FathomError(what, str(folder), remedy)
    return training


def missing_decodings(
    spec: Spec, seed: int, paths: Paths, decodings: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the decodings, as split and gates, that are not there or have changed."""
    return [
        (split, gates)
        for split, gates in decodings
        if not is_decoded(paths.decoding(spec, seed, split, gates), spec, seed, paths, gates)
    ]


def is_decoded(folder: Path, spec: Spec, seed: int, paths: Paths, gates: str) -> bool:
    """Return whether a folder has the unchanged decoding of today's recipe and training.

    The training has ended.
    """
    training, record = paths.training(spec, seed), folder / "decoding.json"
    ended = training_record.read(training).outcome
    try:
        made = decoding_record.read(folder, spec, gates, ended)
    except FathomError:
        return False
    newer = record.stat().st_mtime_ns >= training.stat().st_mtime_ns
    files = Recorded(record, made.files)
    return newer and made.recipe == RECIPE["decoding"] and not any(map(files.unfit, made.files))
