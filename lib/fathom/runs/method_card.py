"""A method's card: what it is, where it acts, and every setting with its default and source."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, nearest

_SETTINGS = ("method", "settings")
NORMS = ("pre", "post", "lingvo", "none")
_WORDS = {
    "number": "a number",
    "integer": "a whole number",
    "string": "text",
    "boolean": "true or false",
    "list": "a list",
}


class Given(Protocol):
    """A setting of a run: its value, and the file and key where it stands."""

    value: Any
    where: str


@dataclass(frozen=True)
class Setting:
    """One setting of a card; the fields are the keys of `workflow/schemas/method.schema.yaml`.

    Attributes:
        unit: "updates" or "layers" where a scale shrinks the value, else None.
        values: what is possible, or what each item of a list may be; empty for anything.
        optional: whether null is possible.
    """

    name: str
    description: str
    type: str
    default: Any
    source: str
    unit: str | None = None
    values: tuple[str, ...] = ()
    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None
    optional: bool = False

    def finding(self, value: object, where: str) -> FathomError | None:
        """Return what is wrong with a value, or None.

        Args:
            value: what is given.
            where: file and key at which it stands.
        """
        if value is None and self.optional:
            return None
        items = value if isinstance(value, list) and self.type == "list" else [value]
        if not _is(value, self.type):
            return FathomError(*_type_sentence(value, self.type, where))
        for item in items:
            if self.values and item not in self.values:
                return FathomError(
                    f"'{item}' is not possible here", where, nearest(item, self.values)
                )
        if self.minimum is not None and value < self.minimum:
            return FathomError(f"{value} is too small", where, f"write {self.minimum} or more")
        if self.above is not None and value <= self.above:
            return FathomError(f"{value} is too small", where, f"write more than {self.above}")
        if self.maximum is not None and value > self.maximum:
            return FathomError(f"{value} is too large", where, f"write {self.maximum} or less")
        return None


@dataclass(frozen=True)
class Neutral:
    """When a method equals the static model: these settings, and parameters filled with a value."""

    settings: dict[str, Any]
    parameters: dict[str, float]


@dataclass(frozen=True)
class Example:
    """A tiny network for the contract tests: layers of each stack, tasks, settings."""

    layers: int
    tasks: int
    settings: dict[str, Any]


@dataclass(frozen=True)
class Refusal:
    """Gates with which runs of these settings are not decoded, and why.

    Text and null refuse where the run's value is equal, a number where it is at least this.
    """

    gates: str
    settings: dict[str, Any]
    reason: str

    def holds(self, settings: Mapping[str, Any]) -> bool:
        """Return whether it holds for the settings of a run's method, all of them."""
        return all(
            settings[name] >= value if _is(value, "number") else settings[name] == value
            for name, value in self.settings.items()
        )


