"""sentences.<task>.tsv.gz: what each metric counts in each sentence of a decoding.

From these counts a test set is drawn again, alone or in pairs, without a second look at any text.
"""

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fathom.io.files import is_there, replacing
from fathom.io.records import Recorded
from fathom.scoring.metrics import Metric, Statistics, named

OF_REFERENCES = "chrf"  # the metric whose counts tell test sets apart


@dataclass(frozen=True)
class SentenceCounts:
    """The counts of one task's sentences."""

    columns: tuple[str, ...]  # `<label of a metric>.<what is counted>`
    counts: np.ndarray  # (sentences, columns) whole numbers

    def statistics(self, metric: Metric) -> Statistics:
        """Return what a metric counted."""
        places = {name: place for place, name in enumerate(self.columns)}
        columns = [places[f"{metric.label}.{name}"] for name in metric.columns]
        return Statistics(metric, self.counts[:, columns])

    @property
    def references(self) -> np.ndarray:
        """The n-grams of characters of each reference: equal test sets have equal ones."""
        prefix = f"{named(OF_REFERENCES).label}.reference_"
        return self.counts[:, [name.startswith(prefix) for name in self.columns]]


def path_of(folder: Path, task: str) -> Path:
    """Return the file of a task in the folder of a decoding."""
    return folder / f"sentences.{task}.tsv.gz"


def write(path: Path, statistics: list[Statistics]) -> None:
    """Write what each metric counts in each sentence of a task, a numbered line per sentence.

    Equal counts give equal bytes.
    """
    metrics = [counted.metric for counted in statistics]
    names = [f"{metric.label}.{column}" for metric in metrics for column in metric.columns]
    counts = [counted.counts for counted in statistics]
    table = np.column_stack([np.arange(1, len(counts[0]) + 1), *counts])
    header = "\t".join(["sentence", *names])
    with (
        replacing(path, "wb") as stream,
        gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed,
    ):
        np.savetxt(packed, table, fmt="%d", delimiter="\t", header=header, comments="")


def read(folder: Path, task: str) -> SentenceCounts | None:
    """Return the recorded counts of a task's sentences, or None where a decoding has none."""
    path = path_of(folder, task)
    if not is_there(path):
        return None
    Recorded.of(folder / "scoring.json").require(path.name)
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        columns = tuple(stream.readline().rstrip("\n").split("\t"))
        return SentenceCounts(columns, np.loadtxt(stream, dtype=np.int64, delimiter="\t", ndmin=2))
