"""How much memory a job asks a cluster for: from the size of its network, or of its text."""

from collections.abc import Iterable
from pathlib import Path

from fathom.config.schema.run import Model, Subwords
from fathom.config.spec import Spec

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
# Bytes of a long training sentence.
_SENTENCE = 250
# Of published pieces, whose number config does not have.
_PUBLISHED = 50_000


def of_run(spec: Spec) -> int:
    """Return the memory of a training or translation of a run, in MB."""
    entries = vocabulary(spec.data.subwords, len(spec.data.tasks))
    parameters = layers(spec.model) + 4 * entries * spec.model.width
    return _BASE + _BYTES_PER_PARAMETER * parameters // _MEGABYTE


def of_text(records: Iterable[str], sentences: int | None = None) -> int:
    """Return the memory of a job that holds its text, in MB.

    The text is next to its inputs `records`, or below; it holds `sentences` at most, if it draws.
    """
    folders = {Path(record).parent for record in records}
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    size = held = sum(path.stat().st_size for path in files)
    if sentences is not None:
        held = min(size, sentences * _SENTENCE)
    return _BASE + int(_OF_TEXT * held + _OF_STREAM * size) // _MEGABYTE


def of_stream(records: Iterable[str]) -> int:
    """Return the memory of a job that reads its text line by line, in MB."""
    return of_text(records, 0)


def layers(model: Model) -> int:
    """Return about how many parameters the layers of a network have."""
    width, count = model.width, model.encoder_layers + model.decoder_layers
    matrices = (_ATTENTIONS if model.ffn else _CELLS) * width**2
    return count * (matrices + 2 * width * (model.ffn or 0))


def vocabulary(subwords: Subwords, tasks: int) -> int:
    """Return how many pieces the dictionaries have together, at most."""
    trained = (subwords.joint, subwords.english, subwords.foreign, (subwords.per_task or 0) * tasks)
    return sum(filter(None, trained)) or _PUBLISHED
