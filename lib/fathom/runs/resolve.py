"""A run's settings, resolved: paper's defaults, the run's own, the card's, then the scale's.

Every leaf keeps where its value comes from and, where a scale changed it, the paper's value.
"""

import math
from dataclasses import dataclass
from typing import Any

from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, nearest
from fathom.runs.method_card import Card

Leaf = tuple[str, ...]
_SCHEDULE = ("training", "schedule")


@dataclass(frozen=True)
class Setting:
    """One resolved value: where it comes from, what the paper has where that differs, and why."""

    value: Any
    where: str
    paper_value: Any = None
    note: str = ""


@dataclass(frozen=True)
class Anchor:
    """The run by which one sees whether a scale works at all: it must learn this much."""

    run: str
    nats_under_unigram: float


@dataclass(frozen=True)
class Scale:
    """What a scale cuts down.

    Attributes:
        layers: ratio of every layer count and of a targeted depth, rounded up.
        width: ratio of every width.
        updates: updates of Θ in a run; None keeps the paper's. Every other count of updates shrinks
            by the same ratio, rounded up.
        datasets: which data set stands in for which.
        replace: settings that the scale gives itself, in the shape of a run's settings.
        method_settings: the same for settings of cards; they apply where a card has them.
        seeds: the seeds of a run; None keeps the paper's.
        anchor: the run that must have learnt something; None asks for nothing.
    """

    name: str
    file: YamlFile
    title: str
    layers: float
    width: float
    updates: int | None
    datasets: dict[str, str]
    replace: dict[str, Any]
    method_settings: dict[str, Any]
    seeds: tuple[int, ...] | None
    anchor: Anchor | None

    @classmethod
    def from_file(cls, name: str, file: YamlFile) -> "Scale":
        """Read a scale from a YAML file that has passed its schema."""
        value = file.value
        return cls(
            name=name,
            file=file,
            title=value["title"],
            layers=value["layers"],
            width=value["width"],
            updates=value["updates"],
            datasets=value["datasets"],
            replace=value["replace"],
            method_settings=value["method_settings"],
            seeds=tuple(value["seeds"]) if value["seeds"] else None,
            anchor=Anchor(**value["anchor"]) if value["anchor"] else None,
        )


def leaves(value: dict[str, Any], above: Leaf = ()) -> dict[Leaf, Any]:
    """Return a nested mapping's leaves by path; a list is a leaf."""
    found: dict[Leaf, Any] = {}
    for key, each in value.items():
        path = (*above, str(key))
        if isinstance(each, dict):
            found |= leaves(each, path)
        else:
            found[path] = each
    return found


def units(schema: dict[str, Any], above: Leaf = ()) -> dict[Leaf, str]:
    """Return the `x-unit` (layers, width, updates) of each leaf that has one in a schema."""
    found: dict[Leaf, str] = {}
    for key, each in schema.get("properties", {}).items():
        path = (*above, key)
        if "x-unit" in each:
            found[path] = each["x-unit"]
        found |= units(each, path)
    return found


def paper_settings(file: YamlFile, run: str) -> dict[Leaf, Setting]:
    """Return what a paper's runs.yaml says of a run: defaults, then `like`, then the run's own.

    Raises:
        FathomError: `like` names a run that itself is like another, or none.
    """
    runs, notes = file.value["runs"], file.value["sources"]
    chain = [("defaults",)]
    other = runs[run].get("like")
    if other is not None:
        if other not in runs or "like" in runs[other]:
            raise FathomError(
                f"'{other}' cannot be taken as a model",
                file.where(("runs", run, "like")),
                "name a run that has no `like` itself",
            )
        chain.append(("runs", other))
    chain.append(("runs", run))
    settings: dict[Leaf, Setting] = {}
    for place in chain:
        part: Any = file.value
        for key in place:
            part = part[key]
        for leaf, value in leaves(part).items():
            if leaf not in (("like",), ("note",), ("seeds",)):
                note = notes.get(".".join(leaf), "") if place == ("defaults",) else ""
                settings[leaf] = Setting(value, file.where((*place, *leaf)), note=note)
    # A null takes a default back that another schedule has no use for; no scale may bring it again.
    return {
        leaf: each
        for leaf, each in settings.items()
        if each.value is not None or leaf[:2] != _SCHEDULE
    }


def with_card(settings: dict[Leaf, Setting], card: Card, file: YamlFile) -> dict[Leaf, Setting]:
    """Fill the settings that a run does not give: from the preset that it names, then the card.

    Args:
        settings: the run's.
        card: of its method.
        file: the card's.

    Raises:
        FathomError: the card has no such preset.
    """
    filled = dict(settings)
    preset = settings.get(("method", "preset"))
    if preset is not None:
        if preset.value not in card.presets:
            what = f"'{card.name}' has no preset '{preset.value}'"
            raise FathomError(what, preset.where, nearest(preset.value, card.presets))
        for name, value in card.presets[preset.value].items():
            where = file.where(("presets", preset.value, name))
            filled.setdefault(("method", "settings", name), Setting(value, where))
    for setting in card.settings:
        leaf = ("method", "settings", setting.name)
        filled.setdefault(
            leaf,
            Setting(setting.default, file.where(("settings", setting.name)), note=setting.source),
        )
    return filled


def scaled(
    settings: dict[Leaf, Setting], scale: Scale, unit_of: dict[Leaf, str]
) -> dict[Leaf, Setting]:
    """Apply a scale: ratios by unit, then what it replaces.

    Args:
        settings: the paper's settings, whole.
        scale: the scale.
        unit_of: the unit of each leaf that counts layers, width or updates.
    """
    paper_updates = settings[("training", "updates")].value
    ratio = {
        "layers": scale.layers,
        "width": scale.width,
        "updates": 1.0 if scale.updates is None else scale.updates / paper_updates,
    }
    own = {leaf: (value, ("replace", *leaf)) for leaf, value in leaves(scale.replace).items()}
    if (*_SCHEDULE, "name") in own:
        # Keywords of one schedule mean nothing to another: it is replaced as a whole.
        settings = {leaf: each for leaf, each in settings.items() if leaf[:2] != _SCHEDULE} | {
            leaf: settings.get(leaf, Setting(None, "")) for leaf in own if leaf[:2] == _SCHEDULE
        }
    for name, value in scale.method_settings.items():
        leaf = ("method", "settings", name)
        if leaf in settings:
            own[leaf] = (value, ("method_settings", name))
    result = {}
    for leaf, setting in settings.items():
        unit = unit_of.get(leaf)
        if leaf == ("data", "dataset") and setting.value in scale.datasets:
            value, key = scale.datasets[setting.value], ("datasets", setting.value)
        elif leaf in own:
            value, key = own[leaf]
        elif unit and setting.value is not None and ratio[unit] != 1:
            # A billionth less, so that 14000 × (300 / 14000) is 300 and not 301.
            value, key = math.ceil(setting.value * ratio[unit] - 1e-9), (unit,)
        else:
            value, key = setting.value, ()
        if value == setting.value:
            result[leaf] = setting
        else:
            where = scale.file.where(key)
            result[leaf] = Setting(value, where, setting.value, setting.note)
    return result


def nested(settings: dict[Leaf, Setting]) -> dict[str, Any]:
    """Return the settings' values as the nested mapping that their paths describe."""
    tree: dict[str, Any] = {}
    for leaf, setting in settings.items():
        place = tree
        for key in leaf[:-1]:
            place = place.setdefault(key, {})
        place[leaf[-1]] = setting.value
    return tree
