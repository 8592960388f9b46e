"""Grouped bars: differences of some series to a baseline, one group of bars a task."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.errors import FathomError
from fathom.figures.style import look, settings
from fathom.io.files import read_lines, replacing
from fathom.papers.paper import Artefact

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

GROUP_WIDTH = 0.8
MARK = "×"


@dataclass(frozen=True)
class Bar:
    """One bar, or the words in its place; `low` and `high` are the ends of its interval."""

    task: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    words: str


@dataclass(frozen=True)
class Data:
    """What is drawn: the bars in the order of the CSV, the baseline's name, the scale."""

    bars: tuple[Bar, ...]
    baseline: str
    scale: str

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks from left to right."""
        return tuple(dict.fromkeys(bar.task for bar in self.bars))

    @property
    def labels(self) -> tuple[str, ...]:
        """The series in the order of the legend."""
        return tuple(dict.fromkeys(bar.label for bar in self.bars))

    def series(self, label: str) -> tuple[Bar, ...]:
        """Return the bars of a series."""
        return tuple(bar for bar in self.bars if bar.label == label)


def draw(artefact: Artefact, stem: Path) -> None:
    """Draw `<stem>.csv` as `<stem>.pdf` and `<stem>.png`; equal numbers give equal bytes.

    Args:
        artefact: the figure: its title and the label of its axis.
        stem: the files' common path, without a suffix.

    Raises:
        FathomError: the CSV is missing or has no bars.
    """
    import matplotlib

    data = read(stem.with_suffix(".csv"))
    with matplotlib.rc_context(settings()):
        drawn = figure(data, artefact.title, artefact.bars.axis)
        with replacing(stem.with_suffix(".pdf"), "wb") as stream:
            drawn.savefig(stream, format="pdf", metadata={"CreationDate": None})
        with replacing(stem.with_suffix(".png"), "wb") as stream:
            drawn.savefig(stream, format="png", metadata={"Software": None})


def read(path: Path) -> Data:
    """Read the bars; series without a label are left out.

    Raises:
        FathomError: the file is missing or has no bars.
    """
    try:
        lines = list(csv.DictReader(read_lines(path)))
    except FileNotFoundError:
        raise FathomError("no such file", str(path), "write it with `fathom figure`") from None
    drawn = [line for line in lines if line["label"]]
    if not drawn:
        raise FathomError("no series with a label", str(path), "name one in the figure's `series`")
    bars = tuple(
        Bar(
            task=line["task"],
            label=line["label"],
            value=_number(line["value"]),
            low=_number(line["low"]),
            high=_number(line["high"]),
            words=line["words"],
        )
        for line in drawn
    )
    return Data(bars, drawn[0]["baseline"], drawn[0]["scale"])


def figure(data: Data, title: str, axis: str) -> "Figure":
    """Return the figure; what could not be run is a mark with its words in the legend.

    Args:
        data: the bars.
        title: printed above, with the scale.
        axis: label of the vertical axis.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure(layout="constrained")
    FigureCanvasAgg(drawn)
    axes = drawn.add_subplot()
    width = GROUP_WIDTH / len(data.labels)
    for position, label in enumerate(data.labels):
        offset = (position - (len(data.labels) - 1) / 2) * width
        _series(axes, data, label, position, offset, width)
    axes.axhline(0.0, color="black", linewidth=0.6)
    axes.set_xticks(range(len(data.tasks)), data.tasks)
    axes.set_xlim(-0.6, len(data.tasks) - 0.4)
    axes.set_ylabel(axis)
    axes.grid(axis="y")
    axes.set_title(title, loc="left")
    axes.set_title(f"scale: {data.scale}", loc="right", fontstyle="italic")
    if all(bar.value is None for bar in data.bars):
        axes.set_yticks([])
    drawn.legend(
        handles=[_key(data, label, at) for at, label in enumerate(data.labels)],
        loc="outside lower center",
        ncols=_columns(data),
        handlelength=2.2,
    )
    return drawn


def _series(
    axes: "Axes", data: Data, label: str, position: int, offset: float, width: float
) -> None:
    """Draw one series: bars with intervals, and marks where there is none."""
    bars, appearance = data.series(label), look(position)
    places = [data.tasks.index(bar.task) + offset for bar in bars]
    known = [(x, bar) for x, bar in zip(places, bars, strict=True) if bar.value is not None]
    axes.bar(
        [x for x, _ in known],
        [bar.value for _, bar in known],
        width=width * 0.92,
        color=appearance.color,
        hatch=appearance.hatch,
        edgecolor="black",
    )
    ranged = [(x, bar) for x, bar in known if bar.low is not None and bar.high is not None]
    axes.errorbar(
        [x for x, _ in ranged],
        [bar.value for _, bar in ranged],
        yerr=[
            [bar.value - bar.low for _, bar in ranged],
            [bar.high - bar.value for _, bar in ranged],
        ],
        fmt="none",
        ecolor="black",
        elinewidth=0.5,
        capsize=1.2,
        capthick=0.5,
    )
    for x, bar in zip(places, bars, strict=True):
        if bar.value is None:
            axes.text(
                x,
                0.0,
                MARK,
                ha="center",
                va="center",
                color=appearance.color,
                fontsize="large",
                fontweight="bold",
            )


def _key(data: Data, label: str, position: int) -> "Patch":
    """Return a series' entry in the legend; it is there even where no bar is."""
    from matplotlib.patches import Patch

    appearance = look(position)
    return Patch(
        facecolor=appearance.color,
        hatch=appearance.hatch,
        edgecolor="black",
        label=_legend(label, data.series(label)),
    )


def _legend(label: str, bars: Sequence[Bar]) -> str:
    """Return a series' legend: its label, and what stands in place of its missing bars."""
    missing = [bar for bar in bars if bar.value is None]
    words = "; ".join(dict.fromkeys(bar.words for bar in missing))
    if not missing:
        return label
    tasks = "" if len(missing) == len(bars) else f" for {', '.join(bar.task for bar in missing)}"
    return f"{label}\n{MARK} {words}{tasks}"


def _columns(data: Data) -> int:
    """Return how many legend entries stand side by side."""
    longest = max(len(label) for label in data.labels)
    return max(1, min(len(data.labels), 130 // (longest + 8)))


def _number(text: str) -> float | None:
    return float(text) if text else None
