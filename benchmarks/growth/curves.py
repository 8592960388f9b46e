"""A measured curve with the expected one: CSV, picture, and how far they are apart."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fathom.artefacts.figures.drawing import look, panels, save, style
from fathom.io.files import write_text

HEAD = ("curve", "x", "value", "expected")
Point = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """One measured quantity over what grows.

    Attributes:
        name: in the legend and the CSV.
        points: (x, value), in the order of x.
        constant: whether the value should stay as it is; else it should grow along a line, whose
            slope is that between the first and the second point.
    """

    name: str
    points: Sequence[Point]
    constant: bool = False

    @property
    def slopes(self) -> list[float]:
        """What one unit of x adds, between neighbouring points."""
        pairs = zip(self.points, self.points[1:], strict=False)
        return [(after - before) / (right - left) for (left, before), (right, after) in pairs]

    @property
    def slope(self) -> float:
        """What one unit of x adds, between the first and the last point."""
        (left, before), (right, after) = self.points[0], self.points[-1]
        return (after - before) / (right - left)

    @property
    def change(self) -> float:
        """How far the curve leaves what is expected.

        Of a line it is the largest relative deviation of a slope between neighbours from the slope
        overall; of a constant, that of a value from the first.
        """
        if self.constant:
            return max(abs(value / self.points[0][1] - 1) for _, value in self.points)
        return max(abs(slope / self.slope - 1) for slope in self.slopes)

    def expected(self, x: float) -> float:
        """Return the expected value."""
        first, value = self.points[0]
        return value if self.constant else value + self.slopes[0] * (x - first)


@dataclass(frozen=True)
class Panel:
    """Curves of one unit.

    Attributes:
        x: what grows, with its unit.
        y: the quantity, with its unit.
        curves: from one or several contenders.
    """

    x: str
    y: str
    curves: Sequence[Curve]


def write(stem: Path, drawn: Sequence[Panel]) -> None:
    """Write panels as CSV and as a picture; the expected growth is dotted.

    Args:
        stem: of the files, without their endings.
        drawn: the panels from left to right.
    """
    rows = [
        (f"{panel.y}, {curve.name}", x, f"{value:.6g}", f"{curve.expected(x):.6g}")
        for panel in drawn
        for curve in panel.curves
        for x, value in curve.points
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([HEAD, *rows])
    write_text(stem.with_suffix(".csv"), text.getvalue())
    _draw(stem, drawn)


def _draw(stem: Path, drawn: Sequence[Panel]) -> None:
    from matplotlib import rc_context

    with rc_context(style()):
        drawing, axes = panels(len(drawn))
        for axis, panel in zip(axes, drawn, strict=True):
            for number, curve in enumerate(panel.curves):
                own = look(number)
                at, values = zip(*curve.points, strict=True)
                axis.plot(at, values, own.line, color=own.color, marker="o", ms=2, label=curve.name)
                expected = [curve.expected(x) for x in at]
                axis.plot(at, expected, ":", color=own.color, lw=0.6)
            axis.set(xlabel=panel.x, ylabel=panel.y)
            axis.set_ylim(bottom=0)
            if len(panel.curves) > 1:
                axis.legend()
        save(drawing, stem)
