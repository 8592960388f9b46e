"""A run's entry and its method's card, checked together: the step from YAML to `Run`."""

from collections.abc import Mapping
from dataclasses import dataclass

from fathom.config.inheritance import Entry
from fathom.config.schema.method import MethodCard, stack_findings
from fathom.config.schema.run import RunSettings
from fathom.config.validation import check
from fathom.io.errors import FathomError, brief, nearest, unknown

_NAME = ("method", "name")


@dataclass(frozen=True)
class Resolved:
    """A run's entry with its preset written out, and the checked settings.

    `run` is None where there are findings.
    """

    entry: Entry
    run: RunSettings | None
    findings: tuple[FathomError, ...] = ()


def resolve(entry: Entry, cards: Mapping[str, MethodCard]) -> Resolved:
    """Check a run's entry.

    Args:
        entry: the entry, with all that it inherits, at the papers' own scale or another.
        cards: the cards of all methods by name.
    """
    name = entry.get(_NAME)
    if name is None:
        finding = FathomError("no method is given", entry.where(()), "add `method: static`")
        return Resolved(entry, None, (finding,))
    if not isinstance(name, str) or name not in cards:
        return Resolved(entry, None, (unknown("method", name, entry.where(_NAME), cards),))
    card = cards[name]
    entry, findings = _with_preset(entry, card)
    values = entry.values
    method, wrong = check(card.method, values.pop("method"), entry.where, ("method",))
    findings += wrong
    if method is not None:
        findings += stack_findings(card, method.stacks, entry.where(("method", "stacks")))
    values["method"] = method or card.method(name=name)
    run, wrong = check(RunSettings, values, entry.where)
    findings += wrong
    return Resolved(entry, None if findings else run, tuple(findings))


def _with_preset(entry: Entry, card: MethodCard) -> tuple[Entry, list[FathomError]]:
    """Write out the preset that a run names; the run's own settings win."""
    preset, method = entry.get(("method", "preset")), entry.node.get(("method",))
    if preset is None or method is None:
        return entry, []
    where = entry.where(("method", "preset"))
    place = method.at(("preset",))
    entry = Entry(
        entry.name,
        entry.node.put(("method",), method.drop("preset")),
        entry.ancestors,
        entry.chosen,
    )
    if not isinstance(preset, str) or preset not in card.about.presets:
        what = f"'{card.name}' has no preset '{brief(preset)}'"
        return entry, [FathomError(what, where, nearest(preset, card.about.presets))]
    for key, value in card.about.presets[preset].items():
        if method.get((key,)) is None:
            entry = entry.with_value(("method", key), value, place)
    return entry, []
