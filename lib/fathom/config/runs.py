"""runs.yaml: from an entry with all that it inherits to the checked settings of a run."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from fathom.config.check import check, field_names, in_place_of
from fathom.config.merge import Entry, Lender, expand, written_entries
from fathom.config.schema.method import MethodCard
from fathom.config.schema.run import RunSettings
from fathom.config.spec import full_name
from fathom.config.yaml_values import Value, leaves
from fathom.io.errors import FathomError, Findings, brief, nearest, refuse, unknown

_SECTIONS = ("families", "runs")
_LAYERS = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
# Sections of a run whose values need a source, and the keys that are no choices.
_NEED_SOURCE = ("data", "model", "method", "masking", "training", "start", "decoding")
_NAMES = ("name", "run", "note")


@dataclass(frozen=True)
class RunsFile:
    """The families and runs of a paper, each with all that it inherits."""

    families: Mapping[str, Entry]
    runs: Mapping[str, Entry]


def read_runs(file: Value, lender: Lender) -> RunsFile:
    """Return the families and runs of a runs.yaml, or raise all that is wrong with entries."""
    entries, findings = _entries(file, lender)
    refuse(findings)
    return entries


def lent_entries(file: Value, paper: str) -> dict[str, Value]:
    """Return the families and runs of a paper's runs.yaml before `like`, for those of others.

    Their sources name the paper, and so does the run that one starts from.
    """
    findings: list[FathomError] = []
    sections = [file.at((key,)) for key in _SECTIONS]
    lent = {}
    for name, entry in chain(*map(dict.items, written_entries(*sections, findings=findings))):
        entry = written_out(entry, findings)
        start = entry.find("start", "run")
        if start is not None and isinstance(start.value, str):
            entry = entry.put(("start", "run"), start.over(full_name(paper, start.value)))
        lent[name] = _sourced(entry, paper)
    refuse(findings)
    return lent


def _sourced(value: Value, paper: str) -> Value:
    """Return a value whose sources, and those inside, say from which paper it is."""
    inside = value.value
    if isinstance(inside, dict):
        inside = {key: _sourced(item, paper) for key, item in inside.items()}
    return replace(value, value=inside, source=value.source and f"{value.source}, as {paper}")


def _entries(file: Value, lender: Lender) -> tuple[RunsFile, list[FathomError]]:
    findings: list[FathomError] = []
    sections = [file.at((key,)) for key in _SECTIONS]
    families, runs = expand(*sections, normal=written_out, findings=findings, lender=lender)
    for key, value in file.items():
        if key not in _SECTIONS:
            what, remedy = f"unknown key '{key}'", nearest(key, _SECTIONS)
            findings.append(FathomError(what, value.where, remedy))
    return RunsFile(families, runs), findings


def runs_faults(file: Value, lender: Lender, sources: bool) -> list[FathomError]:
    """Return what is wrong in a runs.yaml, whether or not a run uses it.

    With `sources`, each value needs one.
    """
    entries, findings = _entries(file, lender)
    for family in entries.families.values():
        # A method's settings are those of its card.
        findings += check(RunSettings, family.values.without("method"), partial=True)[1]
    for section in _SECTIONS if sources else ():
        for _, entry in file.at((section,)).items():
            findings += without_source(entry, _NEED_SOURCE)
    return findings


def without_source(entry: Value, keys: Iterable[str]) -> Iterator[FathomError]:
    """Yield the values in some sections of an entry without a source: a comment at their line."""
    for key in keys:
        section = entry.find(key)
        if section is None or not isinstance(section.value, dict):
            continue
        for value in leaves(section):
            if value.key[-1] not in _NAMES and not value.source:
                remedy = "add a comment with the source at the end of the line"
                yield FathomError("no source is given", value.where, remedy)


def written_out(entry: Value, findings: list[FathomError]) -> Value:
    """Return an entry without short forms: `layers: 12/24`, `method: dlcl`, `start: <run>`.

    Findings are added if `layers` does not match `12/24`, or a number of layers is given as well.
    """
    for key, name in (("method", "name"), ("start", "run")):
        short = entry.find(key)
        if short is not None and isinstance(short.value, str):
            entry = entry.put((key,), short.over({name: short}))
    layers = entry.find("layers")
    if layers is None:
        return entry
    entry = entry.without("layers")
    counts = _LAYERS.fullmatch(str(layers.value))
    if not counts:
        what = f"'{brief(layers.plain)}' is not a pair of layer counts"
        findings.append(FathomError(what, layers.where, "write 12/24"))
        return entry
    for stack, count in zip(("encoder_layers", "decoder_layers"), counts.groups(), strict=True):
        given = entry.find("model", stack)
        if given is not None:
            what = f"'layers' gives model.{stack} as well"
            findings.append(FathomError(what, given.where, "delete one of the two"))
        entry = entry.put(("model", stack), layers.over(int(count)))
    return entry


def unknown_setting(
    dotted: str, cards: Collection[MethodCard], others: Collection[str] = ()
) -> str | None:
    """Return the remedy for a path, as `training.clip`, that no run can have, or None.

    `cards` are those of all methods; `others` may be named besides the sections of a run.
    """
    path = tuple(dotted.split("."))
    for length, part in enumerate(path):
        names = {*field_names(RunSettings, path[:length])}
        if path[:length] == ("method",):
            names = {name for card in cards for name in card.method.model_fields}
        if part not in names and dotted not in others:
            if instead := in_place_of(path[: length + 1], RunSettings):
                return instead
            above = "".join(f"{name}." for name in path[:length])
            remedy = nearest(part, sorted({*names, *(() if above else others)}))
            return remedy.replace("name: '", f"name: '{above}")
    return None


@dataclass(frozen=True)
class Resolved:
    """A run's entry with its preset written out, and its checked settings."""

    name: str  # `<paper>/<run>`
    entry: Entry
    run: RunSettings
    paper: str  # whose scales it has; empty where every scale uses it as written


