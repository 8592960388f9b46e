"""YAML files read with the line of each key and the comment at the end of each line.

Plain YAML only: anchors, aliases and merge keys are refused, since `like` says the same in words,
and so are tags, deep nesting, and numbers and dates that YAML reads in an unexpected way.
A comment at the end of a line is the source of the line's values.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from fathom.io.errors import FathomError, Findings, brief
from fathom.io.files import require_no_pipe

KeyPath = tuple[str | int, ...]
_Loader = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader
_Constructor = yaml.constructor.SafeConstructor
# What YAML takes for the end of a line.
_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
# What no file of results can show; a quoted text may have it, such as "\0".
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_COMMENT = re.compile(r"\s*(?:(?<=\s)|^)#\s?(.*?)\s*$")
# What YAML makes of a key without quotes. A number is read as its text: ids are printed text.
_NOT_TEXT = {"bool": "true or false", "null": "null", "timestamp": "a date"}
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_OPENING = (
    yaml.BlockMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.FlowSequenceStartToken,
)
_CLOSING = (yaml.BlockEndToken, yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)
# Config has ten levels at most; Python cannot build thousands.
_LEVELS = 32
_REFUSED = {
    yaml.AnchorToken: ("anchors and aliases are not read", "write the value out, or use `like`"),
    yaml.AliasToken: ("anchors and aliases are not read", "write the value out, or use `like`"),
    yaml.TagToken: ("tags are not read", "write the value alone, or in quotes"),
}


@dataclass(frozen=True)
class YamlFile:
    """A file's value, with the line (from 1) of each key and the source of each value.

    `name` is the path as messages print it, relative to the project's folder.
    """

    name: str
    value: dict[str, Any]
    lines: dict[KeyPath, int] = field(repr=False)
    sources: dict[KeyPath, str] = field(default_factory=dict, repr=False)

    def where(self, path: KeyPath) -> str:
        """Return `file:line: key.path` of a key, or of the nearest key above it that exists.

        A key that is missing at the top level is missing in line 1; switches have no lines.
        """
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        line = f":{self.lines[known]}" if known in self.lines else ""
        dotted = ".".join(str(part) for part in path)
        return f"{self.name}{line}: {dotted}" if dotted else f"{self.name}{line}"

    def source(self, path: KeyPath) -> str:
        """Return the comment at the end of a value's line, or of a key above it; empty without."""
        while path and path not in self.sources:
            path = path[:-1]
        return self.sources.get(path, "")


def read(path: Path, root: Path) -> YamlFile:
    """Read one YAML file whose top level is a mapping.

    Args:
        path: the file.
        root: the project's folder, which messages leave out.

    Raises:
        FathomError: the file is missing, is not UTF-8 or YAML, or is no mapping.
        Findings: duplicate keys, keys that YAML does not read as text, aliases, tags, deep
            nesting, NaN.
    """
    name = name_of(path, root)
    require_no_pipe(path, "restore the file")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FathomError(f"cannot be read ({error.strerror})", name, "restore the file") from None
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1}"
        raise FathomError(what, name, "save it as UTF-8") from None
    try:
        tokens = list(yaml.scan(text, _Loader))
        _refuse_tokens(tokens, name)
        loader = _Loader(text)
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            remedy = "write `key: value` lines"
            raise FathomError("no mapping at the top level", f"{name}:1", remedy)
        _read_numbers_as_text(node)
        lines: dict[KeyPath, int] = {(): 1}
        # Before the values are built, which resolves merge keys.
        wrong = list(_index(node, (), lines, name))
        if wrong:
            raise Findings(wrong)
        value = loader.construct_document(node)
    except yaml.YAMLError as error:
        raise _not_yaml(error, text, name) from None
    return YamlFile(name, value, lines, dict(_sources(node, _comments(text, tokens))))


def name_of(path: Path, root: Path) -> str:
    """Return a path as messages print it: relative to the project's folder where it is inside."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def _not_yaml(error: yaml.YAMLError, text: str, name: str) -> FathomError:
    """Return YAML's own error as one line."""
    mark, odd = getattr(error, "problem_mark", None), yaml.reader.Reader.NON_PRINTABLE.search(text)
    line = mark.line + 1 if mark else text.count("\n", 0, odd.start() if odd else 0) + 1
    problem = getattr(error, "problem", None) or getattr(error, "reason", "not YAML")
    return FathomError(f"not YAML ({problem})", f"{name}:{line}", "fix the line")


