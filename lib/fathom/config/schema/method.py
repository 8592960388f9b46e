"""A method's card: what the method is, where it acts, and a class for its settings.

The card is data (`config/methods/<name>.yaml`); the class that is made of it is checked by the same
validator as every other setting, so a run's method is refused like any other key.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Len, Lt, MinLen
from pydantic import Field, create_model

from fathom.config.requirements import Requirement, rule_findings
from fathom.config.schema.run import MethodSettings
from fathom.config.schema.types import MOST, Count, StackName, Text
from fathom.config.section import AsTuple, Doc, Section, UnhashedValue
from fathom.config.validation import check
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import FathomError, nearest, unknown

METHODS = Path(__file__).parents[2] / "methods"
Gates = Literal["plain", "soft", "hard"]
Norm = Literal["pre", "post", "lingvo", "none"]
_TYPES = {"number": float, "integer": int, "string": str, "boolean": bool}


class CardSetting(Section):
    """One setting of a method, as its card describes it."""

    description: Annotated[Text, Doc("What the setting does.")]
    type: Annotated[
        Literal["number", "integer", "string", "boolean", "list"], Doc("The type of its value.")
    ]
    default: Annotated[Any, Doc("The value where a run gives none.")]
    source: Annotated[Text, Doc("Where the paper gives the default, or why it was chosen.")]
    unit: Annotated[
        Literal["layers", "width", "updates"] | None, Doc("What a scale multiplies.")
    ] = None
    values: Annotated[
        tuple[str, ...],
        AsTuple,
        Doc("What is possible. A list without them is one of numbers; bounds are its items'."),
    ] = ()
    minimum: Annotated[float | None, Doc("The smallest value.")] = None
    above: Annotated[float | None, Doc("The value must be more than this.")] = None
    maximum: Annotated[float | None, Doc("The largest value.")] = None
    below: Annotated[float | None, Doc("The value must be less than this.")] = None
    length: Annotated[Count | None, Doc("How many items a list has.")] = None
    stacks_of: Annotated[
        str | None, Doc("The setting, of unit layers, that acts on the stacks of this list.")
    ] = None
    optional: Annotated[bool, Doc("Whether null is possible, which turns it off.")] = False
    absent: Annotated[Any, Doc("What the code did before the setting existed; never changed.")] = (
        None
    )

    @property
    def annotation(self) -> Any:
        """The setting's type with its bounds, as a field of the card's class."""
        kind: Any = Literal[self.values] if self.values else _TYPES.get(self.type, float)
        most = MOST if self.type == "integer" and self.maximum is None else self.maximum
        for bound, limit in ((Ge, self.minimum), (Gt, self.above), (Lt, self.below), (Le, most)):
            if limit is not None:
                kind = Annotated[kind, bound(limit)]
        if self.type == "list":
            kind = Annotated[tuple[kind, ...], AsTuple]
            if self.length is not None:
                kind = Annotated[kind, Len(self.length, self.length)]
        if self.optional:
            kind = kind | None
        marks = [Doc(self.description, self.unit)]
        marks += [UnhashedValue(self.absent)] if "absent" in self.model_fields_set else []
        for mark in marks:
            kind = Annotated[kind, mark]
        return kind

    @property
    def value(self) -> Any:
        """The default in the setting's type."""
        if isinstance(self.default, list):
            return tuple(self.default)
        whole = isinstance(self.default, int) and not isinstance(self.default, bool)
        return float(self.default) if whole and self.type == "number" else self.default


class Refusal(Section):
    """Gates with which runs of these settings are not decoded, and why.

    Text and null refuse where the run's value is equal, a number where it is at least this.
    """

    gates: Annotated[Gates, Doc("The gates that are refused.")]
    settings: Annotated[dict[str, Any], Doc("The values of settings that refuse them.")]
    reason: Annotated[Text, Doc("Why such a decoding makes no sense.")]

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

    settings: Annotated[dict[str, Any], Doc("Settings of the method.")]
    parameters: Annotated[dict[str, float], Doc("A value that fills each of these parameters.")]


class Example(Section):
    """A tiny network for the contract tests: layers of each stack, tasks, settings."""

    layers: Annotated[int, Ge(1), Doc("Layers of each stack.")]
    tasks: Annotated[int, Ge(1), Doc("Number of tasks.")]
    settings: Annotated[dict[str, Any], Doc("Settings of the method.")]


class CardFile(Section):
    """The keys of config/methods/<name>.yaml."""

    title: Annotated[Text, Doc("The method's name, as tables print it.")]
    summary: Annotated[Text, Doc("What the method does, in one sentence.")]
    paper: Annotated[str | None, Doc("The paper whose equations the method computes.")]
    equations: Annotated[
        tuple[Annotated[str, Field(pattern=r"^(Eq|Alg)[.] [0-9]+$")], ...],
        AsTuple,
        Doc("The equations that the method's files compute, as their tags name them."),
    ]
    stacks: Annotated[
        tuple[StackName, ...], AsTuple, Doc("The stacks on which it can act; empty: nowhere.")
    ]
    gates: Annotated[bool, Doc("Whether it has gates; runs are then decoded soft and hard.")]
    norms: Annotated[
        tuple[Norm, ...], AsTuple, MinLen(1), Doc("The norms with which its layers make sense.")
    ] = ("pre", "post", "lingvo", "none")
    settings: Annotated[
        dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], CardSetting],
        Doc("Every setting of the method; they are the keyword arguments of its class."),
    ]
    presets: Annotated[
        dict[str, dict[str, Any]], Doc("Settings that belong together, by name.")
    ] = Field(default_factory=dict)
    refused: Annotated[tuple[Refusal, ...], AsTuple, Doc("Decodings that make no sense.")] = ()
    plain_with: Annotated[
        tuple[Gates, ...],
        AsTuple,
        Doc("The gates with which the kept layers are a plain Transformer, and nothing is added."),
    ] = ()
    requires: Annotated[
        tuple[Requirement, ...], AsTuple, Doc("Rules without which the method does not work.")
    ] = ()
    neutral: Annotated[Neutral | None, Doc("When it equals the static model; null: never.")]
    example: Example


