"""What figures are drawn from: series, measurements with axes, places in a training, tables."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.sources import (
    NOT_RUN,
    SERIES_LOST,
    ResultSource,
    SeriesLost,
    outcome_words,
)
from fathom.config.schema.figures import (
    DIAGNOSTICS,
    MEASUREMENT,
    METRICS,
    UPDATE,
    Series,
    series_named,
)
from fathom.io import metrics
from fathom.io import series as packed
from fathom.io.errors import FathomError, nearest
from fathom.io.files import is_there
from fathom.results.measurements import Measurements

if TYPE_CHECKING:
    from pandas import DataFrame
    from pandas import Series as Numbers

VALUE, NOTE, METRIC = "value", "note", "metric"
NOTES = "; "  # between the notes of one line of the csv
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
# Parts of a series: columns for the csv, notes, points.
Parts = Iterable[tuple[dict[str, Any], list[str], "DataFrame"]]


def title_of(text: str) -> str:
    """Return a series as an axis names it: `nll, train (bits)` for `nll.train in bits`."""
    name, _, unit = text.partition(" in ")
    words = name.replace("_", " ").replace(".", ", ")
    return f"{words} ({unit})" if unit else words


def shared_title(texts: Iterable[str]) -> str:
    """Return what several series are: of `gradient_norm.encoder` and `….decoder` the norm."""
    titles = [title_of(text).split(", ") for text in texts]
    names = " / ".join(dict.fromkeys(words[0] for words in titles))
    rest = zip(*(words[1:] for words in titles), strict=False)
    return ", ".join([names, *(words[0] for words in rest if len({*words}) == 1)])


@dataclass(frozen=True)
class RunFiles:
    """The trainings of a run that a figure draws; of what is about one, the first seed's."""

    source: ResultSource  # the run with its seeds
    updates: int | str  # how many updates of Θ the training is to have, or `75 epochs`

    def with_seed(self, seed: int) -> "RunFiles":
        """Return the training of a seed."""
        folders = {seed: self.source.folders[seed]}
        unused = self.source.unused if seed == self.seed else ()  # which is noted once
        return replace(self, source=replace(self.source, folders=folders, unused=unused))

    @property
    def name(self) -> str:
        """The run's name, `<paper>/<run>`."""
        return self.source.name

    @property
    def trainings(self) -> "list[RunFiles]":
        """The same of each seed alone."""
        return [self.with_seed(seed) for seed in self.source.folders]

    @property
    def seed(self) -> int:
        """The first seed."""
        return next(iter(self.source.folders))

    @property
    def folder(self) -> Path:
        """The folder of the training."""
        return self.source.folders[self.seed].parent

    @property
    def words(self) -> str:
        """What takes the place of a series that the run does not have."""
        training = self.source.training(self.seed)
        outcome = outcome_words(training) if training else ""
        return outcome or ("not recorded" if self.folder.exists() else NOT_RUN)

    def notes(self, series: Series) -> list[str]:
        """Return what a reader must know of what the run recorded."""
        training = self.source.training(self.seed)
        if training is None:
            return ["the training has not ended"]
        measured = series.place == MEASUREMENT
        files = [training, self._measurements(series.key) if measured else None]
        stale = dict.fromkeys(self.source.stale_words(file) for file in files if file is not None)
        notes = [outcome_words(training), *(f"stale: {words}" for words in stale if words)]
        return [note for note in [*notes, self.source.unused_words] if note]

    def csv_lines(
        self,
        name: str,
        title: str,
        about: dict[str, Any],
        parts: "Callable[[RunFiles, DataFrame], Parts]",
    ) -> "list[DataFrame]":
        """Return the lines of the csv for a series; a seed that did not record it has words.

        The title is what notes call the series, and `about` has columns of all lines.
        """
        from pandas import DataFrame

        series, lines = series_named(name), []
        drawn: list[tuple[RunFiles, list | None, str]] = []
        for training in self.trainings:
            try:
                frame = training.read(series)
                of_frame = None if frame is None else [*parts(training, frame)]
                drawn.append((training, of_frame, ""))
            except SeriesLost as error:
                drawn.append((training, None, error.note))
        some = any(of_frame is not None for _, of_frame, _ in drawn)
        for training, of_frame, lost in drawn:
            here = {**about, "run": self.name, "seed": training.seed}
            called = f"{title}, seed {training.seed}" if len(drawn) > 1 else title
            if of_frame is None:
                words = SERIES_LOST if lost else training.words
                note = named(called, [lost or words] if lost or some else ())
                lines.append(DataFrame([here | {"words": words, NOTE: note}]))
                continue
            for columns, notes, points in of_frame:
                note = named(called, [*training.notes(series), *notes])
                lines.append(points.assign(**here | columns, words="", **{NOTE: note}))
        return lines

    def read(self, series: Series) -> "DataFrame | None":
        """Return a series in long form: a column for each axis, and `value`; None without files.

        An axis that comes twice has its name twice, the second with `_2`.
        """
        from numpy import exp

        readers = {METRICS: self._metric, DIAGNOSTICS: self._packed, MEASUREMENT: self._measured}
        frame = readers[series.place](series.key)
        if frame is None:
            return None
        for axis in series.axes:
            if axis not in frame:
                what = f"{series.key}: no axis '{axis}'"
                raise FathomError(what, str(self.folder), nearest(axis, frame.columns))
        values = frame[VALUE] * series.factor
        return frame.assign(**{VALUE: 1 / (1 + exp(-values)) if series.sigmoid else values})

    def untrained_tasks(self) -> list[str]:
        """Return the tasks that no update has held: all their Φ are 0."""
        file = self._measurements("phi_size")
        record = file.measurements.get("phi_size") if file else None
        return [task for task, size in record.tasks.items() if size.value == 0] if record else []

    def called(self, axis: str, labels: Iterable[str]) -> list[str]:
        """Return what labels of an axis are called; a task may have another text than its name."""
        names = self.source.shown_as if axis == "task" else {}
        return [names.get(label, label) for label in labels]

    def epoch_ends(self, epochs: float) -> float:
        """Return the first logged update by which some epochs have passed; infinity if none."""
        passed = (row[UPDATE] for row in self._metrics() if (row.get("epoch") or 0) >= epochs)
        return next((update for update in passed if update is not None), inf)

    def _metrics(self) -> list[dict[str, float | None]]:
        path = self.source.recorded(self.seed, "metrics.tsv")
        return metrics.read(path) if is_there(path) else []

    def _metric(self, name: str) -> "DataFrame | None":
        from pandas import DataFrame

        rows = self._metrics()
        points = [(int(row[UPDATE] or 0), row[name]) for row in rows if row.get(name) is not None]
        return DataFrame(points, columns=[UPDATE, VALUE]) if points else None

    def _packed(self, name: str) -> "DataFrame | None":
        from pandas import DataFrame

        path = self.source.recorded(self.seed, f"diagnostics/{name}.tsv.gz")
        if not is_there(path):
            return None
        return DataFrame(packed.read(path)).astype({VALUE: float})

    def _measurements(self, key: str) -> Measurements | None:
        return self.source.read(self.source.files(key)[self.seed], self.seed)

    def _measured(self, key: str) -> "DataFrame | None":
        from numpy import array
        from pandas import MultiIndex

        file = self._measurements(key)
        record = file.measurements.get(key) if file else None
        if record is None or record.values is None:
            return None
        axes = record.axes
        names = [f"{axis}_2" if axis in axes[:at] else axis for at, axis in enumerate(axes)]
        places = MultiIndex.from_product([record.labels[axis] for axis in axes], names=names)
        values = array(record.values, dtype=float).ravel()
        return places.to_frame(index=False).assign(**{VALUE: values})


