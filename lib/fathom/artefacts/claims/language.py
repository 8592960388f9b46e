"""The language of claims: Python's grammar, of which only what is listed here is evaluated.

    scores["LL-D, 24/24", "avg"] > scores["12/12", "avg"]
    rising(depths[:, "effective_depth"]) and trained(scores["24/12"])

where `scores` and `depths` are tables of the paper. The tree of an expression is walked and never
executed: a node that is not named here is refused.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from itertools import pairwise
from typing import Any, Protocol

from fathom.artefacts.claims.functions import NUMBERS, TRUTHS
from fathom.artefacts.claims.numbers import Sum, Term, Unfit, minus, plus, scaled, times
from fathom.artefacts.claims.truths import (
    Interval,
    Intervals,
    Operator,
    Truth,
    compare,
    every,
    some,
)
from fathom.io.errors import FathomError, brief, nearest
from fathom.io.retired import FUNCTIONS

# Names of several columns of a table.
TASKS, RESULTS = "tasks", "results"
LONGEST = 2000  # characters of an expression
LARGEST = 1e15  # a float holds every whole number up to it
_COMPARED: dict[type, Operator] = {ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">="}
_COMPUTED = {ast.Add: plus, ast.Sub: minus, ast.Mult: times}


@dataclass(frozen=True)
class Key:
    """One index: ids, or a name for several."""

    ids: tuple[str, ...] = ()
    every: str = ""  # `:` for all that is printed, `tasks` or `results`; empty with ids
    several: bool = False  # whether it makes a slice even of one id


@dataclass(frozen=True)
class Reference:
    """Cells of a table."""

    table: str
    keys: tuple[Key, ...]


class World(Protocol):
    """Where numbers come from: the paper's own cells, or our results."""

    def shown(self, reference: Reference) -> Any:
        """Return cells."""

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return what surrounds a sum of terms, each of which has a number."""
        ...


def truth(text: str, where: str, world: World) -> Truth:
    """Return the answer of a claim or a guard; errors have the place at which it is written."""
    try:
        tree, intervals = _tree(text), Intervals(world.interval)
        answer = _Evaluation(world, intervals).truth(tree)
        if len(intervals.comparisons) > 1:
            answer = _Evaluation(world, intervals.corrected()).truth(tree)
        if not references(text):
            raise Unfit("no cell is compared", 'write table["row", "column"]')
        return answer
    except Unfit as unfit:
        raise FathomError(unfit.what, where, unfit.remedy) from None
    except RecursionError:
        raise FathomError("the expression is too deep", where, "write a shorter one") from None


@cache
def references(text: str) -> tuple[Reference, ...]:
    """Return what an expression takes from tables; of another language it is Unfit."""
    nodes = ast.walk(_tree(text))
    return tuple(_reference(node) for node in nodes if isinstance(node, ast.Subscript))


@cache
def _tree(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise Unfit(f"{len(text):,} characters", f"write at most {LONGEST:,}, in several claims")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what = f"not an expression ({getattr(error, 'msg', error)})"
        raise Unfit(what, 'write it like table["row", "column"] > 20') from None


@dataclass(frozen=True)
class _Evaluation:
    """Evaluates a tree on the numbers of one origin."""

    world: World
    intervals: Intervals

    def truth(self, node: ast.expr) -> Truth:
        """Return what is true or false; all parts are evaluated, so that all are checked."""
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return every([self.truth(part) for part in parts])
            case ast.BoolOp(values=parts):
                return some([self.truth(part) for part in parts])
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return ~self.truth(part)
            case ast.Call(func=ast.Name(id=name)) if name not in NUMBERS:
                return self._called(node, name, TRUTHS, self.intervals)
            case ast.Compare(left=left, ops=operators, comparators=others):
                if not all(type(sign) in _COMPARED for sign in operators):
                    raise _refused(node, "compares otherwise", "use < > <= >= or near(a, b, by)")
                pairs = pairwise([self.number(part) for part in (left, *others)])
                return every(
                    compare(self.intervals, before, _COMPARED[type(sign)], after)
                    for sign, (before, after) in zip(operators, pairs, strict=True)
                )
        raise _refused(node, "is not true or false", "compare it, or use trained(…)")

    def number(self, node: ast.expr) -> Any:
        """Return what has a value: a number or cells."""
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as value):
                if value > LARGEST:
                    raise _refused(node, "is too large", f"write a number up to {LARGEST:g}")
                return Sum(constant=float(value))
            case ast.UnaryOp(op=ast.USub(), operand=part):
                return scaled(self.number(part), -1)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _COMPUTED:
                return _COMPUTED[type(sign)](self.number(left), self.number(right))
            case ast.Subscript():
                return self.world.shown(_reference(node))
            case ast.Call(func=ast.Name(id=name)) if name not in TRUTHS:
                return self._called(node, name, NUMBERS)
            case ast.Name(id=name):
                raise _refused(node, "needs rows", f'write {name}["row", "column"]')
        raise _refused(node, "is not a number", "use + - *, cells and the functions of claims")

    def _called(self, node: ast.Call, name: str, functions: Mapping[str, Any], *first: Any) -> Any:
        """Return what a function gives."""
        if name not in functions:
            remedy = FUNCTIONS.get(name) or nearest(name, (*NUMBERS, *TRUTHS))
            raise Unfit(f"no function '{name}'", remedy)
        taken = [*signature(functions[name]).parameters.values()][len(first) :]
        several = taken[-1].kind is Parameter.VAR_POSITIONAL
        if node.keywords or not node.args or (len(node.args) != len(taken) and not several):
            remedy = f"give {len(taken)}{' or more' if several else ''} arguments, without names"
            raise _refused(node, "has other arguments", remedy)
        return functions[name](*first, *map(self.number, node.args))


def _reference(node: ast.Subscript) -> Reference:
    if not isinstance(node.value, ast.Name):
        raise _refused(node, "indexes no table", 'write table["row", "column"]')
    index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return Reference(node.value.id, tuple(map(_key, index)))


def _key(node: ast.expr) -> Key:
    match node:
        case ast.Slice(lower=None, upper=None, step=None):
            return Key(every=":", several=True)
        case ast.Name(id=name) if name in (TASKS, RESULTS):
            return Key(every=name, several=True)
        case ast.List(elts=[_, *_] as items) if all(map(_id, items)):
            return Key(tuple(map(_id, items)), several=True)
    if _id(node):
        return Key((_id(node),))
    raise _refused(node, "is not an index", 'write "id", ["id", "id"], `:` or tasks')


def _id(node: ast.expr) -> str:
    """Return an id, which may be written as a number; empty for what is not one."""
    match node:
        case ast.Constant(value=str() | int() as value) if not isinstance(value, bool):
            return str(value)
    return ""


def _refused(node: ast.AST, what: str, remedy: str) -> Unfit:
    return Unfit(f"`{brief(ast.unparse(node))}` {what}", remedy)
