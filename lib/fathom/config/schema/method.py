"""A method's card: what the method is, where it acts, and a class for its settings.

The card is data (`config/methods/<name>.yaml`); the class that is made of it is checked by the same
validator as every other setting, so a run's method is refused like any other key.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Len, Lt
from pydantic import Field, create_model, model_validator

from fathom.config.check import check, checked
from fathom.config.schema.run import MethodSettings
from fathom.config.schema.section import (
    MOST,
    Count,
    Doc,
    ListOf,
    NonEmpty,
    Section,
    Stacks,
    Text,
    UnhashedValue,
)
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, brief, refuse, unknown

# What a rule of a card may name besides the method's settings.
OF_A_RUN = ("width", "tasks", "updates")
Gates = Literal["plain", "soft", "hard"]
Norm = Literal["pre", "post", "lingvo", "none"]
_TYPES = {"number": float, "integer": int, "string": str, "boolean": bool}
# What the expression of a rule may be made of.
_OPERATIONS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    **{ast.Lt: operator.lt, ast.LtE: operator.le, ast.Eq: operator.eq},
    **{ast.Add: operator.add, ast.Mult: operator.mul, ast.Mod: operator.mod},
}
_OF_A_RULE = (ast.Expression, ast.Compare, ast.BinOp, ast.Name, ast.Constant, ast.Load)


class CardSetting(Section):
    """One setting of a method, as its card describes it."""

    description: Text = Doc("What the setting does.")
    type: Literal["number", "integer", "string", "boolean", "list"] = Doc("The type of its value.")
    default: Any = Doc("The value where a run gives none.")
    source: Text = Doc("Where the paper gives the default, or why it was chosen.")
    unit: Literal["layers", "width", "updates"] | None = Doc("What a scale multiplies.", None)
    values: ListOf[str] = Doc(
        "What is possible. A list without them is one of numbers; bounds are its items'.", ()
    )
    minimum: float | None = Doc("The smallest value.", None)
    above: float | None = Doc("The value must be more than this.", None)
    maximum: float | None = Doc("The largest value.", None)
    below: float | None = Doc("The value must be less than this.", None)
    length: Count | None = Doc("How many items a list has.", None)
    stacks_of: str | None = Doc("The setting, in layers, that acts on these stacks.", None)
    optional: bool = Doc("Whether null is possible, which turns it off.", False)
    absent: Any = Doc("What the code did before the setting existed; never changed.", None)

    @model_validator(mode="after")
    def _bounds_leave_a_value(self) -> "CardSetting":
        least = [bound for bound in (self.minimum, self.above) if bound is not None]
        most = [bound for bound in (self.maximum, self.below) if bound is not None]
        if least and most and max(least) > min(most):
            what = f"no value is between {max(least):g} and {min(most):g}"
            raise ValueError(f"{what}; correct one of the bounds")
        return self

    @property
    def annotation(self) -> Any:
        """The setting's type with its bounds, as a field of the card's class."""
        kind: Any = Literal[self.values] if self.values else _TYPES.get(self.type, float)
        most = MOST if self.type == "integer" and self.maximum is None else self.maximum
        for bound, limit in ((Ge, self.minimum), (Gt, self.above), (Lt, self.below), (Le, most)):
            if limit is not None:
                kind = Annotated[kind, bound(limit)]
        if self.type == "list":
            kind = Stacks if self.stacks_of else ListOf[kind]
            if self.length is not None:
                kind = Annotated[kind, Len(self.length, self.length)]
        if self.optional:
            kind = kind | None
        kind = Annotated[kind, Doc(self.description, unit=self.unit)]
        if "absent" in self.model_fields_set:
            kind = Annotated[kind, UnhashedValue(self.absent)]
        return kind


class Requirement(Section):
    """A rule without which a method does nothing or cannot be built, as `active <= groups`."""

    rule: Text = Doc("A comparison of settings, `width`, `tasks` and `updates`.")
    reason: Text = Doc("What happens where it does not hold.")

    @property
    def names(self) -> list[str]:
        """The names in the rule, in their order."""
        nodes = [node for node in ast.walk(self._tree) if isinstance(node, ast.Name)]
        nodes.sort(key=lambda node: node.col_offset)
        return list(dict.fromkeys(node.id for node in nodes))

    @property
    def is_comparison(self) -> bool:
        """Whether it compares whole numbers once, with <, <= or ==, and is nothing else."""
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            nodes = [*ast.walk(self._tree)]
            numbers = [node.value for node in nodes if isinstance(node, ast.Constant)]
            compared = [node for node in nodes if isinstance(node, ast.Compare)]
            return (
                compared == [self._tree.body]
                and len(compared[0].ops) == 1
                and all(isinstance(node, (*_OF_A_RULE, *_OPERATIONS)) for node in nodes)
                and all(type(number) is int for number in numbers)
            )
        return False

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Return whether it holds; null, and a length in epochs, break no rule.

        A rule with `% 0` does not hold.
        """
        if any(not isinstance(values[name], int | float) for name in self.names):
            return True
        try:
            return bool(_value(self._tree.body, values))
        except ZeroDivisionError:
            return False

    @cached_property
    def _tree(self) -> ast.Expression:
        return ast.parse(self.rule, mode="eval")


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """Return the value of a comparison, or of a side of it."""
    match node:
        case ast.Compare(left=left, ops=[operation], comparators=[right]):
            return _OPERATIONS[type(operation)](_value(left, values), _value(right, values))
        case ast.BinOp(left=left, op=operation, right=right):
            return _OPERATIONS[type(operation)](_value(left, values), _value(right, values))
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=number):
            return number
    raise TypeError(node)


