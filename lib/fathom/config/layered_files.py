"""Files on top of each other, each key with the file and line that gives it.

Mappings are merged and values replaced. Lists are put one after the other, lower files first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.io.errors import FathomError, unknown


@dataclass(frozen=True)
class LayeredFile(YamlFile):
    """A file with others below and above it; places and sources are those of the file that gives.

    Attributes:
        own: the file itself, where keys are missing that none gives.
        layers: all files, the lowest first.
    """

    own: YamlFile = field(kw_only=True, repr=False)
    layers: tuple[YamlFile, ...] = field(kw_only=True, repr=False)

    def where(self, path: KeyPath) -> str:
        """Return `file:line: key.path` in the file that gives the key."""
        file, path = self._given(path)
        return file.where(path)

    def source(self, path: KeyPath) -> str:
        """Return the comment at the end of a value's line."""
        file, path = self._given(path)
        return file.source(path)

    def _given(self, path: KeyPath) -> tuple[YamlFile, KeyPath]:
        """Return the file that gives a key or the nearest key above it, and the path there."""
        for end in range(len(path), 0, -1):
            key, item = path[: end - 1], path[end - 1]
            if isinstance(item, str):
                for file in reversed(self.layers):
                    if path[:end] in file.lines:
                        return file, path
                continue
            for file in self.layers:
                items = len(_value(file, key) or ())
                if item < items:
                    return file, (*key, item, *path[end:])
                item -= items
        return self.own, path


def layered(
    files: Mapping[str, YamlFile], above: Mapping[str, Sequence[YamlFile]]
) -> Iterator[tuple[str, YamlFile | FathomError]]:
    """Yield each file on top of the one that its key `like` names, or what is wrong with that name.

    Args:
        files: the files of a folder by name.
        above: what lies on top of some of them.
    """
    for name, own in files.items():
        try:
            layers = _layers(name, files, above, ())
        except FathomError as error:
            yield name, error
            continue
        value = reduce(_merged, [file.value for file in layers])
        lines = reduce(dict.__or__, [file.lines for file in layers])
        alone = len(layers) == 1
        yield name, own if alone else LayeredFile(own.name, value, lines, own=own, layers=layers)


def files_of(file: YamlFile) -> tuple[str, ...]:
    """Return the names of the files that a file's keys come from, the lowest first."""
    layers = file.layers if isinstance(file, LayeredFile) else (file,)
    return tuple(layer.name for layer in layers)


def _layers(
    name: str,
    files: Mapping[str, YamlFile],
    above: Mapping[str, Sequence[YamlFile]],
    seen: tuple[str, ...],
) -> tuple[YamlFile, ...]:
    own, seen = files[name], (*seen, name)
    like = own.value.get("like")
    below: tuple[YamlFile, ...] = ()
    # The class of the file's keys says what is wrong with another value.
    if isinstance(like, str):
        where = own.where(("like",))
        if like in seen:
            what = f"`like` goes in a circle: {' > '.join((*seen, like))}"
            raise FathomError(what, where, "delete one of these `like`")
        if like not in files:
            raise unknown("file", like, where, files)
        below = _layers(like, files, above, seen)
    return (*below, own, *above.get(name, ()))


def _merged(base: Any, own: Any) -> Any:
    if isinstance(base, dict) and isinstance(own, dict):
        both = {key: _merged(base[key], own[key]) for key in base.keys() & own.keys()}
        return base | own | both
    if isinstance(base, list) and isinstance(own, list):
        return [*base, *own]
    return own


def _value(file: YamlFile, path: KeyPath) -> Any:
    value: Any = file.value
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
