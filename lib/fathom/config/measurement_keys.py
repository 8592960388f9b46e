"""What can be measured: keys of measurements, the files that hold them, and what cells show.

A key is a name and its qualifiers in the order of NAMES, such as `parameters`, `depth.decoder`,
`bleu.test.soft.window.13a` or `tokens.train.en`. What a cell shows is written as `bleu.valid.soft`
or `tokens.train.en in millions`: a measurement, its qualifiers in any order, and a unit. A
qualifier may be left out: the split is then test, and the gates are the table's. A setting of the
run is written as `setting training.updates`.
"""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fathom.config import plugins
from fathom.config.spec import Spec
from fathom.io.errors import FathomError, nearest
from fathom.io.records import short

# With a smaller |alpha| a gate's p is within 0.025 of ½, and its hard choice means little.
UNDECIDED = 0.1
# The words of each qualifier; a language, a tokenizer and a setting may be any word.
QUALIFIERS: dict[str, tuple[str, ...] | None] = {
    "split": ("train", "valid", "test"),
    "stack": ("encoder", "decoder"),
    "gates": ("plain", "soft", "hard"),
    "window": ("window",),
    "language": None,
    "tokenizer": None,
    "setting": None,
}
# Every file of scoring/metrics is a metric of translations, and its name that of a measurement.
METRICS = tuple(sorted(plugins.modules(plugins.FATHOM["metrics"])))
# They are computed together; each of the others by itself, where a table shows it.
ALWAYS_SCORED = ("bleu", "chrf")
SCORES = "scores"
_OF_METRIC = ("split", "gates", "window")
_OF_LANGUAGE = ("right_language", "reference_language")
_OF_GATES = ("gates", "depth", "depth_probability", "abs_alpha", "undecided")
_OF_MASKS = ("sharing", "similarity", "masks", "phi_size", "phi_least", "ties")
# The rule that makes each measurement, and its qualifiers. A key may leave out `window`.
NAMES: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("parameters", "last_validation", "unigram_nll"), ("training", ())),
    # Of the run's settings; its qualifier has dots.
    "setting": ("training", ("setting",)),
    **{name: (name, _OF_METRIC) for name in METRICS},
    "bleu": (SCORES, (*_OF_METRIC, "tokenizer")),
    "chrf": (SCORES, _OF_METRIC),
    **dict.fromkeys(_OF_LANGUAGE, (SCORES, ("split", "gates"))),
    **dict.fromkeys(("nll", "perplexity"), ("likelihood", ("split", "gates"))),
    **dict.fromkeys(_OF_GATES, ("gates", ("stack",))),
    **dict.fromkeys(_OF_MASKS, ("sharing", ())),
    **dict.fromkeys(("pairs", "sentences", "share"), ("statistics", ("split",))),
    **dict.fromkeys(("tokens", "types", "own_types"), ("statistics", ("split", "language"))),
}
# No metric of a plugin has the name of another measurement, or of a rule.
OTHER_NAMES = ({*NAMES, "window", *(rule for rule, _ in NAMES.values())}) - {*METRICS}
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


def is_metric(name: str) -> bool:
    """Return whether a measurement is a metric of translations."""
    return name in METRICS or plugins.is_plugin("metrics", name)


def metric_named(name: str) -> Any:
    """Return the `Metric` of scoring/metrics in the file of a metric."""
    module = plugins.load("metrics", name)
    metric: Any = getattr(module, "METRIC", None)
    described = all(hasattr(metric, each) for each in ("name", "unit", "better", "columns"))
    if not described or metric.name != name:
        what = f"METRIC is not a metric with the name '{name}', unit, better and columns"
        raise FathomError(what, str(module.__file__), "write METRIC = <class>() at the end")
    return metric


def made_by(name: str) -> str:
    """Return the rule that makes a measurement; a plugin's metric has its own."""
    return NAMES[name][0] if name in NAMES else name


def _qualifiers(name: str) -> tuple[str, ...]:
    return NAMES[name][1] if name in NAMES else _OF_METRIC


def words_of(key: str) -> tuple[str, dict[str, str]]:
    """Return the name and the qualifiers of a key."""
    name, *words = key.split(".")
    if name not in NAMES and not is_metric(name):
        raise FathomError(f"no measurement '{name}'", key, nearest(name, NAMES))
    qualifiers: dict[str, str] = {}
    for kind in _qualifiers(name):
        valid = QUALIFIERS[kind]
        if kind == "window" and words[:1] != ["window"]:
            continue
        words = [".".join(words)] if kind == "setting" else words
        word = words.pop(0) if words else ""
        if not word or (valid is not None and word not in valid):
            remedy = nearest(word, valid) if valid else f"add a {kind}"
            raise FathomError(f"'{word}' is not a {kind}" if word else f"no {kind}", key, remedy)
        qualifiers[kind] = word
    if words:
        form = ".".join([name, *(f"<{kind}>" for kind in _qualifiers(name))])
        raise FathomError(f"'{words[0]}' is one word too many", key, f"write {form}")
    return name, qualifiers