class Refusal(Section):
    """Gates with which runs of these settings are not decoded, and why.

    Text and null refuse where the run's value is equal, a number where it is at least this.
    """

    gates: Gates = Doc("The gates that are refused.")
    settings: dict[str, Any] = Doc("The values of settings that refuse them.")
    reason: Text = Doc("Why such a decoding makes no sense.")

    def holds(self, settings: Mapping[str, Any]) -> bool:
        """Return whether it holds for the settings of a run's method, all of them."""
        return all(
            settings[name] is not None and settings[name] >= value
            if isinstance(value, int | float) and not isinstance(value, bool)
            else settings[name] == value
            for name, value in self.settings.items()
        )


class Neutral(Section):
    """When a method equals the static model: these settings, and parameters filled with a value."""

    settings: dict[str, Any] = Doc("Settings of the method.")
    parameters: dict[str, float] = Doc("A value that fills each of these parameters.")


class Example(Section):
    """A tiny network for the contract tests: layers of each stack, tasks, settings."""

    layers: Annotated[int, Ge(1)] = Doc("Layers of each stack.")
    tasks: Annotated[int, Ge(1)] = Doc("Number of tasks.")
    settings: dict[str, Any] = Doc("Settings of the method.")


class CardFile(Section):
    """The keys of config/methods/<name>.yaml."""

    title: Text = Doc("The method's name, as tables print it.")
    summary: Text = Doc("What the method does, in one sentence.")
    recipe: Count = Doc("Raised when the code computes other numbers; 1 is not hashed.", 1)
    paper: str | None = Doc("The paper whose equations the method computes.")
    equations: ListOf[Annotated[str, Field(pattern=r"^(Eq|Alg)[.] [0-9]+$")]] = Doc(
        "The equations that the method's files compute, as their tags name them."
    )
    stacks: Stacks = Doc("The stacks on which it can act.")
    gates: bool = Doc("Whether it has gates; runs are then decoded soft and hard.")
    norms: NonEmpty[Norm] = Doc(
        "The norms with which its layers make sense.", ("pre", "post", "lingvo", "none")
    )
    settings: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], CardSetting] = Doc(
        "Every setting of the method; they are the keyword arguments of its class."
    )
    presets: dict[str, dict[str, Any]] = Doc("Settings by one name.", {})
    refused: ListOf[Refusal] = Doc("Decodings that make no sense.", ())
    plain_with: ListOf[Gates] = Doc(
        "The gates with which the kept layers are a plain Transformer, and nothing is added.", ()
    )
    requires: ListOf[Requirement] = Doc("Rules without which the method does not work.", ())
    neutral: Neutral | None = Doc("When it equals the static model; null: never.")
    example: Example


@dataclass(frozen=True)
class MethodCard:
    """A method by name, with its card and the card's file."""

    name: str
    about: CardFile
    file: Value

    @cached_property
    def method(self) -> type[MethodSettings]:
        """The class of the method's settings: name, stacks, and every setting of the card."""
        stacks = Annotated[Stacks, Doc("The stacks on which it acts.")]
        fields: dict[str, Any] = {"name": (Literal[self.name], ...)}
        fields |= {"stacks": (stacks, self.about.stacks)}
        for name, setting in self.about.settings.items():
            fields[name] = (setting.annotation, setting.default)
        settings = create_model(self.name, __base__=MethodSettings, **fields)
        settings.recipe = self.about.recipe
        return settings

    def refusal(self, gates: str, settings: Mapping[str, Any]) -> str | None:
        """Return why a run is not decoded with these gates, or None if it may be."""
        for refusal in self.about.refused:
            if refusal.gates == gates and refusal.holds(settings):
                return refusal.reason
        return None

    def gates(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the gates with which a run is decoded: those that the card does not refuse."""
        names = ("soft", "hard") if self.about.gates else ("plain",)
        return tuple(name for name in names if self.refusal(name, settings) is None)


def read_method(name: str, file: Value) -> MethodCard:
    """Return a card; its own defaults, presets and example must be possible values.

    No run is checked against a wrong card.
    """
    card = MethodCard(name, checked(CardFile, file), file)
    about, settings = card.about, file.at(("settings",))
    defaults = {key: item.value["default"] for key, item in settings.items()}
    refuse(_possible(card, settings.over(defaults)))
    findings = [*_rules(card)]
    for key, setting in about.settings.items():
        if setting.stacks_of not in (None, *about.settings):
            where = file.place("settings", key, "stacks_of")
            findings.append(unknown("setting", setting.stacks_of, where, about.settings))
    parts = [("presets", preset) for preset in about.presets]
    parts += [("refused", number, "settings") for number in range(len(about.refused))]
    parts += [("neutral", "settings")] if about.neutral else []
    for path in (*parts, ("example", "settings")):
        findings += _possible(card, file.at(path))
    refuse(findings)
    return card


def _possible(card: MethodCard, settings: Value) -> list[FathomError]:
    """Return which of some settings a run of the method could not have."""
    return check(card.method, settings, also={"name": card.name})[1]


def _rules(card: MethodCard) -> Iterator[FathomError]:
    """Yield the rules that are no comparison, or that name what does not exist."""
    names = [*card.about.settings, *OF_A_RUN]
    for number, requirement in enumerate(card.about.requires):
        where = card.file.place("requires", number, "rule")
        if not requirement.is_comparison:
            what = f"'{brief(requirement.rule)}' is not a comparison of numbers"
            yield FathomError(what, where, "write for example `active <= groups`")
            continue
        for name in requirement.names:
            if name not in names:
                yield unknown("setting", name, where, names)