def _refuse_tokens(tokens: list[yaml.Token], name: str) -> None:
    """Refuse what is no plain YAML, each kind at its first place, before anything is built."""
    wrong: dict[str, FathomError] = {}
    level = 0
    for token in tokens:
        where = f"{name}:{token.start_mark.line + 1}"
        level += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if level > _LEVELS:
            what = f"more than {_LEVELS} levels of mappings and lists"
            wrong[what] = FathomError(what, where, "close the brackets, or nest less")
            break
        if type(token) in _REFUSED:
            what, remedy = _REFUSED[type(token)]
            wrong.setdefault(what, FathomError(what, where, remedy))
    if wrong:
        raise Findings(wrong.values())


def _read_numbers_as_text(node: yaml.Node) -> None:
    """Make keys such as `12` text: they are ids as printed."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.tag in _NUMBERS:
                key.tag = "tag:yaml.org,2002:str"
            _read_numbers_as_text(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _read_numbers_as_text(item)


def _index(
    node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], name: str
) -> Iterator[FathomError]:
    """Fill `lines` from a node's marks; yield wrong keys, and numbers and dates that mislead."""
    if isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            key = (*path, str(key_node.value))
            line = key_node.start_mark.line + 1
            where = f"{name}:{line}: {'.'.join(map(str, key))}"
            kind = key_node.tag.rpartition(":")[2]
            if kind in _NOT_TEXT:
                what = f"YAML reads this key as {_NOT_TEXT[kind]}"
                yield FathomError(what, where, "put it in quotes")
            if kind == "merge":
                yield FathomError("merge keys are not read", where, "use `like`")
            if key in lines:
                yield FathomError("duplicate key", where, "delete one of the two")
            lines[key] = line
            yield from _index(value_node, key, lines, name)
    elif isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            lines[(*path, position)] = item.start_mark.line + 1
            yield from _index(item, (*path, position), lines, name)
    elif wrong := _misread(node):
        where = f"{name}:{node.start_mark.line + 1}: {'.'.join(map(str, path))}"
        yield FathomError(wrong[0], where, wrong[1])


def _misread(node: yaml.Node) -> tuple[str, str] | None:
    """Return what is wrong with text, or a number or a date that YAML takes for another value."""
    if _CONTROL.search(node.value):
        return "a control character", "delete it"
    written = brief(node.value)
    if node.tag.endswith(":timestamp"):
        return f"YAML reads {written} as a date", "put it in quotes"
    if node.tag not in _NUMBERS:
        return None
    if ":" in node.value:
        return f"YAML reads {written} as a number to the base 60", "put it in quotes"
    return None if _is_finite(node) else (f"{written} is no number", "write a finite number")


def _is_finite(node: yaml.Node) -> bool:
    try:
        return math.isfinite(_Constructor().construct_object(node))
    except (ValueError, OverflowError):
        return False


def _comments(text: str, tokens: list[yaml.Token]) -> dict[int, str]:
    """Return the comment at the end of each line (from 0) that has one after a token.

    The scanner knows where each token columns, so a `#` inside a string is no comment. A line that
    holds a comment alone has no value, and so no source.
    """
    lines = _BREAK.split(text)
    columns: dict[int, int] = {}
    inside: set[int] = set()
    for token in tokens:
        start, end = token.start_mark, token.end_mark
        if end.index == start.index:
            continue  # ends of blocks, which the scanner places where the next line begins
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            header = re.match(r"[|>][-+0-9]*", lines[start.line][start.column :])
            columns[start.line] = start.column + (len(header[0]) if header else 1)
            inside.update(range(start.line + 1, end.line + (end.column > 0)))
            continue
        inside.update(range(start.line, end.line))
        columns[end.line] = max(columns.get(end.line, 0), end.column)
    comments = {}
    for number, column in columns.items():
        if number not in inside and number < len(lines):
            match = _COMMENT.match(lines[number], column)
            if match and match[1]:
                comments[number] = match[1]
    return comments


def _sources(
    node: yaml.Node, comments: dict[int, str], path: KeyPath = ()
) -> Iterator[tuple[KeyPath, str]]:
    """Yield path and source of each key whose own line has a comment.

    In a flow mapping over several lines each line's own comment counts, else the closing line's.
    """
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        flow = isinstance(value, yaml.ScalarNode) or value.flow_style
        last = value.end_mark.line if flow else key.start_mark.line
        if isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"):
            last = value.start_mark.line
        own = comments.get(last) or comments.get(key.start_mark.line)
        here = (*path, key.value)
        if own:
            yield here, own
        yield from _sources(value, comments, here)
