"""YAML files read with the line of each key, so that a message can point at it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from fathom.errors import FathomError, Findings

KeyPath = tuple[str | int, ...]
_Loader = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader
# What YAML makes of a key that is not in quotes; all keys here are text.
_NOT_TEXT = {
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "null": "null",
    "timestamp": "a date",
}


@dataclass(frozen=True)
class YamlFile:
    """A file's value, and the line (from 1) on which each key stands.

    `name` is the path as messages print it, relative to the project's folder.
    """

    name: str
    value: dict[str, Any]
    lines: dict[KeyPath, int] = field(repr=False)

    def where(self, path: KeyPath) -> str:
        """Return `file:line: key.path` of a key, or of the nearest key above it that exists."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        line = f":{self.lines[known]}" if known in self.lines else ""
        dotted = ".".join(str(part) for part in path)
        return f"{self.name}{line}: {dotted}" if dotted else f"{self.name}{line}"


def read(path: Path, root: Path) -> YamlFile:
    """Read one YAML file whose top level is a mapping.

    Args:
        path: the file.
        root: the project's folder, which messages leave out.

    Raises:
        FathomError: the file is missing, is not UTF-8 or YAML, or is no mapping.
        Findings: keys that are given twice, or that YAML does not read as text.
    """
    name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FathomError(f"cannot be read ({error.strerror})", name, "restore the file") from None
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1}"
        raise FathomError(what, name, "save it as UTF-8") from None
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        value = loader.construct_document(node) if node else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{name}:{mark.line + 1}" if mark else name
        raise FathomError("not YAML here", place, "mend the line; indent with blanks") from None
    finally:
        loader.dispose()
    if not isinstance(value, dict):
        raise FathomError("no mapping at the top level", name, "write `key: value` lines")
    lines: dict[KeyPath, int] = {}
    wrong = list(_index(node, (), lines, name))
    if wrong:
        raise Findings(wrong)
    return YamlFile(name, value, lines)


def _index(
    node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], name: str
) -> Iterator[FathomError]:
    """Fill `lines` from a node's marks; yield keys that stand twice or are no text."""
    if isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            key = (*path, str(key_node.value))
            line = key_node.start_mark.line + 1
            where = f"{name}:{line}: {'.'.join(map(str, key))}"
            read_as = _NOT_TEXT.get(key_node.tag.rpartition(":")[2])
            if read_as:
                yield FathomError(f"YAML reads this key as {read_as}", where, "put it in quotes")
            if key in lines:
                yield FathomError("the key stands twice", where, "delete one of the two")
            lines[key] = line
            yield from _index(value_node, key, lines, name)
    elif isinstance(node, yaml.SequenceNode):
        for position, each in enumerate(node.value):
            lines[(*path, position)] = each.start_mark.line + 1
            yield from _index(each, (*path, position), lines, name)
