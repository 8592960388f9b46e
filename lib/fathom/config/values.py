"""Values: what a cell shows, such as `bleu.valid.soft` or `tokens.train.en in millions`.

A value is a measurement, its qualifiers in any order, and a unit. A qualifier may be left out: the
split is then test, and the gates are the table's.
"""

import math
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

from fathom.config.measurement_keys import NAMES, QUALIFIERS
from fathom.io.errors import FathomError, nearest

# Which kinds of qualifier each measurement has, in the order of a key.
QUALIFIERS_OF = {name: qualifiers for name, (_, qualifiers) in NAMES.items()}
# A number times its factor is in this unit.
UNITS = {"bits": 1 / math.log(2), "millions": 1e-6, "thousands": 1e-3, "percent": 100.0}
_VALUE = re.compile(r"(\w+)((?:\.\w+)*)(?: in (\w+))?")
_FORM = "write `measurement.qualifiers in unit`"


@dataclass(frozen=True)
class ShownValue:
    """What a cell shows.

    Attributes:
        measurement: a measurement's name.
        split: test, valid or train; empty where nobody says.
        stack: encoder or decoder; empty for a measurement without one.
        gates: soft, hard or plain; empty where the table chooses.
        window: the best mean over consecutive checkpoints, with its spread.
        language: of text; empty for other measurements.
        unit: the unit that is printed; None for the unit in which it is measured.
    """

    measurement: str
    split: str = ""
    stack: str = ""
    gates: str = ""
    window: bool = False
    language: str = ""
    unit: str | None = None

    @property
    def has_gates(self) -> bool:
        """Whether a run has one number of this kind for each of its gates."""
        return "gates" in QUALIFIERS_OF[self.measurement]

    @property
    def has_tokenizer(self) -> bool:
        """Whether the number depends on the metric's tokenizer."""
        return "tokenizer" in QUALIFIERS_OF[self.measurement]

    @property
    def counts_sentences(self) -> bool:
        """Whether a number is taken from test sentences, and not from tokens or checkpoints."""
        return NAMES[self.measurement][0] == "scores" and not self.window

    @property
    def factor(self) -> float:
        """What a measured number is multiplied with to give the printed unit."""
        return UNITS.get(self.unit or "", 1.0)

    def key(self, gates: str, metric: str) -> str:
        """Return the key of the measurement.

        Args:
            gates: of the decoding; used where the measurement has gates.
            metric: the tokenizer; used where the measurement has one.
        """
        words = {
            "split": self.split or "test",
            "stack": self.stack,
            "gates": self.gates or gates,
            "window": "window" if self.window else "",
            "language": self.language,
            "tokenizer": metric,
        }
        parts = [words[kind] for kind in QUALIFIERS_OF[self.measurement]]
        return ".".join([self.measurement, *filter(None, parts)])


def parse(text: str, known: Iterable[str]) -> ShownValue:
    """Read a value.

    Args:
        text: as config has it.
        known: the names of the measurements that a table may show.

    Raises:
        FathomError: no such measurement, qualifier or unit; its place is the text itself.
    """
    match = _VALUE.fullmatch(text)
    if not match:
        raise FathomError(f"'{text}' is no value", text, _FORM)
    name, words, unit = match[1], match[2].split(".")[1:], match[3]
    names = tuple(known)
    if name not in names or name not in QUALIFIERS_OF:
        raise FathomError(f"no measurement '{name}'", text, nearest(name, names))
    if unit is not None and unit not in UNITS:
        raise FathomError(f"no unit '{unit}'", text, nearest(unit, UNITS))
    given: dict[str, Any] = {}
    for word in words:
        kind = _kind(word, QUALIFIERS_OF[name], given)
        if kind is None:
            raise FathomError(f"{name} has no '{word}'", text, _qualifiers(name, word, given))
        given[kind] = True if kind == "window" else word
    for kind in ("stack", "language"):
        if kind in QUALIFIERS_OF[name] and kind not in given:
            raise FathomError(f"{name} needs a {kind}", text, _needed(name, kind))
    return ShownValue(measurement=name, unit=unit, **given)


def _kind(word: str, kinds: Iterable[str], given: Container[str]) -> str | None:
    """Return the kind of a qualifier; a word that no other kind has is a language."""
    for kind in kinds:
        words = QUALIFIERS[kind]
        if kind not in given and words is not None and word in words:
            return kind
    return "language" if "language" in kinds and "language" not in given else None


def _qualifiers(name: str, word: str, given: Container[str]) -> str:
    words = [
        word for kind in QUALIFIERS_OF[name] if kind not in given for word in QUALIFIERS[kind] or ()
    ]
    return nearest(word, words)


def _needed(name: str, kind: str) -> str:
    words = QUALIFIERS[kind]
    return f"write {name}.{words[0]} or {name}.{words[1]}" if words else f"write {name}.train.en"
