"""How figures look: style, colours that also differ in grey print, small print, files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast
from xml.etree import ElementTree

from fathom.artefacts.figures.inputs import Inputs
from fathom.artefacts.table.sources import other_text
from fathom.artefacts.table.view import label
from fathom.config.figures import Figure
from fathom.io.files import replacing

if TYPE_CHECKING:
    from matplotlib.artist import Artist
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
    "svg": {"Date": None, "Creator": None},
}
_DECIMALS = re.compile(r"-?\d+\.\d+(?:e-\d+)?")
# Of SVG: what is dropped of an attribute's value, blanks and fonts; and colours, which a page has.
_DROPPED = re.compile(
    r"(?<=[;:,MLCQz]) | (?=[MLCQz])|font-family:[^;]*;?|^rotate\(-0 .*|"
    r"(; )?stroke-(dashoffset: 0|linecap: square|linejoin: miter)"
)
_COLOURS = {"#000000": "currentColor", "#666666": "var(--soft)", "#dddddd": "var(--line)"}
_LINE = re.compile(r"M((?:-?[\d.]+ -?[\d.]+L)+-?[\d.]+ -?[\d.]+)")
_BETWEEN = "|"  # the key and the title of what a drawing names


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


def style() -> "dict[RcKeyType, Any]":
    """Return matplotlib's settings."""
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
    return cast("dict[RcKeyType, Any]", settings)


def panels(count: int, height: float = HEIGHT) -> "tuple[Drawing, list[Axes]]":
    """Return a figure as wide as the text, and its panels from left to right.

    More than BESIDE are in lines below each other; `height` is that of a line.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    lines = -(-count // BESIDE)
    drawing = Drawing(figsize=(WIDTH, height * lines), layout="constrained")
    FigureCanvasAgg(drawing)
    return drawing, list(drawing.subplots(lines, -(-count // lines), squeeze=False).flat)[:count]


def titled(
    axes: "Iterable[Axes]", titles: Iterable[str], frame: "DataFrame"
) -> "Iterator[tuple[Axes, str, DataFrame]]":
    """Give each panel its title, and yield it with its title and its lines of the csv.

    A panel without numbers says why, and is left out.
    """
    for panel, title in zip(axes, titles, strict=True):
        lines = frame.loc[frame["panel"] == title]
        panel.set_title(title, loc="left")
        if "run" in lines:
            name(panel, lines["run"].iloc[0], title)
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


def straightened(points: "Sequence[tuple[float, float]]") -> "list[tuple[float, float]]":
    """Return a line without the points that are within a unit of it.

    The distance is that of y. The farthest point stays, and cuts the line in two (Douglas and
    Peucker 1973).
    """
    if len(points) < 3:
        return [*points]
    (x, y), (last_x, last_y) = points[0], points[-1]
    slope = (last_y - y) / (last_x - x or 1)
    off = [abs(y + slope * (each[0] - x) - each[1]) for each in points]
    if not max(off) > 1:  # or NaN
        return [points[0], points[-1]]
    at = off.index(max(off))
    return [*straightened(points[: at + 1]), *straightened(points[at:])[1:]]


def with_numbers(lines: "DataFrame") -> "tuple[str, DataFrame]":
    """Return the lines of a csv that have numbers, and if there are none the words of the seeds."""
    rest = lines.loc[lines["words"] == ""]
    return "; ".join(dict.fromkeys(lines["words"])) if rest.empty else "", rest


def sign(drawing: "Drawing", figure: Figure, inputs: Inputs, notes: Sequence[str] = ()) -> None:
    """Print the figure's number and title above it; paper, scale, notes and sentences below."""
    title = label(figure.name, figure.settings.title)
    drawing.suptitle(title, x=0.01, ha="left", fontsize="medium")
    sources = [run.source for run in inputs.runs.values()]
    sources += [source for table in inputs.tables.values() for source in table.sources.values()]
    about = filter(None, (inputs.reference.rstrip("."), figure.settings.section))
    about = f"{', '.join(about)}. Scale: {inputs.scale}."
    lines = wrap(about + other_text(sources), LINE)
    more = len(notes) - NOTES
    shown = [*notes[:NOTES], *([f"{more} more notes are in the csv"] if more > 0 else [])]
    words = [figure.settings.caption, ". ".join(shown) + "." if shown else ""]
    lines += wrap(" ".join(filter(None, words)), LINE)
    lines += [line for sentence in inputs.sentences for line in wrap(sentence, LINE)]
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

    axes = [axis for panel in drawing.axes for axis in (panel.xaxis, panel.yaxis)]
    numbers = {label for axis in axes for label in axis.get_ticklabels(which="both")}
    for text in drawing.findobj(Text):
        if text not in numbers:
            text.set_parse_math(False)
    content = BytesIO()
    drawing.savefig(content, format=suffix, metadata=_METADATA[suffix])
    return content.getvalue()