def rule_of(key: str) -> str:
    """Return the rule that makes a measurement."""
    name, qualifiers = words_of(key)
    return "window" if "window" in qualifiers else made_by(name)


def file_of(key: str, spec: Spec | None) -> str:
    """Return the name, without .json, of a measurement's file; without a spec, of a corpus's."""
    _, qualifiers = words_of(key)
    return file_name(rule_of(key), spec, qualifiers.get("split"), qualifiers.get("gates"))


def file_name(
    rule: str, spec: Spec | None, split: str | None = None, gates: str | None = None
) -> str:
    """Return the name, without .json, of a rule's measurement file.

    Where a measurement depends on gates, a hash of the decoding's settings is part of the name.
    """
    if gates is None or spec is None:
        return rule
    window = rule == "window"
    hashed = f"{gates}-{short(spec.decoding_identity(gates, window=window))}"
    return f"{rule}.{hashed}" if window else f"{rule}.{split}.{hashed}"


def short_code(language: str) -> str:
    """Return the two-letter code of a language, or the code itself if there is none."""
    return _SHORT_CODES.get(language, language)


def long_code(language: str) -> str:
    """Return the three-letter code of a language, or the code itself if there is none."""
    return {short: long for long, short in _SHORT_CODES.items()}.get(language, language)


@dataclass(frozen=True)
class ShownValue:
    """What a cell shows; a qualifier that is not given, or that there is not, is empty."""

    measurement: str
    split: str = ""
    stack: str = ""
    gates: str = ""  # empty where the table chooses
    window: bool = False  # the best mean over consecutive checkpoints, with its spread
    language: str = ""
    setting: str = ""  # its path, such as training.updates
    unit: str | None = None  # that is printed; None for the unit in which it is measured

    @property
    def has_gates(self) -> bool:
        """Whether a run has a number of this kind for each of its gates."""
        return "gates" in _qualifiers(self.measurement)

    @property
    def has_tokenizer(self) -> bool:
        """Whether the number depends on the metric's tokenizer."""
        return "tokenizer" in _qualifiers(self.measurement)

    @property
    def counts_sentences(self) -> bool:
        """Whether a number is taken from test sentences, and not from tokens or checkpoints."""
        return is_metric(self.measurement) and not self.window

    @property
    def factor(self) -> float:
        """What a measured number is multiplied with to give the printed unit."""
        return UNITS.get(self.unit or "", 1.0)

    def key(self, gates: str, metric: str) -> str:
        """Return the key of the measurement, with gates and tokenizer where it has them."""
        words = vars(self) | {
            "split": self.split or "test",
            "gates": self.gates or gates,
            "window": "window" if self.window else "",
            "tokenizer": metric,
        }
        parts = [words[kind] for kind in _qualifiers(self.measurement)]
        return ".".join([self.measurement, *filter(None, parts)])


def parse(text: str, measurements: Collection[str]) -> ShownValue:
    """Read what a cell shows, one of the measurements that a table may show.

    The place of what is raised is the text.
    """
    match = _VALUE.fullmatch(re.sub("^setting ", "setting.", text))
    if not match:
        raise FathomError(f"'{text}' is not a value", text, _FORM)
    name, words, unit = match[1], match[2].split(".")[1:], match[3]
    # A folder is read for the metrics of plugins: not for each of a thousand cells.
    if name not in measurements:
        brought = [each for each in plugins.names("metrics") if each not in METRICS]
        if name not in brought:
            what = f"no measurement '{name}'"
            raise FathomError(what, text, nearest(name, [*measurements, *brought]))
    if unit is not None and unit not in UNITS:
        raise FathomError(f"no unit '{unit}'", text, nearest(unit, UNITS))
    kinds = _qualifiers(name)
    if kinds == ("setting",):
        return ShownValue(name, setting=".".join(words), unit=unit)
    given: dict[str, Any] = {}
    for word in words:
        free = {kind: QUALIFIERS[kind] or () for kind in kinds if kind not in given}
        fitting = [kind for kind, valid in free.items() if word in valid]
        # A word that no other kind has is a language.
        fitting += ["language"] if "language" in free else []
        if not fitting:
            possible = [each for valid in free.values() for each in valid]
            raise FathomError(f"{name} has no '{word}'", text, nearest(word, possible))
        given[fitting[0]] = True if fitting[0] == "window" else word
    for kind in ("stack", "language"):
        if kind in kinds and kind not in given:
            possible = QUALIFIERS[kind] or ("train.en",)
            remedy = f"write {' or '.join(f'{name}.{word}' for word in possible)}"
            raise FathomError(f"{name} needs a {kind}", text, remedy)
    return ShownValue(measurement=name, unit=unit, **given)
