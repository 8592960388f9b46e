"""What can be measured, what a cell can show of it, and the columns that tables share.

What a cell shows is written as `bleu.valid.soft` or `tokens.train.en in millions`: a measurement,
its qualifiers in any order, and a unit. A qualifier may be left out: the split is then test, and
the gates are the table's.
"""

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fathom.config.check import check
from fathom.config.measurement_keys import NAMES, QUALIFIERS
from fathom.config.schema.columns import Column, ColumnsFile, Measurement
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, Findings, nearest

# Which kinds of qualifier each measurement has, in the order of a key.
QUALIFIERS_OF = {name: qualifiers for name, (_, qualifiers) in NAMES.items()}
# A number times its factor is in this unit.
UNITS = {"bits": 1 / math.log(2), "millions": 1e-6, "thousands": 1e-3, "percent": 100.0}
_VALUE = re.compile(r"(\w+)((?:\.\w+)*)(?: in (\w+))?")
_FORM = "write `measurement.qualifiers in unit`"

# Two-letter codes of measurements (ISO 639-1) for those of data sets (ISO 639-3).
_SHORT_CODES = {
    **{"aze": "az", "bel": "be", "bos": "bs", "bul": "bg", "ces": "cs", "deu": "de"},
    **{"ell": "el", "eng": "en", "fra": "fr", "glg": "gl", "hin": "hi", "kor": "ko"},
    **{"mar": "mr", "mkd": "mk", "por": "pt", "rus": "ru", "slk": "sk", "tur": "tr"},
}


def short_code(language: str) -> str:
    """Return the two-letter code of a language, or the code itself if there is none."""
    return _SHORT_CODES.get(language, language)


@dataclass(frozen=True)
class ShownValue:
    """What a cell shows; a qualifier that is not given, or that there is not, is empty."""

    measurement: str
    split: str = ""
    stack: str = ""
    gates: str = ""  # empty where the table chooses
    window: bool = False  # the best mean over consecutive checkpoints, with its spread
    language: str = ""
    unit: str | None = None  # that is printed; None for the unit in which it is measured

    @property
    def has_gates(self) -> bool:
        """Whether a run has a number of this kind for each of its gates."""
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


def parse(text: str, measurements: Iterable[str]) -> ShownValue:
    """Read what a cell shows.

    Args:
        text: as config has it.
        measurements: the names of those that a table may show.

    Raises:
        FathomError: If there is no such measurement, qualifier or unit; its place is the text.
    """
    match = _VALUE.fullmatch(text)
    if not match:
        raise FathomError(f"'{text}' is not a value", text, _FORM)
    name, words, unit = match[1], match[2].split(".")[1:], match[3]
    names = tuple(measurements)
    if name not in names or name not in QUALIFIERS_OF:
        raise FathomError(f"no measurement '{name}'", text, nearest(name, names))
    if unit is not None and unit not in UNITS:
        raise FathomError(f"no unit '{unit}'", text, nearest(unit, UNITS))
    kinds = QUALIFIERS_OF[name]
    given: dict[str, Any] = {}
    for word in words:
        kind = _kind(word, kinds, given)
        if kind is None:
            possible = [w for k in kinds if k not in given for w in QUALIFIERS[k] or ()]
            raise FathomError(f"{name} has no '{word}'", text, nearest(word, possible))
        given[kind] = True if kind == "window" else word
    for kind in ("stack", "language"):
        if kind in kinds and kind not in given:
            possible = QUALIFIERS[kind] or ("train.en",)
            remedy = f"write {' or '.join(f'{name}.{word}' for word in possible)}"
            raise FathomError(f"{name} needs a {kind}", text, remedy)
    return ShownValue(measurement=name, unit=unit, **given)


def _kind(word: str, kinds: Iterable[str], given: Container[str]) -> str | None:
    """Return the kind of a qualifier; a word that no other kind has is a language."""
    free = [kind for kind in kinds if kind not in given]
    fitting = (kind for kind in free if word in (QUALIFIERS[kind] or ()))
    return next(fitting, "language" if "language" in free else None)


@dataclass(frozen=True)
class Vocabulary:
    """The measurements and shared columns of config/columns.yaml, by name."""

    measurements: Mapping[str, Measurement]
    columns: Mapping[str, Column]

    def measurement(self, value: ShownValue) -> Measurement:
        """Return the measurement that a value shows."""
        return self.measurements[value.measurement]

    def title(self, column: str) -> str:
        """Return the printed heading of a column."""
        return self.columns[column].title if column in self.columns else column


def load(file: Value) -> Vocabulary:
    """Return the vocabulary of config/columns.yaml.

    Raises:
        Findings: If anything is wrong in the file.
    """
    settings, findings = check(ColumnsFile, file)
    if settings is not None:
        findings = [*_faults(settings, file)]
    if findings or settings is None:
        raise Findings(findings)
    return Vocabulary(settings.measurements, settings.columns)


def _faults(settings: ColumnsFile, file: Value) -> Iterator[FathomError]:
    for name in settings.measurements:
        if name not in QUALIFIERS_OF:
            where = file.place("measurements", name)
            yield FathomError(f"nothing measures '{name}'", where, nearest(name, QUALIFIERS_OF))
    for name, column in settings.columns.items():
        try:
            if column.value is not None:
                parse(column.value, settings.measurements)
        except FathomError as error:
            where = file.place("columns", name, "value")
            yield FathomError(error.what, where, error.remedy)
