"""How figures look: style, colours that also differ in grey print, small print, files."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from logging import ERROR, getLogger
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast
from warnings import catch_warnings, filterwarnings

from fathom.artefacts.figures import fonts
from fathom.artefacts.figures.inputs import Inputs
from fathom.artefacts.table.sources import other_text
from fathom.artefacts.table.view import label
from fathom.config.paper import Figure
from fathom.io.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.typing import RcKeyType
    from numpy import ndarray
    from pandas import DataFrame

WIDTH, HEIGHT = 5.5, 2.3  # inches; the width of NeurIPS' text
LINE, LEADING = 170, 0.11  # characters of a line of small print, and inches between lines
NOTES = 6  # that are printed
BESIDE = 4  # panels of a line
POINTS = 150  # of a curve; of more, the median of neighbours is drawn
_METADATA = {
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
}
# What replaces the colours of `style` where the ground is that of a page in the dark.
_DARK = dict.fromkeys(("figure.facecolor", "axes.facecolor"), "#171614")
_DARK |= dict.fromkeys(
    ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), "#E9E5DC"
)
_DARK |= {"grid.color": "#3A3730"}


@dataclass(frozen=True)
class Pictures:
    """A figure for a page: addresses of two SVGs that the page contains."""

    light: str
    dark: str


@dataclass(frozen=True)
class Look:
    """The look of one line or set of bars."""

    color: str
    hatch: str
    line: str


# Paul Tol's bright scheme, which colour-blind readers can tell apart.
LOOKS = (
    Look("#4477AA", "", "-"),
    Look("#EE6677", "////", "--"),
    Look("#CCBB44", "++++", "-."),
    Look("#228833", "xxxx", ":"),
    Look("#66CCEE", "\\\\\\\\", "-"),
    Look("#AA3377", "....", "--"),
    Look("#BBBBBB", "oooo", "-."),
)


def look(position: int) -> Look:
    """Return the look of a line or set of bars by its position; after seven they repeat."""
    return LOOKS[position % len(LOOKS)]


def ramp(position: int, lines: int) -> Any:
    """Return a colour between dark and light for one of many ordered lines."""
    from matplotlib import colormaps

    return colormaps["viridis"](0.9 * position / max(lines - 1, 1))


def ink() -> Any:
    """Return the colour of text and of lines that are not in the colour of a run."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def style(dark: bool = False) -> "dict[RcKeyType, Any]":
    """Return matplotlib's settings; `dark` is for a page in dark colours."""
    from tueplots import bundles

    bundle = bundles.neurips2024(usetex=False)
    settings = bundle | {
        "font.serif": ["Times New Roman", "STIXGeneral"],
        "mathtext.fontset": "stix",
        "savefig.dpi": 200,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.linewidth": 0.6,
        "grid.linewidth": 0.4,
        "grid.color": "#DDDDDD",
        "hatch.linewidth": 0.5,
        "legend.frameon": False,
        "legend.title_fontsize": bundle["legend.fontsize"],
        "pdf.fonttype": 42,
        # Text stays text, and equal figures are equal bytes.
        "svg.fonttype": "none",
        "svg.hashsalt": "fathom",
    }
    return cast("dict[RcKeyType, Any]", settings | _DARK if dark else settings)


@contextmanager
def styled(dark: bool = False, **further: Any) -> Iterator[None]:
    """Draw with the settings of `style` and further ones alone, not with a user's matplotlibrc."""
    # Of a home where it has no room for its caches it warns when it is imported.
    getLogger("matplotlib").setLevel(ERROR)
    from matplotlib.style import context

    with context({**style(dark), **further}, after_reset=True):
        yield