def resolve(run_name: str, entry: Entry, cards: Mapping[str, MethodCard], paper: str) -> Resolved:
    """Check a run's entry, at the papers' own scale or another."""
    method = entry.values.at(("method",))
    name = method.get("name")
    if name is None:
        # A misspelled key may be the cause, such as that of `like`.
        refuse(
            FathomError(f"unknown key '{key}'", entry.values.at((key,)).where, remedy)
            for key in entry.values.value
            if (remedy := unknown_setting(key, (), ("like", "layers")))
        )
        raise FathomError("no method is given", entry.values.where, "add `method: static`")
    if not isinstance(name, str) or name not in cards:
        raise unknown("method", name, method.place("name"), cards)
    card = cards[name]
    method = _with_preset(method, card)
    values = entry.values.put(("method",), method)
    settings, findings = check(card.method, method)
    if settings is not None:
        findings += _stack_faults(card, settings.stacks, method.place("stacks"))
    run, wrong = check(RunSettings, values, also={"method": settings or card.method(name=name)})
    if run is None or findings:
        raise Findings((*findings, *wrong))
    return Resolved(run_name, Entry(entry.name, values, entry.ancestors), run, paper)


def _with_preset(method: Value, card: MethodCard) -> Value:
    """Write out the preset that a run names; the run's own settings win."""
    preset = method.find("preset")
    if preset is None or preset.value is None:
        return method
    if not isinstance(preset.value, str) or preset.value not in card.about.presets:
        what = f"'{card.name}' has no preset '{brief(preset.plain)}'"
        raise FathomError(what, preset.where, nearest(preset.plain, card.about.presets))
    settings = card.about.presets[preset.value]
    given = {key: preset.wrap(value) for key, value in settings.items()}
    return method.over(given | method.without("preset").value)


def _stack_faults(card: MethodCard, stacks: tuple[str, ...], where: str) -> Iterator[FathomError]:
    possible = card.about.stacks
    for stack in stacks:
        if stack not in possible:
            remedy = nearest(stack, possible) if possible else "write []"
            yield FathomError(f"'{card.name}' does not act on the {stack}", where, remedy)
    if possible and not stacks:
        remedy = f"name some of: {', '.join(possible)}"
        yield FathomError(f"'{card.name}' acts on no stack", where, remedy)