@dataclass(frozen=True)
class Card:
    """A method, as config/methods/<name>.yaml describes it.

    Attributes:
        paper: the paper of `equations`; None where the method has none of its own here.
        equations: the paper's equations that the method's file computes.
        sides: the stacks on which the method can act; empty for one that acts nowhere.
        gates: whether it has gates, so that runs are decoded with soft and with hard ones.
        norms: the norms with which its layers make sense.
        presets: settings that belong together, by name.
        refused: decodings that make no sense.
        neutral: when it equals the static model; None where it never does.
    """

    name: str
    title: str
    summary: str
    paper: str | None
    equations: tuple[str, ...]
    sides: tuple[str, ...]
    gates: bool
    norms: tuple[str, ...]
    settings: tuple[Setting, ...]
    presets: dict[str, dict[str, Any]]
    refused: tuple[Refusal, ...]
    neutral: Neutral | None
    example: Example

    @classmethod
    def from_mapping(cls, name: str, value: dict[str, Any]) -> "Card":
        """Build a card from a YAML mapping that has passed its schema.

        Args:
            name: the file's name without suffix.
            value: the mapping.
        """
        settings = (
            Setting(name=each, **{**parts, "values": tuple(parts.get("values", ()))})
            for each, parts in value["settings"].items()
        )
        return cls(
            name=name,
            title=value["title"],
            summary=value["summary"],
            paper=value["paper"],
            equations=tuple(value["equations"]),
            sides=tuple(value["sides"]),
            gates=value["gates"],
            norms=tuple(value.get("norms", NORMS)),
            settings=tuple(settings),
            presets=dict(value.get("presets", {})),
            refused=tuple(Refusal(**each) for each in value.get("refused", ())),
            neutral=Neutral(**value["neutral"]) if value["neutral"] else None,
            example=Example(**value["example"]),
        )

    @property
    def defaults(self) -> dict[str, Any]:
        """Every setting's default, by name."""
        return {setting.name: setting.default for setting in self.settings}

    def filled(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the given settings with the defaults of those that are not given."""
        return self.defaults | settings

    def refusal(self, gates: str, settings: Mapping[str, Any]) -> str | None:
        """Return why a run is not decoded with these gates, or None where it may be.

        Args:
            gates: "plain", "soft" or "hard".
            settings: all settings of the run's method.
        """
        reasons = (
            each.reason for each in self.refused if each.gates == gates and each.holds(settings)
        )
        return next(reasons, None)


def findings(card: Card, file: YamlFile) -> Iterator[FathomError]:
    """Yield what a schema cannot say of a card: values that its own settings refuse.

    Args:
        card: the card.
        file: its file.
    """
    known = {setting.name: setting for setting in card.settings}
    for setting in card.settings:
        path = ("settings", setting.name, "default")
        if finding := setting.finding(setting.default, file.where(path)):
            yield finding
    places = [("neutral", "settings")] * (card.neutral is not None) + [("example", "settings")]
    places += [("presets", preset) for preset in card.presets]
    for place in places:
        for name, value in file.value[place[0]][place[1]].items():
            yield from _setting_findings(card, known, name, value, file.where((*place, name)))
    for refusal in card.refused:
        for name, value in refusal.settings.items():
            yield from _setting_findings(card, known, name, value, file.where(("refused",)))


def settings_findings(
    card: Card, sides: Sequence[str], settings: Mapping[tuple[str, ...], Given]
) -> Iterator[FathomError]:
    """Yield what is wrong with a run's method: its sides, and each setting against the card.

    Args:
        card: the card of the run's method.
        sides: the stacks on which the run lets it act.
        settings: all settings of the run by path; those of the method stand under
            ("method", "settings").
    """
    place = settings[("method", "sides")].where
    for side in sides:
        if side not in card.sides:
            possible = nearest(side, card.sides) if card.sides else "write []"
            yield FathomError(f"'{card.name}' does not act on the side '{side}'", place, possible)
    if card.sides and not sides:
        yield FathomError(
            f"'{card.name}' acts on no side", place, f"name some of: {', '.join(card.sides)}"
        )
    known = {setting.name: setting for setting in card.settings}
    for leaf, given in settings.items():
        if leaf[:2] == _SETTINGS:
            yield from _setting_findings(card, known, ".".join(leaf[2:]), given.value, given.where)


def _setting_findings(
    card: Card, known: dict[str, Setting], name: str, value: object, where: str
) -> Iterator[FathomError]:
    if name not in known:
        yield FathomError(f"'{card.name}' has no setting '{name}'", where, nearest(name, known))
    elif finding := known[name].finding(value, where):
        yield finding


def _is(value: object, kind: str) -> bool:
    """Return whether a YAML value has a setting's type; true and false are no numbers."""
    if isinstance(value, bool):
        return kind == "boolean"
    types = {"number": (int, float), "integer": int, "string": str, "list": list, "boolean": ()}
    return isinstance(value, types[kind])


def _type_sentence(value: object, kind: str, where: str) -> tuple[str, str, str]:
    """Return what, where and remedy of a value of another type, naming YAML's trap if it is one."""
    if isinstance(value, bool) and kind == "string":
        return "YAML reads no, on, yes and off as true or false", where, "put it in quotes"
    if isinstance(value, str) and kind in ("number", "integer"):
        try:
            number = float(value)
        except ValueError:
            pass
        else:
            return f"YAML reads {value} as text", where, f"write it with a point, as {number!r}"
    return f"{value!r} is not {_WORDS[kind]}", where, f"write {_WORDS[kind]}"