def name(artist: "Artist", key: str, title: str) -> None:
    """Give a part a title, and the key of its run or cell, to which the svg of a page links."""
    artist.set_gid(f"{key}{_BETWEEN}{title}")


def inline(drawing: "Drawing", prefix: str, label: str, links: Mapping[str, str]) -> str:
    """Return a figure as SVG within a page, in whose colours black and greys are.

    The prefix begins each id, which a page has once; the label is for readers who cannot see the
    figure; links are addresses by the keys of `name`.
    """
    picture = ElementTree.fromstring(rendered(drawing, "svg"))
    box = _short(picture.attrib["viewBox"])
    for above in [*picture.iter()]:
        for part in [*above]:
            if part.tag.endswith(("}metadata", "}style")):
                above.remove(part)
    ids: dict[str, str] = {}
    for part in picture.iter():
        part.tag = part.tag.rpartition("}")[2]
        key, _, title = part.attrib.pop("id", "").partition(_BETWEEN)
        shorter = {at.rpartition("}")[2]: _short(of) for at, of in part.attrib.items()}
        part.attrib = {at: of for at, of in shorter.items() if of}
        if title:
            ElementTree.SubElement(part, "title").text = title
            if key in links:
                part.tag, part.attrib["href"] = "a", links[key]
        elif key and part.tag not in ("g", "svg"):
            part.attrib["id"] = ids[key] = f"{prefix}-{len(ids)}"
    for above in reversed([*picture.iter()]):
        parts = ([*part] if part.tag == "g" and not part.attrib else [part] for part in above)
        above[:] = chain.from_iterable(parts)
    picture.attrib = {"viewBox": box, "role": "img", "aria-label": label}
    text = ElementTree.tostring(picture, encoding="unicode")
    text = re.sub(r'(?<=>)\s+(?=<)|<defs />|<path d="[^"]*" style="fill:none" />', "", text)
    return re.sub(r"(?<=#)\w+", lambda used: ids.get(used[0], used[0]), text)


def line(points: Iterable[Sequence[float]], decimals: int = 1) -> str:
    """Return a line through points as the path of an SVG, each relative to the one before."""
    at, steps = [0.0, 0.0], []
    for point in points:
        rounded = [round(number, decimals) for number in point]
        step = (round(new - old, decimals) for new, old in zip(rounded, at, strict=True))
        steps.append(" ".join(re.sub(r"^(-?)0\.", r"\1.", f"{each + 0:g}") for each in step))
        at = rounded
    return f"M{steps[0]}l{' '.join(steps[1:])}".replace(" -", "-")


def _relative(path: re.Match[str]) -> str:
    """Return a line of an SVG's path with relative points."""
    return line([[float(number) for number in point.split()] for point in path[1].split("L")])


def _short(value: str) -> str:
    """Return the value of an attribute of SVG with one decimal, a page's colours and no blanks."""
    rounded = _DECIMALS.sub(lambda number: f"{float(number[0]):z.1f}".removesuffix(".0"), value)
    for colour, of_page in _COLOURS.items():
        rounded = rounded.replace(colour, of_page)
    return _LINE.sub(_relative, _DROPPED.sub("", " ".join(rounded.split())))
