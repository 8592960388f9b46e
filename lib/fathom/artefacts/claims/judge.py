"""Expressions of claims evaluated, on whatever their numbers come from."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from fathom.artefacts.claims.arithmetic import computed
from fathom.artefacts.claims.expressions import (
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Junction,
    Negation,
    Reference,
    Word,
)
from fathom.artefacts.claims.expressions import Number as Constant
from fathom.artefacts.claims.functions import FUNCTIONS
from fathom.artefacts.claims.quantities import Quantity, Unfit, constant
from fathom.artefacts.claims.truths import Logic, Numbers, Truth
from fathom.io.errors import FathomError


class World(Numbers, Protocol):
    """Where numbers come from: the paper's own cells, or our results."""

    def shown(self, reference: Reference) -> Quantity:
        """Return cells, a curve or a picture."""
        ...


@dataclass(frozen=True)
class Judge:
    """Answers expressions on numbers of one origin.

    Attributes:
        world: where the numbers come from.
        where: file, line and key of the expression, for messages.
    """

    world: World
    where: str

    @property
    def logic(self) -> Logic:
        """What compares and joins."""
        return Logic(self.world)

    def truth(self, expression: Expression) -> Truth:
        """Return the answer of a claim or a guard.

        Raises:
            FathomError: values do not fit together, e.g. a curve that is not summarised.
        """
        try:
            return self._truth(expression)
        except Unfit as unfit:
            raise FathomError(str(unfit), self.where, "correct the claim") from None

    def _truth(self, expression: Expression) -> Truth:
        if isinstance(expression, Junction):
            parts = (self._truth(part) for part in expression.parts)
            return self.logic.all(parts) if expression.operator == "and" else self.logic.any(parts)
        if isinstance(expression, Negation):
            return self.logic.no(self._truth(expression.part))
        if isinstance(expression, Comparison):
            values = [self.value(operand) for operand in expression.operands]
            pairs = zip(pairwise(values), expression.operators, strict=True)
            return self.logic.all(
                self.logic.compare(left, operator, right) for (left, right), operator in pairs
            )
        if isinstance(expression, Call):
            values = [self.value(argument) for argument in expression.arguments]
            return FUNCTIONS[expression.function].compute(self.logic, *values)
        raise Unfit("neither true nor false")

    def value(self, expression: Expression) -> Quantity:
        """Return the number, cells or curve of an expression; a word is itself."""
        if isinstance(expression, Constant):
            return constant(expression.value)
        if isinstance(expression, Reference):
            return self.world.shown(expression)
        if isinstance(expression, Arithmetic):
            operands = self.value(expression.left), self.value(expression.right)
            return computed(expression.operator, *operands)
        if isinstance(expression, Call):
            values = [self.value(argument) for argument in expression.arguments]
            return FUNCTIONS[expression.function].compute(*values)
        if isinstance(expression, Word):
            return expression.text  # pyright: ignore[reportReturnType]
        raise Unfit("no number")
