"""Kinds of figures: each is a module of this room, imported when a figure names it.

A module has `rows` (the numbers of the csv) and `draw`.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from fathom.artefacts.figures.inputs import METRIC, NOTE, NOTES, Inputs
from fathom.artefacts.table.sources import SERIES_LOST
from fathom.config.paper import Figure
from fathom.io.files import write_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from fathom.artefacts.figures.drawing import Pictures


def rows(figure: Figure, inputs: Inputs) -> "DataFrame":
    """Return the numbers of a figure's csv."""
    return _module(figure.settings.kind).rows(figure.settings, inputs)


def draw(figure: Figure, inputs: Inputs, stem: Path) -> list[str]:
    """Write a figure's numbers as csv and its drawing as png and pdf, to a path without a suffix.

    Equal numbers give equal bytes. Returns a note on each training whose series is lost.
    """
    from fathom.artefacts.figures import drawing

    frame = rows(figure, inputs)
    write_text(stem.with_suffix(".csv"), frame.to_csv(index=False, lineterminator="\n"))
    with drawing.styled():
        picture = _module(figure.settings.kind).draw(figure.settings, frame)
        drawing.sign(picture, figure, inputs, _notes(figure, frame))
        drawing.save(picture, stem)
    if NOTE not in frame or "words" not in frame:
        return []
    return [*dict.fromkeys(frame.loc[frame["words"] == SERIES_LOST, NOTE])]


def pictures(figure: Figure, inputs: Inputs) -> "tuple[Pictures | None, list[str]]":
    """Return a figure's drawing for a page, and its notes, which the page prints.

    There is no drawing where nothing has a number.
    """
    from fathom.artefacts.figures import drawing

    frame = rows(figure, inputs)
    if not (frame["words"] == "").to_numpy().any():
        return None, []
    module = _module(figure.settings.kind)
    drawn = drawing.pictures(lambda: module.draw(figure.settings, frame))
    return drawn, [*inputs.sentences, *_notes(figure, frame)]


def _notes(figure: Figure, frame: "DataFrame") -> list[str]:
    """Return what several seeds are drawn as, and all metrics and notes of a csv, each once."""
    seeds = len({*frame["seed"]}) if "seed" in frame else 0
    several = [f"{seeds} seeds: {_module(figure.settings.kind).SEEDS}"] if seeds > 1 else []
    metrics = dict.fromkeys(frame[METRIC]) if METRIC in frame else ()
    # What several panels have in common is said once.
    named: dict[str, dict[str, None]] = {}
    for note in (note for field in frame[NOTE].dropna() for note in field.split(NOTES)):
        name, colon, words = note.partition(": ")
        named.setdefault(words if colon else note, {})[name if colon else ""] = None
    return [
        *several,
        *(f"Metric: {metric}" for metric in metrics if metric),
        *(
            ": ".join(filter(None, (", ".join(names), words)))
            for words, names in named.items()
            if words
        ),
    ]


def _module(kind: str) -> ModuleType:
    return import_module(f"fathom.artefacts.figures.{kind}")
