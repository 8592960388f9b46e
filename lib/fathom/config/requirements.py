"""What a method's settings need of each other and of the run: `active <= groups`, in its card.

A rule compares numbers with < or <= or ==. It names settings of the method, and WIDTH, TASKS and
UPDATES of the run. A setting that is null, and a run that counts epochs, break no rule.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from fathom.config.inheritance import Entry
from fathom.config.schema.types import Text
from fathom.config.section import Doc, Section
from fathom.config.spec import Spec
from fathom.io.errors import FathomError, brief, nearest

OF_A_RUN = ("width", "tasks", "updates")
_COMPARE: Mapping[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
}
_COMPUTE: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
}


class Requirement(Section):
    """A rule without which a method does nothing or cannot be built."""

    rule: Annotated[Text, Doc("A comparison of settings, `width`, `tasks` and `updates`.")]
    reason: Annotated[Text, Doc("What happens where it does not hold.")]

    @property
    def names(self) -> list[str]:
        """The names in the rule, in their order."""
        return list(dict.fromkeys(re.findall(r"\b[^\W\d]\w*", self.rule)))

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Return whether the rule holds for the values of its names; by zero nothing divides."""
        if any(not isinstance(values[name], int | float) for name in self.names):
            return True
        comparison = ast.parse(self.rule, mode="eval").body
        if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1:
            raise TypeError(self.rule)
        compare, (right,) = _COMPARE[type(comparison.ops[0])], comparison.comparators
        try:
            return compare(_value(comparison.left, values), _value(right, values))
        except ZeroDivisionError:
            return False


def rule_findings(
    requirements: tuple[Requirement, ...], settings: list[str], where: Callable[..., str]
) -> Iterator[FathomError]:
    """Yield the rules of a card that are no comparison, or that name what does not exist.

    Args:
        requirements: the card's.
        settings: the names of the method's settings.
        where: turns a key path of the card into its place.
    """
    known = [*settings, *OF_A_RUN]
    for number, requirement in enumerate(requirements):
        place = where(("requires", number, "rule"))
        for name in requirement.names:
            if name not in known:
                yield FathomError(f"no setting '{name}'", place, nearest(name, known))
        try:
            requirement.holds(dict.fromkeys(requirement.names, 1))
        except (SyntaxError, ValueError, KeyError, TypeError, RecursionError, MemoryError):
            what = f"'{brief(requirement.rule)}' is no comparison of numbers"
            yield FathomError(what, place, "write for example `active <= groups`")


def requirement_findings(
    requirements: tuple[Requirement, ...], spec: Spec, entry: Entry
) -> Iterator[FathomError]:
    """Yield the rules of a method that a run breaks, at the rule's first setting.

    Args:
        requirements: those of the method's card.
        spec: the run.
        entry: the run's entry, for the places of its values.
    """
    run = dict(
        zip(OF_A_RUN, (spec.model.width, len(spec.data.tasks), spec.training.updates), strict=True)
    )
    values = run | spec.method.settings
    for requirement in requirements:
        if not requirement.holds(values):
            given = ", ".join(f"{name} {values[name]}" for name in requirement.names)
            own = [name for name in requirement.names if name not in run]
            what = f"{requirement.reason}: {requirement.rule}, but here {given}"
            where = entry.where(("method", *own[:1]))
            yield FathomError(what, where, f"change {' or '.join(own)}")


def _value(node: ast.AST, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression; a KeyError or TypeError says that it is another one."""
    if isinstance(node, ast.BinOp):
        compute = _COMPUTE[type(node.op)]
        return compute(_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    raise TypeError(node)
