"""Expressions of claims: Python's grammar, parsed to a tree of our own and never executed.

    scores["LL-D, 24/24", "avg"] > scores["12/12", "avg"]
    rising(depths[:, "effective_depth"]) and trained(scores["24/12"])

where `scores` and `depths` are tables of the paper.

Names, functions and operators that are not listed here are refused.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeGuard

from fathom.artefacts.claims.functions import FUNCTIONS, Kind
from fathom.artefacts.claims.quantities import Operator
from fathom.config.claims import Claim, ClaimPart
from fathom.io.errors import FathomError, brief, nearest

# Names of several columns of a table.
TASKS, RESULTS = "tasks", "results"
LARGEST = 1e15  # a float holds every whole number up to it
_COMPARED: Mapping[type[ast.cmpop], Operator] = {
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
}
_COMPUTED = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


@dataclass(frozen=True)
class Number:
    """A number."""

    value: float


@dataclass(frozen=True)
class Word:
    """A label or an axis, as the argument of a function."""

    text: str


@dataclass(frozen=True)
class Key:
    """One index: ids, or a name for several.

    Attributes:
        ids: the ids that are written out.
        every: `:` for all that is printed, `tasks` or `results`; empty with ids.
        several: whether it makes a slice even of one id.
    """

    ids: tuple[str, ...] = ()
    every: str = ""
    several: bool = False


@dataclass(frozen=True)
class Reference:
    """Cells of a table, or a curve or picture of a figure, by its labels."""

    artefact: str
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class Call:
    """A function of artefacts/claims/functions.py with its arguments."""

    function: str
    arguments: tuple["Expression", ...]


@dataclass(frozen=True)
class Arithmetic:
    """`+`, `-` or `*` of two numbers or slices."""

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Comparison:
    """`a < b <= c`: each operand is compared with the next."""

    operands: tuple["Expression", ...]
    operators: tuple[Operator, ...]


@dataclass(frozen=True)
class Junction:
    """`and` or `or` of several truths."""

    operator: Literal["and", "or"]
    parts: tuple["Expression", ...]


@dataclass(frozen=True)
class Negation:
    """`not` of a truth."""

    part: "Expression"


Expression = Number | Word | Reference | Call | Arithmetic | Comparison | Junction | Negation


@cache
def parse(text: str, where: str) -> Expression:
    """Parse a claim or a guard.

    Args:
        text: the expression, `<name>` replaced.
        where: its file, line and key, for messages.

    Raises:
        FathomError: it is no expression of this language, or it is not true or false.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        reason = getattr(error, "msg", str(error))
        remedy = 'write it like table["row", "column"] > 20'
        raise FathomError(f"no expression ({reason})", where, remedy) from None
    return _Parser(where).truth(tree)


def placed(part: ClaimPart) -> Iterator[tuple[Expression, str]]:
    """Yield the expressions of a claim and of its guard, if it has one, each with its place."""
    yield parse(part.text, part.where), part.where
    if part.guard_text:
        yield parse(part.guard_text, part.guard_where), part.guard_where


def shown(part: ClaimPart) -> Iterator[Reference]:
    """Yield everything that a part takes from tables and figures."""
    return (one for expression, _ in placed(part) for one in references(expression))


def artefacts(claim: Claim) -> tuple[str, ...]:
    """Return the names of the tables and figures that a claim needs."""
    return tuple(dict.fromkeys(one.artefact for part in claim.parts for one in shown(part)))


