"""`like`, `for` and `<name>`: how the named entries of a file take values from each other."""

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, brief, closest, findings_in, nearest, refuse, unknown

# Names become folders, files and targets; a file system takes 255 bytes, with hash and suffix.
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
NAME_RULE = "a name has at most 64 small letters, digits and underscores, a letter first"
# Names of rules and targets of the workflow, and folders of a project: no paper or study has them.
_TAKEN = """
    all run page compare claims data_statistics everything no_such_target claims_all compare_all
    fetch_source prepare_task prepare_corpus measure_corpus train_subwords encode_text train_run
    translate_run score_decoding score_metric find_best_window measure_likelihood measure_gates
    measure_sharing draw_table draw_figure paper_page
    config lib results workflow
"""
# Words that some program reads from YAML as another value than text.
_YAML_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_PLACEHOLDER = re.compile(r"<(\w+)>")
# A text with a placeholder that is a name, with its paper or without; and a number in a name.
_NAME_PATTERN = re.compile(r"(?!<\w+>$)([a-z0-9_/]|<\w+>)+")
_NUMBERS = re.compile(r"-?[0-9]+(_-?[0-9]+)*")
_FOR = "write {name: [values]}, or a list of {name: value}"


def is_taken(name: str) -> bool:
    """Return whether a rule or target of the workflow, or a folder of a project, has this name."""
    return name in _TAKEN.split()


def name_fault(name: str, of_paper: bool = False) -> str | None:
    """Return why no file or folder of config has this name, in words; None where it may."""
    if not NAME.fullmatch(name):
        return NAME_RULE
    if name in _YAML_WORDS:
        return "YAML reads this word as another value"
    if of_paper and is_taken(name):
        return "the workflow has a rule, a target or a folder of this name"
    return None


@dataclass(frozen=True)
class Entry:
    """A named entry with all values that it takes from the entries it is like.

    `ancestors` are the names of those entries, the farthest first, and its own name last; an entry
    of another paper has its full name, `<paper>/<name>`.
    """

    name: str
    values: Value
    ancestors: tuple[str, ...]


@dataclass(frozen=True)
class Lender:
    """What an entry of a paper may be like in other papers: `<paper>/<name>`."""

    borrower: str  # the paper whose entries are read
    papers: Collection[str]
    # The entries of a paper by name, before `like`; raises what is wrong with them.
    entries: Callable[[str], Mapping[str, Value]]
    # Puts in what a paper's study says of its runs: into an empty entry, or what others lend to it.
    adapt: Callable[[str, Value], Value] = lambda paper, values: values


def merge(base: Value, over: Value, join: bool = False) -> Value:
    """Return a mapping with another one on top of it.

    Mappings are merged, other values replaced. Of scales (`join`) lists are put one after the
    other. Of entries a mapping with another `name` (a method, a schedule) is replaced entirely.
    """
    if join and isinstance(base.value, list) and isinstance(over.value, list):
        return over.over([*base.value, *over.value])
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    if not join and "name" in over.value and over.get("name") != base.get("name"):
        return over
    merged = dict(base.value)
    for key, item in over.value.items():
        merged[key] = merge(merged[key], item, join) if key in merged else item
    return over.over(merged)


def fill(value: Value, names: Mapping[str, Any]) -> Value:
    """Return a value with `<name>` replaced in texts and in keys; other names stay."""
    if not names:
        return value
    if isinstance(value.value, dict):
        inside = {str(fill_text(key, names)): fill(item, names) for key, item in value.items()}
        return value.over(inside)
    if isinstance(value.value, list):
        return value.over([fill(item, names) for item in value.value])
    return value.wrap(fill_name(value.value, names))


def fill_text(text: Any, names: Mapping[str, Any]) -> Any:
    """Return a text with `<name>` replaced; a text that is only `<name>` becomes its value."""
    if not isinstance(text, str):
        return text
    if only := _PLACEHOLDER.fullmatch(text):
        return names.get(only[1], text)
    return _PLACEHOLDER.sub(lambda match: str(names.get(match[1], match[0])), text)


def fill_name(text: Any, names: Mapping[str, Any]) -> Any:
    """Return a text with `<name>` replaced, in a name as `entry_name`; only `<name>` is no name."""
    if isinstance(text, str) and _NAME_PATTERN.fullmatch(text):
        return entry_name(text, names)
    return fill_text(text, names)


