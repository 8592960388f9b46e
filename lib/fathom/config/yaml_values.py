"""YAML in which every value knows its file, line, key and source.

The source of a value is the comment at the end of its line, or at the line of a key above it.
Plain YAML only: `like` says what anchors, aliases and merge keys would.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from fathom.io.errors import FathomError, Findings, brief
from fathom.io.files import why_no_file

Key = tuple[str | int, ...]

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Constructor = yaml.constructor.SafeConstructor
# Config has ten levels at most; Python cannot build thousands.
_LEVELS = 32
# The most characters of a text: what is longer is a file of something else.
_TEXT = 10_000
# A comment, with what may stand between it and the last value of its line.
_COMMENT = re.compile(r"(?:[\s,:{}\[\]|>+-]|(?<=[|>])\d)*(?<=\s)#\s?(.*?)\s*$")
# What no file of results can show; a quoted text may have it, such as "\0".
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# What YAML takes for the end of a line.
_LINE_END = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
# What YAML makes of a key without quotes. A number is read as its text: ids are printed text.
_NO_TEXT = {"bool": "true or false", "null": "null", "timestamp": "a date"}
# A number that YAML reads as everybody does: not 025 (21), 0x10 or 1_0.
_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][-+]?[0-9]+)?")
_PLAIN = "write the value out, or use `like`"
_UNTAGGED = "write the value alone, or in quotes"
_FLAT = "close the brackets, or nest less"


@dataclass(frozen=True, slots=True)
class Value:
    """A value and the place where it is written.

    The value is a scalar, a list of values, or a mapping of keys to values. A line counts from 1;
    0 is for what no line of a file gives, such as `--config`.
    """

    value: Any
    file: str = ""
    line: int = 0
    key: Key = ()
    source: str = ""

    @property
    def where(self) -> str:
        """The place as messages print it: `file:line: key.path`."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {'.'.join(map(str, self.key))}" if self.key else place

    @property
    def plain(self) -> Any:
        """The value without places, as mappings, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: item.plain for key, item in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain for item in self.value]
        return self.value

    def items(self) -> Iterator[tuple[str, "Value"]]:
        """Yield the keys and values of a mapping; nothing of a scalar or list."""
        if isinstance(self.value, dict):
            yield from self.value.items()

    def find(self, *path: str | int) -> "Value | None":
        """Return the value at a path, or None if there is none."""
        found: Value | None = self
        for key in path:
            found = found._child(key) if found is not None else None
        return found

    def get(self, *path: str | int, default: Any = None) -> Any:
        """Return the plain value at a path, or the default if there is none."""
        found = self.find(*path)
        return default if found is None else found.plain

    def at(self, path: Key) -> "Value":
        """Return the value at a path, or None at the place that it would have."""
        here = self
        for key in path:
            missing = (None, here.file, here.line, (*here.key, key), here.source)
            here = here._child(key) or Value(*missing)
        return here

    def place(self, *path: str | int) -> str:
        """Return `file:line: key.path` of a path; of the nearest key above it if it is missing."""
        return self.at(path).where

    def over(self, value: Any) -> "Value":
        """Return another value at this place."""
        return Value(value, self.file, self.line, self.key, self.source)

    def wrap(self, plain: Any) -> "Value":
        """Return plain mappings, lists and scalars as values that are all at this place."""
        if isinstance(plain, dict):
            return self.over({key: self.wrap(item) for key, item in plain.items()})
        if isinstance(plain, list):
            return self.over([self.wrap(item) for item in plain])
        return self.over(plain)

    def put(self, path: Key, new: "Value") -> "Value":
        """Return this mapping with another value at a path; mappings on the way are made."""
        if not path:
            return new
        inside = self.value if isinstance(self.value, dict) else {}
        below = inside.get(path[0], new.over({}))
        return self.over({**inside, path[0]: below.put(path[1:], new)})

    def without(self, *keys: str) -> "Value":
        """Return this mapping without some keys."""
        return self.over({key: item for key, item in self.value.items() if key not in keys})

    def _child(self, key: str | int) -> "Value | None":
        if isinstance(self.value, dict):
            return self.value.get(key)
        if isinstance(self.value, list) and isinstance(key, int) and key < len(self.value):
            return self.value[key]
        return None


def from_plain(plain: Any, file: str, key: Key = ()) -> Value:
    """Return what did not come from YAML, such as JSON, with the key of each value."""
    if isinstance(plain, Mapping):
        inside = {str(name): from_plain(item, file, (*key, name)) for name, item in plain.items()}
        return Value(inside, file, key=key)
    if isinstance(plain, list | tuple):
        items = [from_plain(item, file, (*key, number)) for number, item in enumerate(plain)]
        return Value(items, file, key=key)
    return Value(plain, file, key=key)


def leaves(value: Value) -> Iterator[Value]:
    """Yield the values inside mappings; a list is one value."""
    if isinstance(value.value, dict):
        for _, inside in value.items():
            yield from leaves(inside)
    else:
        yield value


def name_of(path: Path, root: Path) -> str:
    """Return a path as messages print it: relative to the project's folder if it is inside."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def text_of_file(
    path: Path, name: str, remedy: str = "restore the file", encoding: str = "utf-8"
) -> str:
    """Return the text of a file, or raise why it cannot be read; messages call it `name`."""
    try:
        if reason := why_no_file(path):
            raise FathomError(reason, name, remedy)
        return path.read_text(encoding)
    except OSError as error:
        raise FathomError(f"cannot be read ({error.strerror})", name, "restore the file") from None
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1}"
        raise FathomError(what, name, "save it as UTF-8") from None