def panels(count: int, height: float = HEIGHT) -> "tuple[Drawing, list[Axes]]":
    """Return a figure as wide as the text, and its panels from left to right.

    More than BESIDE are in lines below each other; `height` is that of a line.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    lines = -(-count // BESIDE)
    drawing = Drawing(figsize=(WIDTH, height * lines), layout="constrained")
    FigureCanvasAgg(drawing)
    axes = list(drawing.subplots(lines, -(-count // lines), squeeze=False).flat)
    for unused in axes[count:]:
        unused.remove()
    return drawing, axes[:count]


def titled(
    axes: "Iterable[Axes]", titles: Iterable[str], frame: "DataFrame"
) -> "Iterator[tuple[Axes, str, DataFrame]]":
    """Give each panel its title, and yield it with its title and its lines of the csv.

    A panel without numbers says why, and is left out.
    """
    for panel, title in zip(axes, titles, strict=True):
        lines = frame.loc[frame["panel"] == title]
        panel.set_title(title, loc="left")
        words, lines = with_numbers(lines)
        if words:
            panel.set(xticks=[], yticks=[])
            panel.text(0.5, 0.5, words, ha="center", va="center", transform=panel.transAxes)
        else:
            yield panel, title, lines


def share_labels(axes: "Sequence[Axes]") -> None:
    """Leave out what the panel to the left, or below, says of the same axis."""
    lines = -(-len(axes) // BESIDE)
    columns = -(-len(axes) // lines)
    labels = [
        [[each.get_text() for each in axis.get_ticklabels()] for axis in (panel.xaxis, panel.yaxis)]
        for panel in axes
    ]
    for at, (panel, (below, left)) in enumerate(zip(axes, labels, strict=True)):
        if at % columns and labels[at - 1][1] == left:
            panel.tick_params(labelleft=False)
        if at + columns < len(axes) and labels[at + columns][0] == below:
            panel.tick_params(labelbottom=False)
            panel.set_xlabel("")


def over_seeds(points: "DataFrame", value: str) -> "DataFrame":
    """Return the median, the least and the largest of a value over the seeds, at each x."""
    of_seeds = points.astype({value: float}).groupby("x", as_index=False)
    return of_seeds.agg(**{each: (value, each) for each in ("median", "min", "max")})


def draw_seeds(axes: "Axes", over: "DataFrame", color: Any, **line: Any) -> None:
    """Draw what `over_seeds` returns: the median as a line, below it the range."""
    names = ["x", "median", "min", "max"]
    x, median, low, high = thinned(over[names].to_numpy()).T
    if (low < high).any():
        axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
    axes.plot(x, median, color=color, **line)


def thinned(points: "ndarray") -> "ndarray":
    """Return at most POINTS lines of (N, 2) or more columns, of which x is the first.

    Of more, a line has the x in the middle of neighbours, and their medians; the last one stays.
    """
    import numpy as np

    if len(points) <= POINTS:
        return points
    size = -(-len(points) // (POINTS - 1))
    groups = [points[at : at + size] for at in range(0, len(points), size)]
    lines = [(group[len(group) // 2, 0], *np.median(group[:, 1:], axis=0)) for group in groups]
    return np.array([*lines[:-1], points[-1]])


def with_numbers(lines: "DataFrame") -> "tuple[str, DataFrame]":
    """Return the lines of a csv that have numbers, and if there are none the words of the seeds."""
    rest = lines.loc[lines["words"] == ""]
    return "; ".join(dict.fromkeys(lines["words"])) if rest.empty else "", rest


def sign(drawing: "Drawing", figure: Figure, inputs: Inputs, notes: Sequence[str] = ()) -> None:
    """Print the figure's number and title above it; paper, scale, notes and sentences below."""
    title = label(figure.name, figure.settings.title)
    sources = [run.source for run in inputs.runs.values()]
    sources += [source for table in inputs.tables.values() for source in table.sources.values()]
    about = filter(None, (inputs.reference.rstrip("."), figure.settings.section))
    about = f"{', '.join(about)}. Scale: {inputs.scale}."
    more = len(notes) - NOTES
    shown = [*notes[:NOTES], *([f"{more} more notes are in the csv"] if more > 0 else [])]
    words = [figure.settings.caption, ". ".join(shown) + "." if shown else ""]
    paragraphs = [about + other_text(sources), " ".join(filter(None, words)), *inputs.sentences]
    print_around(drawing, title, paragraphs)


def print_around(drawing: "Drawing", title: str, paragraphs: Iterable[str]) -> None:
    """Print a title above a figure, and small print below it, for which it grows."""
    drawing.suptitle(title, x=0.01, ha="left", fontsize="medium")
    lines = [line for paragraph in paragraphs for line in wrap(paragraph, LINE)]
    height = drawing.get_figheight() + LEADING * (len(lines) - 1)
    drawing.set_figheight(height)
    bottom = (0.02 + LEADING * len(lines)) / height
    drawing.set_layout_engine("constrained", rect=(0, bottom, 1, 1 - bottom))
    drawing.text(0.01, 0.01, "\n".join(lines), fontsize=5, linespacing=1.2, color="#666666")


def save(drawing: "Drawing", stem: Path) -> None:
    """Write a figure as pdf and png, without the time, so that equal figures are equal bytes."""
    for suffix in ("pdf", "png"):
        # Not into the file itself: what matplotlib raises on a full disk is an error of its own.
        content = rendered(drawing, suffix)
        with replacing(stem.with_suffix(f".{suffix}"), "wb") as stream:
            stream.write(content)


def rendered(drawing: "Drawing", suffix: str) -> bytes:
    """Return a figure as the bytes of a pdf, png or svg.

    Its text is printed as it is: `$` begins a formula in the axes' own numbers alone.
    """
    from matplotlib.text import Text
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    axes = [axis for panel in drawing.axes for axis in (panel.xaxis, panel.yaxis)]
    named = (FixedFormatter, FuncFormatter)
    axes = [axis for axis in axes if not isinstance(axis.get_major_formatter(), named)]
    numbers = {label for axis in axes for label in axis.get_ticklabels(which="both")}
    texts = cast("list[Text]", drawing.findobj(Text))
    letters = frozenset().union(*(text.get_text() for text in texts))
    for text in texts:
        if text not in numbers:
            text.set_parse_math(False)
        own = text.get_fontfamily()[0]
        text.set_fontfamily([own, *fonts.others(letters, own)])
    content = BytesIO()
    with catch_warnings():
        # `fonts` has said it in one line.
        filterwarnings("ignore", "Glyph .* missing from font")
        drawing.savefig(content, format=suffix, metadata=_METADATA[suffix])
    return content.getvalue()


def pictures(draw: "Callable[[], Drawing]") -> Pictures:
    """Return what a function draws, in light and in dark colours, with the outlines of letters.

    Letters of another font than the one that the layout knows would be cut off.
    """
    addresses = []
    for dark in (False, True):
        with styled(dark, **{"svg.fonttype": "path"}):
            content = b64encode(rendered(draw(), "svg")).decode("ascii")
        addresses.append(f"data:image/svg+xml;base64,{content}")
    return Pictures(*addresses)
