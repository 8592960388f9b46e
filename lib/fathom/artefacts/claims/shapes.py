"""What expressions of claims give: numbers, curves or pictures; checked before anything is trained.

A claim that would have no answer whatever the results are is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fathom.artefacts.claims.arithmetic import PRODUCT, SHIFT
from fathom.artefacts.claims.expressions import (
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Junction,
    Negation,
    Number,
    Reference,
    Word,
    placed,
    references,
)
from fathom.artefacts.claims.functions import FUNCTIONS, Kind
from fathom.artefacts.claims.references import places
from fathom.config.claims import ClaimPart
from fathom.config.figures import Figure
from fathom.config.project import Project
from fathom.config.schema.figures import Drawn
from fathom.config.spec import full_name
from fathom.config.tables import Cell
from fathom.io.errors import FathomError, nearest

CURVES, NUMBERS = ("curve", "picture"), ("written", "number", "numbers", "cell", "cells")
# What fits where a function takes a kind, how messages call the kind, and what to write.
_TAKEN: Mapping[Kind, tuple[tuple[str, ...], str, str]] = {
    "value": ((*NUMBERS, *CURVES), "", ""),
    "number": (("written", "number", "cell"), "one number", "name one row and one column"),
    "numbers": (NUMBERS, "numbers", "summarise it, e.g. by end(…) or mean(…)"),
    "several": (("numbers", "cells"), "several numbers", "name several cells, or `:` for all"),
    "several or curve": (
        ("numbers", "cells", *CURVES), "several numbers", "name several cells, or `:` for all"
    ),
    "cells": (("cell", "cells"), "cells of a table", "name rows of a table, without arithmetic"),
    "curve": (("curve",), "a curve", "name a line of a figure"),
    "picture": (("picture",), "a picture", "name a panel of a heat map"),
    "curve or picture": (CURVES, "a curve or a picture", "name what a figure draws"),
    "share": (("written",), "a written number", "write a number"),
}  # fmt: skip
# How messages call what is given.
_GIVEN = {"written": "one number", "number": "one number", "cell": "one number", "curve": "a curve",
          "picture": "a picture"}  # fmt: skip
# What a function of a value gives: no cell, and nothing that is written.
_RESULT = {"written": "number", "cell": "number", "cells": "numbers"}


@dataclass(frozen=True)
class Shape:
    """What an expression gives.

    Attributes:
        kind: `written` for a number that the claim itself writes, cell, cells, number, numbers,
            curve, picture or truth.
        name: the figure of a curve or a picture.
        axes: those of a curve or a picture.
        rows: the labels of a picture's rows.
    """

    kind: str
    name: str = ""
    axes: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


def findings(
    part: ClaimPart,
    cells: Mapping[str, Sequence[Cell]],
    figures: Mapping[str, Figure],
    project: Project,
) -> Iterator[FathomError]:
    """Yield the first thing that does not fit in a claim, and in its guard.

    Args:
        part: a claim whose rows and columns exist.
        cells: the cells of each of its paper's tables.
        figures: the figures of its paper.
        project: its runs, whose tasks label pictures.
    """
    for expression, where in placed(part):
        try:
            _Shapes(where, cells, figures, project).of(expression)
            if not any(references(expression)):
                what = "no cell and no curve is compared"
                yield FathomError(what, where, 'write table["row", "column"] or figure["line"]')
        except FathomError as error:
            yield error


def named(figure: Figure, reference: Reference) -> tuple[list[Drawn], list[str]]:
    """Return what the labels of a figure may name, panel first, and the labels that are left."""
    left = [*figure.settings.drawn()]
    rest = [label for key in reference.keys for label in key.ids]
    for part in ("panel", "label"):
        fitting = [one for one in left if rest and getattr(one, part) == rest[0]]
        left, rest = (fitting, rest[1:]) if fitting else (left, rest)
    return left, rest


@dataclass(frozen=True)
class _Shapes:
    """Finds the shape of each expression; what does not fit is refused."""

    where: str
    cells: Mapping[str, Sequence[Cell]]
    figures: Mapping[str, Figure]
    project: Project

    def of(self, expression: Expression) -> Shape:
        """Return what an expression gives.

        Raises:
            FathomError: something in it does not fit.
        """
        if isinstance(expression, Reference):
            is_table = expression.artefact in self.cells
            return self._shown(expression) if is_table else self._drawn(expression)
        if isinstance(expression, Arithmetic):
            return self._computed(expression)
        if isinstance(expression, Call):
            return self._called(expression)
        if isinstance(expression, Comparison):
            for operand in expression.operands:
                self._check("numbers", self.of(operand), "a comparison")
        elif isinstance(expression, Junction):
            for part in expression.parts:
                self.of(part)
        elif isinstance(expression, Negation):
            self.of(expression.part)
        return Shape("written" if isinstance(expression, Number) else "truth")

    def _shown(self, reference: Reference) -> Shape:
        """Return the shape of cells, at the paper's own settings."""
        count = len(places(reference, self.cells[reference.artefact]))
        if not count:
            what = f"{reference.artefact} prints nothing in these rows and columns"
            raise self._refused(what, "name other rows or columns")
        return Shape("cell" if count == 1 else "cells")

    def _drawn(self, reference: Reference) -> Shape:
        """Return the shape of what labels of a figure name."""
        figure, name = self.figures[reference.artefact], reference.artefact
        if not figure.settings.drawn():
            tables = " or ".join(figure.settings.tables)
            remedy = f"name cells of {tables}" if tables else "name another table or figure"
            raise self._refused(f"{name} draws no curve and no picture that has labels", remedy)
        if any(key.every for key in reference.keys):
            raise self._refused(f"{name} has labels only", "name a panel and its line")
        left, rest = named(figure, reference)
        panels, lines = ([*dict.fromkeys(own)] for own in zip(*map(_names, left), strict=True))
        if len(left) > 1 and not rest:
            choices = " or ".join(panels if len(panels) > 1 else lines)
            raise self._refused(f"{name} names several curves", f"add {choices}")
        free = self._places(figure, left[0]) if len(left) == 1 else []
        axes = [*left[0].axes]
        for label in rest:
            at = next((at for at, (_, labels) in enumerate(free) if label in labels), None)
            if at is None:
                valid = [own for _, labels in free for own in labels]
                valid = valid if len(left) == 1 else [*filter(None, (*panels, *lines))]
                raise self._unknown(f"{name} has no label '{label}'", label, valid)
            axes.remove(free[at][0])
            free = free[at + 1 :]
        if len(axes) == 2:
            return Shape("picture", name, (*axes,), free[0][1])
        return Shape("curve", name, (*axes,)) if axes else Shape("number")

    def _places(self, figure: Figure, one: Drawn) -> list[tuple[str, tuple[str, ...]]]:
        """Return the axes of a picture with the labels along each; nothing for a curve."""
        name = full_name(figure.paper, one.run)
        run = self.project.spec(name) if self.project.has_run(name) else None
        labels = {"task": run.data.tasks if run else ()}
        rows, *columns = one.axes
        if not columns:
            return []
        return [
            (rows, one.rows or labels.get(rows, ())),
            (columns[0], labels.get(columns[0].removesuffix("_2"), ())),
        ]

    def _computed(self, expression: Arithmetic) -> Shape:
        """Return the shape of a sum, difference or product."""
        both = [self.of(expression.left), self.of(expression.right)]
        written = [one.kind == "written" for one in both]
        for one, other in zip(both, reversed(written), strict=True):
            if one.kind in CURVES:
                if not other:
                    raise self._refused(SHIFT, "summarise it, e.g. by end(…) or mean(…)")
                return one
        if expression.operator == "*" and not any(written):
            raise self._refused(PRODUCT, "multiply by a written number")
        several = any(one.kind in ("numbers", "cells") for one in both)
        return Shape("written" if all(written) else "numbers" if several else "number")

    def _called(self, call: Call) -> Shape:
        """Return the shape of what a function gives."""
        function = FUNCTIONS[call.function]
        shapes = [self.of(argument) for argument in call.arguments]
        first = shapes[0]
        for argument, shape, kind in zip(
            call.arguments, shapes, function.taking(len(shapes)), strict=True
        ):
            if isinstance(argument, Word):
                valid = first.axes if kind == "axis" else first.rows
                if argument.text not in valid:
                    what = f"{first.name} has no {kind} '{argument.text}'"
                    raise self._unknown(what, argument.text, valid)
                first = replace(first, axes=_without(first.axes, argument.text, kind))
            else:
                self._check(kind, shape, call.function)
        if function.result == "curve":
            return replace(first, kind="curve", rows=())
        if function.result == "value":
            return replace(first, kind=_RESULT.get(first.kind, first.kind))
        return Shape(function.result)

    def _check(self, kind: Kind, shape: Shape, taker: str) -> None:
        """Refuse what is not of a kind."""
        fitting, needed, remedy = _TAKEN[kind]
        if shape.kind not in fitting:
            given = _GIVEN.get(shape.kind, "several numbers")
            raise self._refused(f"{taker} needs {needed}, and gets {given}", remedy)

    def _unknown(self, what: str, name: str, valid: Sequence[str]) -> FathomError:
        """Return that a figure has no such label."""
        remedy = nearest(name, valid) if valid else "leave it out"
        remedy = "write the panel first, then the line" if name in valid else remedy
        return FathomError(what, self.where, remedy)

    def _refused(self, what: str, remedy: str) -> FathomError:
        return FathomError(what, self.where, remedy)


def _names(one: Drawn) -> tuple[str, str]:
    return one.panel, one.label


def _without(axes: tuple[str, ...], word: str, kind: Kind) -> tuple[str, ...]:
    """Return the axes that are left along one of them, or of one row."""
    return tuple(axis for axis in axes if axis != word) if kind == "axis" else axes[1:]
