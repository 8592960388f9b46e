"""`like`, `for` and `<name>`: three ideas that every file of named entries may use.

An entry keeps, for each of its values, the file and key from which the value comes. So a message
points at the right line, and the comment at that line's end stays the value's source.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from fathom.config.places import Node, Place, merge, placeholders, substitute
from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.io.errors import Dependent, FathomError, Partly, brief, closest, nearest, unknown

# Names become folders, files and targets; a file system takes 255 bytes, with hash and suffix.
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
NAME_RULE = "a name has at most 64 small letters, digits and underscores, a letter first"


@dataclass(frozen=True)
class Entry:
    """A named entry with everything that it takes from the entries it is like.

    Attributes:
        name: the entry's name, `<…>` replaced.
        node: its values with their places.
        ancestors: the names of the entries that it is like, the farthest first, and its own last.
        chosen: what `for` chose for this entry.
    """

    name: str
    node: Node
    ancestors: tuple[str, ...] = ()
    chosen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Any]:
        """The values as plain mappings, lists and scalars."""
        return self.node.plain

    def get(self, path: KeyPath, default: Any = None) -> Any:
        """Return the plain value of a key."""
        node = self.node.get(path)
        return default if node is None else node.plain

    def place(self, path: KeyPath) -> Place:
        """Return the file and key from which a value comes."""
        return self.node.at(path)

    def where(self, path: KeyPath) -> str:
        """Return `file:line: key.path` of the key from which a value comes."""
        return self.node.at(path).where

    def source(self, path: KeyPath) -> str:
        """Return the source of a value: the comment at the end of its line."""
        return self.node.at(path).source

    def with_value(self, path: KeyPath, value: Any, place: Place) -> "Entry":
        """Return the entry with another value at a key, which comes from another place."""
        node = self.node.put(path, Node.read(value, place))
        return Entry(self.name, node, self.ancestors, self.chosen)

    def spelled(self, short: str, values: Mapping[KeyPath, Any]) -> "Entry":
        """Return the entry with a short form written out.

        Args:
            short: the key of the short form, which goes.
            values: the keys that it gives; their place is that of the short form.

        Raises:
            FathomError: one of the keys is given as well.
        """
        place = self.place((short,))
        node = self.node.drop(short)
        for path, value in values.items():
            if node.get(path) is not None:
                what = f"'{short}' gives {'.'.join(map(str, path))} as well"
                raise FathomError(what, node.at(path).where, "delete one of the two")
            node = node.put(path, Node(value, place))
        return Entry(self.name, node, self.ancestors, self.chosen)


def combinations(choices: Any, place: Place) -> list[dict[str, Any]]:
    """Return what `for` chooses: one mapping for each combination, or for each item of a list.

    Args:
        choices: `{name: [values]}`, or a list of `{name: value}`.
        place: the key `for`.

    Raises:
        FathomError: it has neither form, or a list of values is empty.
    """
    remedy = "write {name: [values]}, or a list of {name: value}"
    if isinstance(choices, list) and choices and all(isinstance(item, dict) for item in choices):
        return [dict(item) for item in choices]
    if not isinstance(choices, dict) or not choices:
        raise FathomError("this chooses nothing", place.where, remedy)
    for name, values in choices.items():
        if not isinstance(values, list) or not values:
            raise FathomError("this is no list of values", place.below((name,)).where, remedy)
    return [
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    ]


def expand(file: YamlFile, normal: Callable[[Entry], Entry] | None = None) -> dict[str, Entry]:
    """Return the entries of a file by name, `for` and `like` resolved.

    Args:
        file: the file, whose own keys are the entries.
        normal: writes an entry's short forms out, before entries are merged.

    Raises:
        Partly: everything that is wrong with `for`, `like` and the names.
    """
    return Sections(file, ((),), normal).expanded(())


class Sections:
    """The entries of some sections of a file; `like` may name an entry of each of them."""

    def __init__(
        self,
        file: YamlFile,
        sections: Iterable[KeyPath],
        normal: Callable[[Entry], Entry] | None = None,
    ):
        """Resolve `for`.

        Args:
            file: the file.
            sections: the keys that hold the entries.
            normal: writes an entry's short forms out, before entries are merged.
        """
        self._findings: list[FathomError] = []
        self._wrong: list[str] = []
        self._entries: dict[str, Entry] = {}
        self._names: dict[KeyPath, list[str]] = {section: [] for section in sections}
        self._merged: dict[str, Entry] = {}
        for section, names in self._names.items():
            for entry in _written(file, section, self._findings, self._wrong):
                if self._add(entry, normal):
                    names.append(entry.name)

    def expanded(self, section: KeyPath) -> dict[str, Entry]:
        """Return the entries of a section by name, each with all that it inherits.

        Raises:
            Partly: everything that is wrong with `for` and the names of all sections, and with
                `like` of this one.
        """
        findings, wrong, own = [*self._findings], [*self._wrong], self._names[section]
        expanded: dict[str, Entry] = {}
        for name in own:
            try:
                expanded[name] = self._inherited(name)
            except FathomError as error:
                findings += [] if _follows(error, wrong) else [error]
                wrong.append(name)
        if not findings:
            return expanded
        right = {
            name: entry for name, entry in expanded.items() if not {*entry.ancestors} & {*wrong}
        }
        raise Partly(findings, right, {*wrong, *own} - right.keys())

    def _add(self, entry: Entry, normal: Callable[[Entry], Entry] | None) -> bool:
        """Add an entry; return whether its name was free."""
        if not NAME.fullmatch(entry.name):
            self._findings.append(_misnamed(entry))
            # Whatever is named elsewhere may mean it.
            self._wrong += [entry.name, "*"]
        if entry.name in self._entries:
            self._findings.append(_taken(entry, self._entries[entry.name]))
            return False
        self._entries[entry.name] = entry
        try:
            self._entries[entry.name] = normal(entry) if normal else entry
        except FathomError as error:
            self._findings.append(error)
            self._wrong.append(entry.name)
        return True

    def _inherited(self, name: str, seen: tuple[str, ...] = ()) -> Entry:
        """Return an entry merged on top of those it is like; each is merged once."""
        if name in self._merged:
            return self._merged[name]
        entry = self._entries[name]
        like = entry.get(("like",), [])
        parents = [like] if isinstance(like, str) else like
        if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
            remedy = "write a name or a list"
            raise FathomError("this names no entries", entry.where(("like",)), remedy)
        merged, ancestors = Node({}, entry.node.place), ()
        for parent in parents:
            if parent in (*seen, name):
                raise _circle((*seen, name), parent, self._entries)
            if parent not in self._entries:
                raise unknown("entry", parent, entry.where(("like",)), self._entries)
            above = self._inherited(parent, (*seen, name))
            merged = merge(merged, above.node)
            ancestors += tuple(item for item in above.ancestors if item not in ancestors)
        node = merge(merged, entry.node.drop("like"))
        self._merged[name] = Entry(name, node, (*ancestors, name), entry.chosen)
        return self._merged[name]


def _misnamed(entry: Entry) -> FathomError:
    """Return that no entry can have this name; of several of one pattern, which name it is."""
    what, remedy = NAME_RULE, "choose another name"
    if entry.chosen:
        what = f"'{brief(entry.name)}': {NAME_RULE}"
        remedy += ", or write `for` as a list with a name for each value"
    return FathomError(what, entry.where(()), remedy)


def _taken(entry: Entry, first: Entry) -> FathomError:
    """Return that an entry's name is that of an earlier one, which may be of the same pattern."""
    place, where = first.where(()), entry.where(())
    if place != where:
        what = f"the name '{entry.name}' is taken by {place}"
        return FathomError(what, where, "choose another name")
    what = f"`for` gives the name '{entry.name}' twice"
    return FathomError(what, where, "delete a value, or use all of `for` in the name")


