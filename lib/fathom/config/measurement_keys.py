"""Keys of measurements: a name and its qualifiers, in the order of NAMES, and the file of a key.

parameters                    depth.decoder                 bleu.test.soft.window.13a
bleu.test.soft.13a            nll.valid.plain               tokens.train.en
"""

from pathlib import Path
from typing import Protocol

from fathom.io.errors import FathomError, nearest
from fathom.io.records import short

# The words of each qualifier; a language and a tokenizer may be any word.
QUALIFIERS: dict[str, tuple[str, ...] | None] = {
    "split": ("train", "valid", "test"),
    "stack": ("encoder", "decoder"),
    "gates": ("plain", "soft", "hard"),
    "window": ("window",),
    "language": None,
    "tokenizer": None,
}
# Every file of scoring/metrics is a metric of translations, and its name that of a measurement.
METRICS = tuple(
    sorted(path.stem for path in (Path(__file__).parents[1] / "scoring/metrics").glob("[!_]*.py"))
)
# The others are computed where a table shows them.
ALWAYS_SCORED = ("bleu", "chrf")
# The rule that makes each measurement, and its qualifiers. A key may leave out `window`.
NAMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "parameters": ("training", ()),
    "last_validation": ("training", ()),
    "unigram_nll": ("training", ()),
    **dict.fromkeys(METRICS, ("scores", ("split", "gates", "window"))),
    "bleu": ("scores", ("split", "gates", "window", "tokenizer")),
    "right_language": ("scores", ("split", "gates")),
    "reference_language": ("scores", ("split", "gates")),
    "equal_hypotheses": ("scores", ("split", "gates")),
    "nll": ("likelihood", ("split", "gates")),
    "perplexity": ("likelihood", ("split", "gates")),
    "gates": ("gates", ("stack",)),
    "depth": ("gates", ("stack",)),
    "depth_probability": ("gates", ("stack",)),
    "abs_alpha": ("gates", ("stack",)),
    "undecided": ("gates", ("stack",)),
    "sharing": ("sharing", ()),
    "similarity": ("sharing", ()),
    "masks": ("sharing", ()),
    "pairs": ("statistics", ("split",)),
    "sentences": ("statistics", ("split",)),
    "share": ("statistics", ("split",)),
    "tokens": ("statistics", ("split", "language")),
    "types": ("statistics", ("split", "language")),
    "own_types": ("statistics", ("split", "language")),
}


class Decodable(Protocol):
    """What names of files need of a run's spec."""

    def decoding_identity(self, gates: str, window: bool = False) -> str:
        """Return the SHA-256 of what determines hypotheses, or those of a window of weights."""
        ...


def words_of(key: str) -> tuple[str, dict[str, str]]:
    """Return the name and the qualifiers of a key.

    Raises:
        FathomError: there is no such measurement, or a qualifier is missing, unknown or misplaced.
    """
    name, *words = key.split(".")
    if name not in NAMES:
        raise FathomError(f"no measurement '{name}'", key, nearest(name, NAMES))
    qualifiers: dict[str, str] = {}
    for kind in NAMES[name][1]:
        valid = QUALIFIERS[kind]
        if kind == "window" and words[:1] != ["window"]:
            continue
        word = words.pop(0) if words else ""
        if not word or (valid is not None and word not in valid):
            remedy = nearest(word, valid) if valid else f"add a {kind}"
            raise FathomError(f"'{word}' is no {kind}" if word else f"no {kind}", key, remedy)
        qualifiers[kind] = word
    if words:
        form = ".".join([name, *(f"<{kind}>" for kind in NAMES[name][1])])
        raise FathomError(f"'{words[0]}' is one word too many", key, f"write {form}")
    return name, qualifiers


def rule_of(key: str) -> str:
    """Return the rule that makes a measurement.

    Raises:
        FathomError: the key is not valid.
    """
    name, qualifiers = words_of(key)
    return "window" if "window" in qualifiers else NAMES[name][0]


def file_of(key: str, spec: Decodable | None) -> str:
    """Return the name, without .json, of the file that holds a measurement.

    Args:
        key: the measurement.
        spec: the run; None for a corpus.

    Raises:
        FathomError: the key is not valid.
    """
    _, qualifiers = words_of(key)
    return file_name(rule_of(key), spec, qualifiers.get("split"), qualifiers.get("gates"))


def file_name(
    rule: str, spec: Decodable | None, split: str | None = None, gates: str | None = None
) -> str:
    """Return the name, without .json, of a rule's measurement file.

    Where a measurement depends on gates, a hash of the decoding's settings is part of the name.
    """
    if gates is None or spec is None:
        return rule
    window = rule == "window"
    hashed = f"{gates}-{short(spec.decoding_identity(gates, window=window))}"
    return f"{rule}.{hashed}" if window else f"{rule}.{split}.{hashed}"