def entry_name(pattern: str, names: Mapping[str, Any]) -> str:
    """Return a name with `<name>` replaced; 0.1 becomes 0_1, −1 m1, 6/6 6_6 and A/b a_b."""
    return str(fill_text(pattern, {name: _slug(value) for name, value in names.items()}))


def _slug(value: Any) -> str:
    text = str(value).lower()
    if isinstance(value, float):
        text = f"{Decimal(text):f}"  # without an exponent
    text = re.sub("[./]", "_", text)
    return text.replace("-", "m") if _NUMBERS.fullmatch(text) else text


def placeholders(text: object) -> list[str]:
    """Return the names in `<…>` that a text holds."""
    return _PLACEHOLDER.findall(str(text))


def combinations(given: Value) -> list[dict[str, Any]]:
    """Return what `for` chooses: a mapping for each combination, or for each item of a list."""
    chosen = given.plain
    if isinstance(chosen, list) and chosen and all(isinstance(item, dict) for item in chosen):
        return chosen
    if not isinstance(chosen, dict) or not chosen:
        raise FathomError("`for` must list at least one value", given.where, _FOR)
    for name, values in chosen.items():
        if not isinstance(values, list) or not values:
            raise FathomError("this is not a list of values", given.place(name), _FOR)
    every = itertools.product(*chosen.values())
    return [dict(zip(chosen, values, strict=True)) for values in every]


def expand(
    *sections: Value,
    normal: Callable[[Value, list[FathomError]], Value] | None = None,
    findings: list[FathomError] | None = None,
    lender: Lender | None = None,
) -> list[dict[str, Entry]]:
    """Return the entries of each section by name; `like` may name an entry of any of them.

    Args:
        sections: mappings of named entries.
        normal: writes an entry's short forms out, before entries are merged, and adds findings.
        findings: gets what is wrong, which entries then lack; without it, all is raised.
        lender: knows the entries of other papers, which `like` may name too.
    """
    wrong: list[FathomError] = [] if findings is None else findings
    sections_written = written_entries(*sections, findings=wrong)
    # An entry that cannot be read may be the one that a `like` names.
    of_like = [] if wrong else wrong
    entries = {
        name: normal(entry, wrong) if normal else entry
        for section in sections_written
        for name, entry in section.items()
    }
    inheritance = _Inheritance(entries, of_like, lender)
    expanded = [{name: inheritance.entry(name) for name in each} for each in sections_written]
    if findings is None:
        refuse(wrong)
    return expanded


def written_entries(*sections: Value, findings: list[FathomError]) -> list[dict[str, Value]]:
    """Return the entries of each section by name before `like`; `findings` get what is wrong."""
    entries: dict[str, Value] = {}
    names: list[list[str]] = []
    for section in [[*_written(section, findings)] for section in sections]:
        names.append([])
        for name, entry in section:
            if name in entries:
                findings.append(_taken(name, entry, entries[name]))
                continue
            entries[name] = entry
            names[-1].append(name)
    return [{name: entries[name] for name in section} for section in names]


def _written(section: Value, findings: list[FathomError]) -> Iterator[tuple[str, Value]]:
    """Yield the entries of a section, one for each combination of `for`, before `like`."""
    if section.value is not None and not isinstance(section.value, dict):
        findings.append(FathomError("this is not a mapping", section.where, "write `name: {…}`"))
    for pattern, entry in section.items():
        if not isinstance(entry.value, dict):
            findings.append(FathomError("this is not a mapping", entry.where, "write {…}"))
            continue
        given = entry.find("for")
        try:
            choices = [{}] if given is None else combinations(given)
        except FathomError as error:
            findings.append(error)
            continue
        for chosen in choices:
            name = entry_name(pattern, chosen)
            if missing := placeholders(name):
                findings.append(_not_chosen(missing[0], chosen, entry))
                break
            if not NAME.fullmatch(name):
                # With `for` the message says which of several names it is.
                what = f"'{brief(name)}': {NAME_RULE}" if chosen else NAME_RULE
                lists = ", or write `for` as a list with a name for each value" if chosen else ""
                remedy = f"choose another name{lists}"
                findings.append(FathomError(what, entry.where, remedy))
            # With a slash it would be looked up in another paper.
            if "/" not in name:
                yield name, fill(entry.without("for"), chosen)