def _written(
    file: YamlFile, path: KeyPath, findings: list[FathomError], wrong: list[str]
) -> Iterator[Entry]:
    """Yield the entries of a section, one for each combination of `for`, before `like`.

    Args:
        file: the file.
        path: the section.
        findings: gets why an entry cannot be read.
        wrong: gets the name of such an entry, with `*` where `for` chooses a part of it.
    """
    section: Any = file.value
    if path:
        section = section.get(path[0], {})
    if not isinstance(section, dict):
        findings.append(FathomError("this is no mapping", file.where(path), "write `name: {…}`"))
        wrong.append("*")
        return
    for pattern, value in section.items():
        place = Place(file, (*path, pattern))
        if not isinstance(value, dict):
            findings.append(FathomError("this is no mapping", place.where, "write {…}"))
            wrong.append(_any(pattern))
            continue
        try:
            choices = combinations(value["for"], place.below(("for",))) if "for" in value else [{}]
        except FathomError as error:
            findings.append(error)
            wrong.append(_any(pattern))
            continue
        node = Node.read(value, place)
        for chosen in choices:
            name = str(substitute(pattern, chosen))
            missing = placeholders(name)
            if missing:
                findings.append(_not_chosen(missing[0], chosen, value, place))
                wrong.append(_any(pattern))
                break
            yield Entry(name, node.drop("for").substitute(chosen), (), chosen)


def _follows(error: FathomError, wrong: Iterable[str]) -> bool:
    """Return whether an error is only that a name is among the wrong ones."""
    names = [name for _, name in error.on] if isinstance(error, Dependent) else []
    return any(fnmatchcase(name, pattern) for name in names for pattern in wrong)


def _any(pattern: str) -> str:
    """Return a name with `*` for what `for` would choose."""
    return re.sub("<[^>]*>", "*", pattern)


def _not_chosen(
    name: str, chosen: Mapping[str, Any], entry: Mapping[str, Any], place: Place
) -> FathomError:
    """Return why `for` gives no value for a name: it has others, or is missing or misspelled."""
    what = f"`for` gives no <{name}>"
    if chosen:
        return FathomError(what, place.where, nearest(name, chosen))
    misspelled = closest("for", entry, likeness=0.6)
    if misspelled is not None:
        where = place.below((misspelled,)).where
        return FathomError(f"unknown key '{misspelled}'", where, nearest("for", ["for"]))
    return FathomError(what, place.where, f"add `for: {{{name}: [values]}}`")


def _circle(seen: tuple[str, ...], parent: str, entries: Mapping[str, Entry]) -> FathomError:
    """Return the finding of a circle; whatever leads to it, the finding is the same."""
    circle = seen[seen.index(parent) :]
    first = circle.index(min(circle))
    circle = (*circle[first:], *circle[:first])
    what = f"`like` goes in a circle: {' > '.join((*circle, circle[0]))}"
    where = entries[circle[0]].where(("like",))
    return FathomError(what, where, "delete one of these `like`")
