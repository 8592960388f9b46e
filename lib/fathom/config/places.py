"""Values that remember their file and key, and how two mappings of such values are merged."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fathom.config.yaml_files import KeyPath, YamlFile

_NAME = re.compile(r"<(\w+)>")


@dataclass(frozen=True)
class Place:
    """A key of a file."""

    file: YamlFile = field(repr=False)
    path: KeyPath

    @property
    def where(self) -> str:
        """The place as messages print it: `file:line: key.path`."""
        return self.file.where(self.path)

    @property
    def source(self) -> str:
        """The comment at the end of the key's line, or of the line of a key that it belongs to."""
        return self.file.source(self.path)

    def below(self, path: KeyPath) -> "Place":
        """Return the place of a key inside this one."""
        return Place(self.file, (*self.path, *path))


@dataclass(frozen=True)
class Node:
    """A value with its place; a mapping holds a node for each key, a list is one value."""

    value: Any
    place: Place

    @classmethod
    def read(cls, value: Any, place: Place) -> "Node":
        """Build the node of a value that was read from a file."""
        if not isinstance(value, dict):
            return cls(value, place)
        below = {key: cls.read(item, place.below((key,))) for key, item in value.items()}
        return cls(below, place)

    @property
    def plain(self) -> Any:
        """The value without places."""
        if not isinstance(self.value, dict):
            return self.value
        return {key: node.plain for key, node in self.value.items()}

    def at(self, path: KeyPath) -> Place:
        """Return the place of a key; of a key that does not exist, the place that it would have."""
        if path and isinstance(self.value, dict) and path[0] in self.value:
            return self.value[path[0]].at(path[1:])
        return self.place.below(path)

    def get(self, path: KeyPath) -> "Node | None":
        """Return the node of a key, or None where there is none."""
        if not path:
            return self
        inside = self.value.get(path[0]) if isinstance(self.value, dict) else None
        return inside and inside.get(path[1:])

    def put(self, path: KeyPath, node: "Node") -> "Node":
        """Return this node with another one at a key; mappings on the way are made."""
        if not path:
            return node
        inside = self.value if isinstance(self.value, dict) else {}
        old = inside.get(path[0], Node({}, node.place))
        return Node({**inside, path[0]: old.put(path[1:], node)}, self.place)

    def drop(self, key: str) -> "Node":
        """Return this mapping without a key."""
        return Node({name: node for name, node in self.value.items() if name != key}, self.place)

    def substitute(self, names: Mapping[str, Any]) -> "Node":
        """Return this node with `<name>` replaced in keys and values; places stay."""
        if not isinstance(self.value, dict):
            return Node(substitute(self.value, names), self.place)
        below = {substitute(key, names): node.substitute(names) for key, node in self.value.items()}
        return Node(below, self.place)


def substitute(thing: Any, names: Mapping[str, Any]) -> Any:
    """Replace `<name>` in texts, in keys too; a text that is only `<name>` becomes the value.

    A name that is not among `names` stays as it is.
    """
    if isinstance(thing, dict):
        return {substitute(key, names): substitute(value, names) for key, value in thing.items()}
    if isinstance(thing, list):
        return [substitute(item, names) for item in thing]
    if not isinstance(thing, str):
        return thing
    only = _NAME.fullmatch(thing)
    if only:
        return names.get(only[1], thing)
    return _NAME.sub(lambda match: str(names.get(match[1], match[0])), thing)


def placeholders(text: str) -> tuple[str, ...]:
    """Return the names in `<…>` that a text holds."""
    return tuple(_NAME.findall(text))


def merge(base: Node, over: Node) -> Node:
    """Return a mapping with another one on top of it.

    Mappings are merged, lists and values replaced. A mapping with another `name` replaces the
    former entirely.
    """
    merged = dict(base.value)
    for key, node in over.value.items():
        old = merged.get(key)
        merged[key] = merge(old, node) if old is not None and _have_one_name(old, node) else node
    return Node(merged, over.place)


def _have_one_name(old: Node, new: Node) -> bool:
    """Return whether two values are mappings of the same `name`; no name in the new one fits."""
    if not isinstance(old.value, dict) or not isinstance(new.value, dict):
        return False
    name = new.get(("name",))
    before = old.get(("name",))
    return name is None or (before is not None and name.value == before.value)
