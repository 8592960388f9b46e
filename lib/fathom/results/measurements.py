"""Measurement files: what one rule measured of a run and seed, or of a corpus.

A record holds a number for each task, one over all tasks, or an array with named axes. Its key is
that of config/measurement_keys.py.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fathom.config.check import check
from fathom.config.schema.section import AsTuple, Section
from fathom.config.yaml_values import from_plain
from fathom.io.commands import again
from fathom.io.errors import FathomError, Findings
from fathom.io.records import read_record, write_record

P = TypeVar("P", bound=BaseModel)
SCHEMA = 2
FINISHED = "finished"
NO_LAYER = "no layer is left with {} gates"  # why a task is missing
MEAN_LOSS = 0.1  # nats by which a mean of weights may be worse than the last ones
Outcome = Literal["finished", "diverged", "failed_to_train"]
# What is larger was not measured; sums of such numbers are finite.
Finite = Annotated[float, Field(ge=-1e300, le=1e300)]


class Number(Section):
    """A number, and what is known of its precision."""

    value: Finite  # in the record's unit
    low: Finite | None = None  # ends of its 95 % bootstrap interval
    high: Finite | None = None
    stderr: Finite | None = None  # standard deviation of the bootstrap's values
    spread: Finite | None = None  # standard deviation over `n` checkpoints
    n: int | None = None  # sentences, tokens, pieces or checkpoints that it is taken from


class Record(Section):
    """One measurement."""

    unit: str | None = None  # of every number in it; none for ratios
    tasks: dict[str, Number] = Field(default_factory=dict)
    all: Number | None = None  # over all tasks
    missing: dict[str, str] = Field(default_factory=dict)  # why a task has no number
    parts: dict[str, float] = Field(default_factory=dict)  # what adds up to `all`
    axes: Annotated[tuple[str, ...], AsTuple] = ()  # what each dimension of `values` counts
    labels: dict[str, list[str]] = Field(default_factory=dict)  # the names along each axis
    values: list[Any] | None = None  # an array, as nested lists
    how: str = ""  # how it was computed, such as sacreBLEU's signature
    doubt: str = ""  # why the numbers say little; tables mark them
    doubts: dict[str, str] | None = None  # the same by task; None where nobody asked


class Measurements(BaseModel):
    """The content of a measurement file."""

    # Not a Section, whose `identity` is what config hashes.
    model_config = Section.model_config | ConfigDict(populate_by_name=True)

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    rule: str
    recipe: dict[str, int]  # of each stage that the numbers went through
    run: str | None = None  # `<paper>/<run>`
    corpus: str | None = None  # the data set, where no run is measured
    identity: str  # of the run's training, or of the corpus
    seed: int | None = None
    outcome: Outcome | None = None  # without a result only `parameters` is measured
    update: int | None = None  # at which the training ended
    reason: str = ""  # why it ended so
    # NLL of its last validation less that of the unigram baseline, in nats per token; None with a
    # result, and in files of before this was recorded.
    above_unigram: float | None = None
    settings: dict[str, Any] = Field(default_factory=dict)  # what the rule was run with
    measurements: dict[str, Record]


def read(path: Path) -> Measurements:
    """Read a measurement file.

    Raises:
        FathomError: If it is missing or damaged, has another schema, or values that do not fit.
    """
    return checked(Measurements, read_record(path), path, again(path))


def write(path: Path, file: Measurements) -> None:
    """Write a measurement file atomically; what has its default value is left out."""
    content = file.model_dump(by_alias=True, exclude_defaults=True)
    write_record(path, content | {"schema": SCHEMA})


def rows(file: Measurements | None) -> Iterator[dict[str, Any]]:
    """Yield a row for each measurement and task of a file; None has none."""
    for key, record in file.measurements.items() if file else ():
        for task, number in record.tasks.items():
            yield {"measurement": key, "task": task} | number.model_dump(exclude={"spread"})


def mean_words(nll: Record, last: Record | None, count: int) -> str:
    """Return that the mean of `count` saved weights predicts validation text worse than the last.

    Empty where it is at most `MEAN_LOSS` nats worse; both records have nats per token.
    """
    if count < 2 or last is None or last.all is None or nll.all is None:
        return ""
    mean, end = nll.all.value, last.all.value
    what = f"the mean of {count} saved weights has a validation NLL of {mean:.2f} nats"
    return f"{what}, the last weights {end:.2f}" if mean - end > MEAN_LOSS else ""


def checked(model: type[P], value: Mapping[str, Any], path: Path, remedy: str) -> P:
    """Return a record's content as its class, or refuse what does not fit.

    `remedy` is what makes a file of today's schema.
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
