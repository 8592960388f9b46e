"""The text that a run's subwords ask for: which keys of `data.subwords` fit its data sets."""

from collections.abc import Iterator
from typing import Any

from fathom.config.spec import DataSpec
from fathom.io.errors import FathomError


def is_marked(definition: dict[str, Any]) -> bool:
    """Return whether the text of a data set comes in marked pieces (data/subwords/marks.py)."""
    return definition.get("pieces") == "marked"


def text_findings(data: DataSpec) -> Iterator[FathomError]:
    """Yield the keys of `data.subwords` that ask for text that is not there, or is cut already.

    Args:
        data: a run's data.
    """
    definition = data.pieces_definition or data.definition
    published = data.subwords.algorithm == "published"
    if published and not is_marked(definition):
        remedy = "write bpe or unigram, and the pieces of each text"
        yield FathomError("the text has no pieces of its own", "data.subwords.algorithm", remedy)
    if is_marked(definition) and not published:
        what = "the text comes cut into pieces"
        yield FathomError(what, "data.subwords.algorithm", "write {algorithm: published}")
    if data.subwords.english is not None and not definition.get("pivot"):
        what = "the data set has no pairs, so it has no text in a pivot language"
        yield FathomError(what, "data.subwords.english", "write joint alone")
    if data.pieces_definition is None:
        return
    if data.pieces_definition.get("pivot") != data.definition.get("pivot"):
        what = f"'{data.settings.pieces_of}' has another pivot language"
        yield FathomError(what, "data.pieces_of", "name a data set with the same pivot")
    if is_marked(data.pieces_definition) != is_marked(data.definition):
        what = f"of '{data.settings.pieces_of}' and '{data.dataset}' one comes cut into pieces"
        yield FathomError(what, "data.pieces_of", "delete the key")
    known = _languages(data.pieces_definition)
    missing = [task for task in _languages(data.definition) if task not in known]
    if data.subwords.per_task is not None and missing:
        what = f"'{data.settings.pieces_of}' has no pieces of {', '.join(missing)}"
        yield FathomError(what, "data.pieces_of", "write joint or foreign, or name another")


def _languages(definition: dict[str, Any]) -> dict[str, str]:
    return dict(definition["tasks"])
