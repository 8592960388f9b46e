"""Checks on the names that the settings of figures use."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from fathom.config.figures import Figure
from fathom.config.schema.figures import SERIES, UPDATE, Series, series_named
from fathom.config.schema.section import STACKS
from fathom.config.spec import Spec
from fathom.io.errors import FathomError, nearest, unknown

Where = Callable[[tuple[str | int, ...]], str]
# Words for a place on an axis.
ENDS = ("first", "last")


def path_of(figure: Figure, panel: str, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return where a panel's key is written: in the panel, or else for all panels of the figure."""
    inside = ("panels", panel, *path)
    return inside if panel and figure.values.find(*inside) is not None else path


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


def check_places(
    select: Mapping[str, str], series: Series, run: Spec, where: Callable[[str], str]
) -> Iterator[FathomError]:
    """Yield findings for places that an axis does not have at the paper's own settings.

    Args:
        select: the place on each axis.
        series: the series that is drawn.
        run: the run that is drawn.
        where: turns an axis into the place of its key.
    """
    for axis, place in select.items():
        labels = _labels(axis, series, run)
        if labels and place not in (*ENDS, *labels):
            what = f"no {axis} '{place}'"
            numbered = labels[0].isdecimal()
            remedy = (
                f"write {labels[0]} to {labels[-1]}, or last"
                if numbered
                else nearest(place, (*ENDS, *labels))
            )
            yield FathomError(what, where(axis), remedy)


def _labels(axis: str, series: Series, run: Spec) -> tuple[str, ...]:
    """Return the labels of an axis; empty where config does not know them."""
    if axis == "task":
        return run.data.tasks
    own = next((stack for stack in STACKS if any(stack in name for name in series.names)), "")
    stack = {"layer": own, "memory": "decoder", "source": "encoder"}.get(axis, "")
    layers = {"encoder": run.model.encoder_layers, "decoder": run.model.decoder_layers}.get(
        stack, 0
    )
    return tuple(map(str, range(0 if axis == "source" else 1, layers + 1))) if layers else ()


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