def read(path: Path, root: Path) -> Value:
    """Read a YAML file whose top level is a mapping; messages leave out the folder `root`.

    Raises Findings of all aliases, tags, deep nesting, duplicate keys, and scalars that YAML does
    not read as they look; or a FathomError if there is no such text.
    """
    name = name_of(path, root)
    text = text_of_file(path, name)
    try:
        _refuse_events(text, name)
        node = _Loader(text).get_single_node()
    except yaml.YAMLError as error:
        raise _not_yaml(error, text, name) from None
    if node is None and text.strip():
        node = yaml.MappingNode("", [])  # comments alone
    if not isinstance(node, yaml.MappingNode):
        raise FathomError("this is not a mapping", f"{name}:1", "write `key: value` lines")
    builder = _Builder(name)
    value = builder.build(node, Value(None, name, 1), _comments(text, node))
    if builder.findings:
        raise Findings(builder.findings)
    return value


def as_yaml(plain: Any) -> str:
    """Return mappings, lists and scalars as YAML, those without others inside on one line."""
    style: dict[str, Any] = {"sort_keys": False, "default_flow_style": None, "width": 1000}
    return yaml.safe_dump(plain, allow_unicode=True, **style)


def as_blocks(plain: Any) -> str:
    """Return mappings, lists and scalars as YAML, each value on a line."""
    return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False)


def _not_yaml(error: yaml.YAMLError, text: str, name: str) -> FathomError:
    mark, odd = getattr(error, "problem_mark", None), yaml.reader.Reader.NON_PRINTABLE.search(text)
    line = mark.line if mark else text.count("\n", 0, odd.start() if odd else 0)
    problem = getattr(error, "problem", None) or getattr(error, "reason", "not YAML")
    return FathomError(f"not YAML ({problem})", f"{name}:{line + 1}", "fix the line")


def _refuse_events(text: str, name: str) -> None:
    """Refuse what is not plain YAML, each kind at its first place, before anything is built."""
    wrong: dict[str, FathomError] = {}
    level = 0
    for event in yaml.parse(text, _Loader):
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
        for there, what, remedy in (
            (getattr(event, "anchor", None), "anchors and aliases are not read", _PLAIN),
            (getattr(event, "tag", None), "tags are not read", _UNTAGGED),
            (level > _LEVELS, f"more than {_LEVELS} levels of mappings and lists", _FLAT),
        ):
            if there:
                where = f"{name}:{event.start_mark.line + 1}"
                wrong.setdefault(what, FathomError(what, where, remedy))
        if level > _LEVELS:
            break
    if wrong:
        raise Findings(wrong.values())