def parts(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and everything in it."""
    yield expression
    inside: tuple[Expression, ...] = ()
    if isinstance(expression, Call):
        inside = expression.arguments
    elif isinstance(expression, Arithmetic):
        inside = (expression.left, expression.right)
    elif isinstance(expression, Comparison):
        inside = expression.operands
    elif isinstance(expression, Junction):
        inside = expression.parts
    elif isinstance(expression, Negation):
        inside = (expression.part,)
    for part in inside:
        yield from parts(part)


def references(expression: Expression) -> Iterator[Reference]:
    """Yield everything that an expression takes from tables and figures."""
    return (part for part in parts(expression) if isinstance(part, Reference))


@dataclass(frozen=True)
class _Parser:
    """Turns Python's tree into ours; everything that is not expected is refused."""

    where: str

    def truth(self, node: ast.expr) -> Expression:
        """Return what is true or false."""
        if isinstance(node, ast.BoolOp):
            operator: Literal["and", "or"] = "and" if isinstance(node.op, ast.And) else "or"
            return Junction(operator, tuple(self.truth(value) for value in node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Negation(self.truth(node.operand))
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.Call):
            return self._call(node, True)
        raise self._refused(node, "is not true or false", "compare it, or use trained(…)")

    def number(self, node: ast.expr) -> Expression:
        """Return what has a value: a number, cells, a curve or a picture."""
        if isinstance(node, ast.Constant) and _is_number(node.value):
            if node.value > LARGEST:
                raise self._refused(node, "is too large", f"write a number up to {LARGEST:g}")
            return Number(float(node.value))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return Arithmetic("-", Number(0.0), self.number(node.operand))
        if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
            operands = self.number(node.left), self.number(node.right)
            return Arithmetic(_COMPUTED[type(node.op)], *operands)
        if isinstance(node, ast.Subscript):
            return self._shown(node)
        if isinstance(node, ast.Call):
            return self._call(node, False)
        if isinstance(node, ast.Name):
            remedy = f'write {node.id}["row", "column"]'
            raise self._refused(node, "needs rows or labels", remedy)
        raise self._refused(node, "is no number", "use + - *, cells and the functions of claims")

    def _comparison(self, node: ast.Compare) -> Expression:
        operators = []
        for operator in node.ops:
            if type(operator) not in _COMPARED:
                raise self._refused(node, "compares otherwise", "use < > <= >= or near(a, b, by)")
            operators.append(_COMPARED[type(operator)])
        operands = tuple(self.number(operand) for operand in (node.left, *node.comparators))
        return Comparison(operands, tuple(operators))

    def _call(self, node: ast.Call, truth: bool) -> Expression:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if name not in FUNCTIONS:
            raise FathomError(f"no function '{name}'", self.where, nearest(name, FUNCTIONS))
        if FUNCTIONS[name].truth != truth:
            fitting = ", ".join(own for own, one in FUNCTIONS.items() if one.truth == truth)
            gives = "true or false" if truth else "a number"
            raise self._refused(node, f"does not give {gives}", f"use {fitting}")
        kinds = FUNCTIONS[name].taking(len(node.args))
        if node.keywords or not kinds:
            more = " or more" if FUNCTIONS[name].several else ""
            remedy = f"give {len(FUNCTIONS[name].arguments)}{more} arguments, without names"
            raise self._refused(node, "has other arguments", remedy)
        return Call(name, tuple(map(self._argument, node.args, kinds)))

    def _argument(self, node: ast.expr, kind: Kind) -> Expression:
        if kind in ("axis", "row"):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                raise self._refused(node, "is no word", 'write an axis or a label, like "layer"')
            return Word(node.value)
        value = self.number(node)
        if kind == "share" and not (isinstance(value, Number) and 0 < value.value <= 1):
            raise self._refused(node, "is no share", "write a number above 0 and at most 1")
        return value

    def _shown(self, node: ast.Subscript) -> Expression:
        if not isinstance(node.value, ast.Name):
            raise self._refused(node, "indexes no table or figure", 'write table["row", "column"]')
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Reference(node.value.id, tuple(self._key(item) for item in index))

    def _key(self, node: ast.expr) -> Key:
        if isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step):
            return Key(every=":", several=True)
        if isinstance(node, ast.Name) and node.id in (TASKS, RESULTS):
            return Key(every=node.id, several=True)
        if isinstance(node, ast.List) and node.elts and all(map(_is_id, node.elts)):
            return Key(tuple(map(_id, node.elts)), several=True)
        if _is_id(node):
            return Key((_id(node),))
        raise self._refused(node, "is no index", 'write "id", ["id", "id"], `:` or tasks')

    def _refused(self, node: ast.AST, what: str, remedy: str) -> FathomError:
        return FathomError(f"`{brief(ast.unparse(node))}` {what}", self.where, remedy)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_id(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (
        isinstance(node.value, str) or (isinstance(node.value, int) and _is_number(node.value))
    )


def _id(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""