def named(name: str, notes: Iterable[str]) -> str:
    """Return notes as one field of the csv, each with the name of what it is about."""
    return NOTES.join(f"{name}: {note}" for note in notes)


def at_places(
    frame: "DataFrame", places: Sequence[int | str], run: RunFiles
) -> "tuple[DataFrame, list[str]]":
    """Return the rows of the recorded update that is nearest to each place, and notes on places.

    A place, which gets a column, is an update, a share of the planned updates (`50%`), or
    `epoch 1`, its end. A training that ended early has its last recorded update instead of later
    ones. Without places all rows are returned.
    """
    from pandas import concat

    if not places:
        return frame, []
    recorded, chosen, notes = frame[UPDATE].unique(), [], []
    for place in places:
        update = _update(place, run)
        if isinf(update) and str(place).startswith("epoch"):
            notes.append(f"{place} did not end, update {max(recorded)} is drawn")
        update = min(update, max(recorded))
        nearest = min(recorded, key=lambda item: (abs(item - update), item))
        chosen.append(frame.loc[frame[UPDATE] == nearest].assign(place=str(place)))
    return concat(chosen, ignore_index=True), notes


def smoothed(values: "Numbers", points: int | None) -> "Numbers":
    """Return the centred moving median over a number of points, or the values where they are few.

    The median of fewer values than points would be close to a constant.
    """
    if points is None or len(values) < points:
        return values
    return cast("Numbers", values.rolling(points, center=True, min_periods=1).median())


def smoothing_notes(recorded: int, points: int | None) -> list[str]:
    """Return a note where values are too few for a moving median."""
    if points is None or recorded >= points:
        return []
    return [f"{recorded} points, too few for the moving median over {points}"]


def in_order(labels: Iterable[object]) -> list[str]:
    """Return the labels of an axis in order: numbers by size, names as they come."""
    unique = [str(label) for label in dict.fromkeys(labels)]
    return sorted(unique, key=float) if all(map(is_number, unique)) else unique


def is_number(label: str) -> bool:
    """Return whether the label of a place is a number."""
    return _NUMBER.fullmatch(label) is not None


def selected(frame: "DataFrame", select: dict[str, str], run: RunFiles) -> "DataFrame":
    """Return the rows at a place on each axis: its first label, its last, or one by name."""
    for axis, word in select.items():
        labels = in_order(frame[axis])
        label = {"first": labels[0], "last": labels[-1]}.get(word, word)
        if label not in labels:
            where = f"{run.name} seed {run.seed}"
            raise FathomError(f"no {axis} '{label}'", where, nearest(label, ("last", *labels)))
        frame = frame.loc[frame[axis].astype(str) == label]
    return frame


def _update(place: int | str, run: RunFiles) -> float:
    """Return the update of a place; infinity where the training has not come so far."""
    if isinstance(place, int):
        return place
    if place.endswith("%"):
        share = int(place[:-1]) / 100
        if isinstance(run.updates, int):
            return run.updates * share
        return run.epoch_ends(int(run.updates.split()[0]) * share)
    return run.epoch_ends(int(place.split()[1]))


@dataclass(frozen=True)
class Inputs:
    """Everything that a figure is drawn from."""

    reference: str  # authors, title and year of the paper
    scale: str  # of the runs
    runs: Mapping[str, RunFiles] = field(default_factory=dict)  # by the names that the figure uses
    tables: Mapping[str, ComparedTable] = field(default_factory=dict)  # by name
    sentences: tuple[str, ...] = ()  # of the paper, which stand below the figure
