"""What the settings of all kinds of figures share, and the checks on the names that they use."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated

from pydantic import Field

from fathom.config.settings import Form, Several
from fathom.errors import FathomError, nearest, unknown
from fathom.figures.inputs import MEASUREMENT, SERIES, UPDATE, Series, series_named
from fathom.papers.figures import Figure

Where = Callable[[tuple[str | int, ...]], str]
# An update, a share of the training, or the end of an epoch.
At = Annotated[int, Field(ge=1)] | Annotated[str, Form(r"^([0-9]+%|epoch [1-9][0-9]*)$", "50%")]
Names = Annotated[tuple[str, ...], Several]


def measurement_keys(series: Iterable[str | None]) -> tuple[str, ...]:
    """Return the keys of those series that are measurements."""
    known = [series_named(name) for name in series if name]
    keys = [key for item in known if item.place == MEASUREMENT for key in item.names]
    return tuple(dict.fromkeys(keys))


def path_of(figure: Figure, panel: str, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return where a panel's key is written: in the panel, or else for all panels of the figure."""
    inside = ("panels", panel, *path)
    return inside if panel and figure.entry.get(inside) is not None else path


def unknown_name(kind: str, name: str, valid: Iterable[str], where: str) -> Iterator[FathomError]:
    """Yield a finding for a name that is not among the valid ones."""
    names = tuple(valid)
    if name not in names:
        yield unknown(kind, name, where, names)


def check_series(name: str | None, where: str) -> tuple[Series | None, list[FathomError]]:
    """Return a series, or what is wrong with its name."""
    if name is None:
        return None, [FathomError("no series is given", where, f"add one: {nearest('', SERIES)}")]
    try:
        return series_named(name), []
    except FathomError as error:
        return None, [FathomError(error.what, where, error.remedy)]


def check_axes(
    series: Series, used: Mapping[str, str], at: bool, where: Where
) -> Iterator[FathomError]:
    """Yield findings for axes that the series does not have, and for axes that nothing uses.

    Args:
        series: the series.
        used: the key that uses an axis, by axis: `{"layer": "x"}`.
        at: whether a place in the training is given.
        where: turns a key path into `file:line: key.path`.
    """
    for axis, key in used.items():
        if axis not in series.axes:
            yield FathomError(f"no axis '{axis}'", where((key,)), nearest(axis, series.axes))
    if at and UPDATE not in series.axes:
        what = "the series has no updates to choose from"
        yield FathomError(what, where(("at",)), "delete `at`")
    for axis in dict.fromkeys(series.axes):
        if axis not in used and not (axis == UPDATE and at):
            remedy = "add `at`" if axis == UPDATE else f"add `select: {{{axis}: last}}`"
            what = f"the axis '{axis}' is neither drawn nor selected"
            yield FathomError(what, where(()), remedy)
