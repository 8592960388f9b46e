"""Measurements of runs and corpora: numbers under keys, in one file for each rule that makes them.

A key is a name and its qualifiers, in the order of NAMES:

    parameters                    depth.decoder                 bleu.test.soft.window.13a
    bleu.test.soft.13a            nll.valid.plain               tokens.train.en

A record holds a number for each task, one over all tasks, or an array with named axes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fathom.config.check import check
from fathom.config.schema.section import AsTuple, Section
from fathom.config.vocabulary import NAMES, QUALIFIERS
from fathom.config.yaml_values import from_plain
from fathom.io.commands import again
from fathom.io.errors import FathomError, Findings, nearest
from fathom.io.hashes import short
from fathom.io.integrity import read_record, write_record

P = TypeVar("P", bound=BaseModel)
SCHEMA = 2
FINISHED = "finished"
Outcome = Literal["finished", "diverged", "failed_to_train"]
RULES = (*dict.fromkeys(rule for rule, _ in NAMES.values()), "window")


class Decodable(Protocol):
    """What `file_of` needs of a run's spec."""

    def decoding_identity(self, gates: str, window: bool = False) -> str:
        """Return the SHA-256 of what determines hypotheses, or those of a window of weights."""
        ...


class Number(Section):
    """A number, and what is known of its precision.

    Attributes:
        value: the number, in the record's unit.
        low: lower end of its 95 % bootstrap interval.
        high: upper end.
        stderr: standard deviation of the bootstrap's values.
        spread: standard deviation over `n` checkpoints.
        n: sentences, tokens, pieces or checkpoints that the number is taken from.
    """

    value: float
    low: float | None = None
    high: float | None = None
    stderr: float | None = None
    spread: float | None = None
    n: int | None = None


class Record(Section):
    """One measurement.

    Attributes:
        unit: of every number in it; none for ratios.
        tasks: a number for each task.
        all: one number over all tasks.
        missing: why a task has no number, by task.
        parts: what adds up to `all`, by part.
        axes: what each dimension of `values` counts.
        labels: the names along each axis.
        values: an array, nested lists.
        how: how it was computed, such as sacreBLEU's signature.
        doubt: why the numbers say little, such as hypotheses in another language; tables mark them.
    """

    unit: str | None = None
    tasks: dict[str, Number] = Field(default_factory=dict)
    all: Number | None = None
    missing: dict[str, str] = Field(default_factory=dict)
    parts: dict[str, float] = Field(default_factory=dict)
    axes: Annotated[tuple[str, ...], AsTuple] = ()
    labels: dict[str, list[str]] = Field(default_factory=dict)
    values: list[Any] | None = None
    how: str = ""
    doubt: str = ""

    @model_validator(mode="after")
    def _shape_fits_labels(self) -> "Record":
        if self.values is not None and not _has_shape(
            self.values, [*map(self.labels.get, self.axes)]
        ):
            raise ValueError("the array's shape is not that of its labels; measure it again")
        return self


class Measurements(BaseModel):
    """One measurement file: what one rule measured of one run and seed, or of one corpus.

    Attributes:
        schema_: the version of this form; `schema` in the file.
        rule: one of RULES.
        recipe: the recipe of each stage that the numbers went through (results/recipe.py).
        run: the run's name, `<paper>/<run>`.
        corpus: the data set's name, where no run is measured.
        identity: of the run's training, or of the corpus.
        seed: of the training.
        outcome: how the training ended; without a result only `parameters` is measured.
        update: the update at which it ended.
        reason: why it ended so.
        settings: what the rule was run with.
        measurements: records by key.
    """

    # Not a Part, whose `identity` is what config hashes.
    model_config = Section.model_config | ConfigDict(populate_by_name=True)

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    rule: str
    recipe: dict[str, int]
    run: str | None = None
    corpus: str | None = None
    identity: str
    seed: int | None = None
    outcome: Outcome | None = None
    update: int | None = None
    reason: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    measurements: dict[str, Record]

    @model_validator(mode="after")
    def _keys_are_of_the_rule(self) -> "Measurements":
        try:
            wrong = next((key for key in self.measurements if rule_of(key) != self.rule), None)
        except FathomError as error:
            raise ValueError(f"{error.where}: {error.what}; {error.remedy}") from None
        if wrong:
            raise ValueError(f"'{wrong}' is not measured by '{self.rule}'; measure it again")
        return self


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
    """Return the rule that makes a measurement, one of RULES.

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

    Args:
        rule: one of RULES.
        spec: the run; its decoding's identity is part of the name where `gates` are given.
        split: the split that is measured, where there are several.
        gates: "plain", "soft" or "hard", where the measurement depends on them.
    """
    if gates is None or spec is None:
        return rule
    window = rule == "window"
    hashed = f"{gates}-{short(spec.decoding_identity(gates, window=window))}"
    return f"{rule}.{hashed}" if window else f"{rule}.{split}.{hashed}"


def read(path: Path) -> Measurements:
    """Read a measurement file.

    Raises:
        FathomError: the file is missing, is not JSON or has another schema.
        Findings: keys or values that do not fit.
    """
    return checked(Measurements, read_record(path), path, again(path))


def write(path: Path, file: Measurements) -> None:
    """Write a measurement file atomically; what has its default value is left out."""
    content = file.model_dump(by_alias=True, exclude_defaults=True)
    write_record(path, content | {"schema": SCHEMA})


def checked(model: type[P], value: Mapping[str, Any], path: Path, remedy: str) -> P:
    """Return a file's content as its class.

    Args:
        model: Measurements, or another class with a field `schema_`.
        value: the content.
        path: the file, for messages.
        remedy: what makes a file of today's schema.

    Raises:
        FathomError: another schema.
        Findings: keys or values that do not fit.
    """
    schema = value.get("schema")
    if schema != SCHEMA:
        raise FathomError(f"schema {schema}, but {SCHEMA} is needed", str(path), remedy)
    try:
        return model.model_validate(value)
    except ValidationError:
        _, problems = check(model, from_plain(value, str(path)))
        raise Findings(
            FathomError(problem.what, problem.where, f"{problem.remedy}, or {remedy}")
            for problem in problems
        ) from None


def _has_shape(values: list[Any], labels: list[list[str] | None]) -> bool:
    """Return whether nested lists of numbers have the lengths of the labels along each axis."""
    if not labels:
        return isinstance(values, int | float)
    first, *rest = labels
    return (
        isinstance(values, list)
        and first is not None
        and len(values) == len(first)
        and all(_has_shape(item, rest) for item in values)
    )
