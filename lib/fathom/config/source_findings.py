"""Values that need a source, the comment at the end of their line, and have none."""

from collections.abc import Iterable, Iterator

from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.io.errors import FathomError

# Parts of a run whose values need a source.
_OF_RUNS = ("data", "model", "method", "masking", "training", "start", "decoding")
# Parts of a paper whose values need one, and the keys that are no choices.
_OF_PAPER = ("metric", "marks")
_NAMES = ("name", "run", "note")


def of_runs(file: YamlFile) -> Iterator[FathomError]:
    """Yield the values of a runs.yaml that have no source."""
    for section in ("families", "runs"):
        entries = file.value.get(section)
        for name, entry in (entries if isinstance(entries, dict) else {}).items():
            if isinstance(entry, dict):
                yield from _without(file, entry, (section, name), _OF_RUNS)


def of_paper(file: YamlFile) -> Iterator[FathomError]:
    """Yield the values of a paper.yaml that have no source: how it scores, what marks mean."""
    yield from _without(file, file.value, (), _OF_PAPER)


def _without(
    file: YamlFile, entry: dict, above: KeyPath, parts: Iterable[str]
) -> Iterator[FathomError]:
    """Yield the values without a source in some parts of an entry."""
    for part in parts:
        if not isinstance(entry.get(part), dict):
            continue
        for path in _leaves(entry[part], (*above, part)):
            if path[-1] not in _NAMES and not _source(file, path):
                remedy = "add a comment with the source at the end of the line"
                yield FathomError("no source is given", file.where(path), remedy)


def _source(file: YamlFile, path: KeyPath) -> str:
    """Return the source of a value, on its line or that of a key inside its entry."""
    while len(path) > 1:
        if path in file.sources:
            return file.sources[path]
        path = path[:-1]
    return ""


def _leaves(value: object, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path