def _not_chosen(name: str, chosen: Mapping[str, Any], entry: Value) -> FathomError:
    """Return why `for` gives no value for a name: it has others, is missing or misspelled."""
    what = f"`for` gives no <{name}>"
    if chosen:
        return FathomError(what, entry.where, nearest(name, chosen))
    misspelled = closest("for", entry.value, likeness=0.6)
    if misspelled is not None:
        where = entry.place(misspelled)
        return FathomError(f"unknown key '{misspelled}'", where, nearest("for", ["for"]))
    return FathomError(what, entry.where, f"add `for: {{{name}: [values]}}`")


def _taken(name: str, entry: Value, first: Value) -> FathomError:
    """Return that an entry's name is that of an earlier one, which may be of the same pattern."""
    if first.where != entry.where:
        what = f"the name '{name}' is taken by {first.where}"
        return FathomError(what, entry.where, "choose another name")
    remedy = "delete a value, or use all of `for` in the name"
    return FathomError(f"`for` gives the name '{name}' twice", entry.where, remedy)


class _Inheritance:
    """Merges entries on top of those that they are like; adds what is wrong in `like`."""

    def __init__(
        self, entries: Mapping[str, Value], findings: list[FathomError], lender: Lender | None
    ):
        self._entries, self._findings, self._lender = entries, findings, lender
        self._merged: dict[str, Entry] = {}

    def entry(self, name: str, seen: tuple[str, ...] = ()) -> Entry:
        """Return an entry with all that it inherits; `seen` are the entries that led to it."""
        if name in self._merged:
            return self._merged[name]
        written, seen = self._written(name), (*seen, name)
        paper = name.rpartition("/")[0]
        lender = self._lender
        adapt = partial(lender.adapt, paper or lender.borrower) if lender else lambda values: values
        values = adapt(written.over({}))
        ancestors: dict[str, None] = {}
        for parent, where in self._parents(name, written):
            if parent in seen:
                self._findings.append(self._circle(seen[seen.index(parent) :]))
            elif self._exists(parent, where):
                above = self.entry(parent, seen)
                is_lent = parent.rpartition("/")[0] != paper
                values = merge(values, adapt(above.values) if is_lent else above.values)
                ancestors |= dict.fromkeys(above.ancestors)
        values = merge(values, written.without("like"))
        self._merged[name] = Entry(name, values, (*ancestors, name))
        return self._merged[name]

    def _written(self, name: str) -> Value:
        paper, _, entry = name.rpartition("/")
        if self._lender is None or name in self._entries:
            return self._entries[name]
        return self._lender.entries(paper)[entry]

    def _exists(self, parent: str, where: str) -> bool:
        """Return whether there is an entry of a name; a finding says what is wrong if not."""
        paper = parent.rpartition("/")[0]
        try:
            if not paper or self._lender is None:
                names = [*self._entries]
            elif paper in self._lender.papers:
                names = [f"{paper}/{each}" for each in self._lender.entries(paper)]
            else:
                self._findings.append(unknown("paper", paper, where, self._lender.papers))
                return False
        except FathomError as error:
            self._findings += findings_in(error)
            return False
        if parent not in names:
            self._findings.append(unknown("entry", parent, where, names))
        return parent in names

    def _parents(self, name: str, entry: Value) -> list[tuple[str, str]]:
        """Return the names in an entry's `like`, each with its place."""
        like = entry.at(("like",))
        names = [like] if isinstance(like.value, str) else like.value or []
        if isinstance(names, list) and all(isinstance(each.value, str) for each in names):
            paper = name.rpartition("/")[0]
            return [(self._name(each.value, paper), like.where) for each in names]
        remedy = "write a name or a list"
        self._findings.append(FathomError("this names no entries", like.where, remedy))
        return []

    def _name(self, parent: str, paper: str) -> str:
        """Return what is named in an entry of a paper: in full unless it is one of `entries`."""
        full = f"{paper}/{parent}" if paper and "/" not in parent else parent
        return full.removeprefix(f"{self._lender.borrower}/") if self._lender else full

    def _circle(self, circle: tuple[str, ...]) -> FathomError:
        """Return the finding of a circle; whatever leads to it, the finding is the same."""
        full = circle
        if self._lender and any("/" in name for name in circle):
            own = self._lender.borrower
            full = tuple(name if "/" in name else f"{own}/{name}" for name in circle)
        first = full.index(min(full))
        where = self._written(circle[first]).place("like")
        full = (*full[first:], *full[:first])
        what = f"`like` goes in a circle: {' > '.join((*full, full[0]))}"
        return FathomError(what, where, "delete one of these `like`")