def _comments(text: str, node: yaml.Node) -> dict[int, str]:
    """Return the comment at the end of each line (from 0) on which a value or a key ends."""
    lines = _LINE_END.split(text)
    columns: dict[int, int] = {}
    for mark in _ends(node):
        columns[mark.line] = max(columns.get(mark.line, 0), mark.column)
    comments: dict[int, str] = {}
    for line, column in columns.items():
        match = _COMMENT.match(lines[line], column) if line < len(lines) else None
        if match and match[1]:
            comments[line] = match[1]
    return comments


def _is_in_line(node: yaml.Node) -> bool:
    """Return whether a comment may follow a node: a scalar or collection that is not a block."""
    if isinstance(node, yaml.ScalarNode):
        return node.style not in ("|", ">")
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _ends(node: yaml.Node) -> Iterator[yaml.Mark]:
    """Yield where keys, scalars and flow collections end."""
    if _is_in_line(node):
        yield node.end_mark
    for item in node.value if isinstance(node, yaml.CollectionNode) else ():
        for inside in item if isinstance(item, tuple) else (item,):
            yield from _ends(inside)


class _Builder:
    """Turns the nodes of a file into values; collects what is wrong with keys and scalars."""

    def __init__(self, name: str):
        self.name = name
        self.findings: list[FathomError] = []

    def build(self, node: yaml.Node, here: Value, comments: Mapping[int, str]) -> Value:
        """Return the value of a node at a place."""
        if isinstance(node, yaml.SequenceNode):
            items = []
            for number, item in enumerate(node.value):
                line = item.start_mark.line + 1
                # Items keep the source of the list's key.
                place = replace(here, line=line, key=(*here.key, number))
                items.append(self.build(item, place, {}))
            return here.over(items)
        if not isinstance(node, yaml.MappingNode):
            return here.over(self._scalar(node, here))
        inside: dict[str, Value] = {}
        for key_node, value_node in node.value:
            key, line = str(key_node.value), key_node.start_mark.line
            last = value_node.end_mark.line if _is_in_line(value_node) else line
            comment = comments.get(last) or comments.get(line)
            place = Value(None, self.name, line + 1, (*here.key, key), comment or here.source)
            kind = key_node.tag.rpartition(":")[2]
            if kind in _NO_TEXT:
                self._refuse(f"YAML reads this key as {_NO_TEXT[kind]}", place, "put it in quotes")
            elif kind == "merge":
                self._refuse("merge keys are not read", place, "use `like`")
            if key in inside:
                self._refuse("duplicate key", place, "delete one of the two")
            inside[key] = self.build(value_node, place, comments)
        return here.over(inside)

    def _scalar(self, node: yaml.Node, place: Value) -> Any:
        """Return what YAML reads; text, numbers and dates that mislead are findings."""
        kind, written = node.tag.rpartition(":")[2], brief(node.value)
        if len(node.value) > _TEXT:
            what = f"a text of {len(node.value):,} characters"
            return self._refuse(what, place, f"write {_TEXT:,} at most")
        if _CONTROL.search(node.value):
            return self._refuse("a control character", place, "delete it")
        if kind == "timestamp" or (kind in ("int", "float") and ":" in node.value):
            kind_read = "a date" if kind == "timestamp" else "a number to the base 60"
            return self._refuse(f"YAML reads {written} as {kind_read}", place, "put it in quotes")
        try:
            value = _Constructor().construct_object(node)
            if kind not in ("int", "float"):
                return value
            if math.isfinite(value) and not _NUMBER.fullmatch(node.value):
                remedy = "write the number in decimal digits, without leading 0 and underscores"
                return self._refuse(f"YAML reads {written} as {value}", place, remedy)
            if math.isfinite(value):
                return value
        except (ValueError, OverflowError):
            pass
        return self._refuse(f"{written} is not a number", place, "write a finite number")

    def _refuse(self, what: str, place: Value, remedy: str) -> None:
        self.findings.append(FathomError(what, place.where, remedy))
