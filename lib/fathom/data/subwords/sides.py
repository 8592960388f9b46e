"""The sides of a data set: which text is translated, into which, and which model cuts each.

A data set without pairs has the source side alone. Text that comes in marked pieces has no models.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.config.rules import is_marked
from fathom.config.spec import DataSpec
from fathom.data.subwords import marks
from fathom.data.subwords.texts import Text


@dataclass(frozen=True)
class Side:
    """The source or the target side of every task.

    Attributes:
        name: "source" or "target".
        languages: the language of each task, in the order of the tasks.
        models: the name of the SentencePiece model that cuts each task's text.
        marked: whether the text comes in marked pieces.
    """

    name: str
    languages: dict[str, str]
    models: dict[str, str]
    marked: bool = False

    def sentences(self, corpus: Path, task: str, split: str) -> list[str]:
        """Read the sentences of one task on this side as hypotheses are compared with them.

        Words are complete; the arguments are those of `lines`.
        """
        lines = self.lines(corpus, task, split)
        return [marks.join(marks.cut(line)) if self.marked else line for line in lines]

    def lines(self, corpus: Path, task: str, split: str) -> Iterator[str]:
        """Read the lines of one task on this side one by one, as the corpus has them.

        Args:
            corpus: the corpus's folder.
            task: the task.
            split: "train", "valid" or "test".

        Raises:
            FathomError: the corpus lacks the file.
        """
        return Text(task, self.languages[task]).lines(corpus, split)


def sides(data: DataSpec) -> tuple[Side, ...]:
    """Return the source and the target side, or the source alone where there are no pairs."""
    return sides_of(data, data.definition)


def sides_of_pieces(data: DataSpec) -> tuple[Side, ...]:
    """Return the sides of the data set whose pieces are used: its own, or that of `pieces_of`."""
    return sides_of(data, data.pieces_definition or data.definition)


def sides_of(data: DataSpec, definition: dict[str, Any]) -> tuple[Side, ...]:
    """Return the sides of a data set.

    Args:
        data: the direction, and the keys of the subwords.
        definition: tasks with their languages, and the pivot if there is one.
    """
    own, pivot = dict(definition["tasks"]), definition.get("pivot")
    joint = data.subwords.joint is not None
    marked = is_marked(definition)
    if marked:
        models = {}
    elif data.subwords.per_task is not None:
        models = {task: f"per_task.{task}" for task in own}
    else:
        models = dict.fromkeys(own, "joint" if joint else "foreign")
    if pivot is None:
        return (Side("source", own, models, marked),)
    of_pivot = {} if marked else dict.fromkeys(own, "joint" if joint else "english")
    texts = [(own, models), (dict.fromkeys(own, pivot), of_pivot)]
    if not into_pivot(definition, data.direction):
        texts.reverse()
    named = zip(("source", "target"), texts, strict=True)
    return tuple(Side(name, own, models, marked) for name, (own, models) in named)


def into_pivot(definition: dict[str, Any], direction: str | None) -> bool:
    """Return whether a data set with a pivot is translated into it.

    Args:
        definition: the data set; `translates` fixes the direction of a single language pair.
        direction: "many_to_one" or "one_to_many" where nothing is fixed.
    """
    if "translates" in definition:
        return definition["translates"][1] == definition["pivot"]
    return direction == "many_to_one"
