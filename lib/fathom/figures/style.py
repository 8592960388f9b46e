"""How figures look: a plain dict of settings, and series that differ in colour and in hatching.

The colours are Paul Tol's bright scheme, which colour-blind readers can tell apart; the hatching
tells series apart in grey print.
"""

from dataclasses import dataclass

POINTS_PER_INCH = 72.27
TEXT_WIDTH = 397.5  # of the NeurIPS style, in points
FONT_SIZE = 7.0
DOTS_PER_INCH = 200


@dataclass(frozen=True)
class Look:
    """The look of one series."""

    color: str
    hatch: str


LOOKS = (
    Look("#4477AA", ""),
    Look("#EE6677", "////"),
    Look("#CCBB44", "...."),
    Look("#228833", "xxxx"),
    Look("#66CCEE", "\\\\\\\\"),
    Look("#AA3377", "++++"),
    Look("#BBBBBB", "oooo"),
)


def look(position: int) -> Look:
    """Return the look of a series by its position; after seven they begin again."""
    return LOOKS[position % len(LOOKS)]


def settings(height: float = 0.45) -> dict[str, object]:
    """Return matplotlib settings for a figure as wide as the text.

    Args:
        height: the figure's height as a share of its width.
    """
    width = TEXT_WIDTH / POINTS_PER_INCH
    return {
        "figure.figsize": (width, width * height),
        "figure.dpi": DOTS_PER_INCH,
        "savefig.dpi": DOTS_PER_INCH,
        "font.family": "DejaVu Sans",
        "font.size": FONT_SIZE,
        "axes.titlesize": FONT_SIZE + 1,
        "axes.labelsize": FONT_SIZE,
        "xtick.labelsize": FONT_SIZE,
        "ytick.labelsize": FONT_SIZE,
        "legend.fontsize": FONT_SIZE,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "grid.linewidth": 0.4,
        "grid.color": "#DDDDDD",
        "hatch.linewidth": 0.5,
        "patch.linewidth": 0.5,
        "xtick.major.size": 0,
        "ytick.major.width": 0.6,
        "legend.frameon": False,
        "pdf.fonttype": 42,
    }