@dataclass(frozen=True)
class MethodCard:
    """A method by name, with its card and the card's file."""

    name: str
    about: CardFile
    file: YamlFile

    @cached_property
    def method(self) -> type[MethodSettings]:
        """The class of the method's settings: name, stacks, and every setting of the card."""
        fields: dict[str, Any] = {
            "name": (Literal[self.name], ...),
            "stacks": (MethodSettings.model_fields["stacks"].annotation, self.about.stacks),
        }
        fields["stacks"] = (
            Annotated[tuple[StackName, ...], AsTuple, Doc("The stacks on which it acts.")],
            self.about.stacks,
        )
        for name, setting in self.about.settings.items():
            fields[name] = (setting.annotation, setting.value)
        return create_model(self.name, __base__=MethodSettings, **fields)

    @property
    def defaults(self) -> dict[str, Any]:
        """Every setting's default, by name."""
        return {name: setting.value for name, setting in self.about.settings.items()}

    def refusal(self, gates: str, settings: Mapping[str, Any]) -> str | None:
        """Return why a run is not decoded with these gates, or None where it may be.

        Args:
            gates: "plain", "soft" or "hard".
            settings: all settings of the run's method.
        """
        reasons = (
            refusal.reason
            for refusal in self.about.refused
            if refusal.gates == gates and refusal.holds(settings)
        )
        return next(reasons, None)

    def gates(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the gates with which a run is decoded: those that the card does not refuse."""
        names = ("soft", "hard") if self.about.gates else ("plain",)
        return tuple(name for name in names if self.refusal(name, settings) is None)


def module_names() -> list[str]:
    """Return the names of the methods that have code: files of methods/, folders with method.py."""
    files = {path.stem for path in METHODS.glob("[!_]*.py")} - {"build"}
    return sorted(files | {path.parent.name for path in METHODS.glob("*/method.py")})


def _attributes(method: str) -> list[str]:
    """Return what a method's code assigns to itself, read as text: config needs no torch."""
    files = [METHODS / f"{method}.py", METHODS / method / "method.py"]
    texts = [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    return sorted({name for text in texts for name in re.findall(r"self\.(\w+) ?[:=]", text)})


def read_card(name: str, file: YamlFile) -> tuple[MethodCard | None, list[FathomError]]:
    """Check a card; its own defaults, presets and example must be possible values.

    Args:
        name: the method's name.
        file: its file.

    Returns:
        The card and no findings, or None and all findings: no run is checked against a wrong card.
    """
    about, findings = check(CardFile, file.value, file.where)
    if about is None:
        return None, findings
    card = MethodCard(name, about, file)
    defaults = {"name": name, **{n: s.default for n, s in about.settings.items()}}
    where = file.where
    _, wrong = check(card.method, defaults, lambda path: where(("settings", *path, "default")))
    wrong = wrong or list(_findings(card))
    return (None, wrong) if wrong else (card, [])


def _findings(card: MethodCard) -> Iterator[FathomError]:
    where = card.file.where
    for name, setting in card.about.settings.items():
        if setting.stacks_of not in (None, *card.about.settings):
            what, place = (
                f"no setting '{setting.stacks_of}'",
                where(("settings", name, "stacks_of")),
            )
            yield FathomError(what, place, nearest(setting.stacks_of, card.about.settings))
    yield from rule_findings(card.about.requires, list(card.about.settings), where)
    parts: list[tuple[tuple[str | int, ...], Mapping[str, Any]]] = [
        (("presets", name), settings) for name, settings in card.about.presets.items()
    ]
    parts.append((("example", "settings"), card.about.example.settings))
    if card.about.neutral:
        parts.append((("neutral", "settings"), card.about.neutral.settings))
    parts += [
        (("refused", number, "settings"), refusal.settings)
        for number, refusal in enumerate(card.about.refused)
    ]
    for path, settings in parts:
        yield from check(card.method, {"name": card.name, **settings}, where, path)[1]
    known = _attributes(card.name)
    for name in card.about.neutral.parameters if card.about.neutral else ():
        if known and name not in known:
            yield unknown("parameter", name, where(("neutral", "parameters", name)), known)


def stack_findings(card: MethodCard, stacks: tuple[str, ...], where: str) -> Iterator[FathomError]:
    """Yield the stacks of a run on which its method cannot act.

    Args:
        card: the method's card.
        stacks: the run's.
        where: file and key at which they are given.
    """
    possible = card.about.stacks
    for stack in stacks:
        if stack not in possible:
            remedy = nearest(stack, possible) if possible else "write []"
            yield FathomError(f"'{card.name}' does not act on the {stack}", where, remedy)
    if possible and not stacks:
        yield FathomError(
            f"'{card.name}' acts on no stack", where, f"name some of: {', '.join(possible)}"
        )
