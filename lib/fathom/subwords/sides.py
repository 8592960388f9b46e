"""The two sides of a data set: which languages stand there, and which model cuts which text."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fathom.errors import FathomError
from fathom.io.files import read_json, read_lines
from fathom.runs.spec import Data


@dataclass(frozen=True)
class Side:
    """The source or the target side of every task.

    Attributes:
        name: "source" or "target".
        vocabulary: pieces of one model.
        per_task: whether each task has its own model; otherwise one model serves all.
        languages: the language of each task, in the order of the tasks.
    """

    name: str
    vocabulary: int
    per_task: bool
    languages: dict[str, str]

    def part(self, task: str) -> str:
        """Return the name of the model that cuts a task's text: the task's own, or the side's."""
        return task if self.per_task else self.name

    @property
    def parts(self) -> dict[str, list[str]]:
        """The side's models by name, each with the tasks that it serves."""
        if self.per_task:
            return {task: [task] for task in self.languages}
        return {self.name: list(self.languages)}

    def lines(self, corpus: Path, task: str, split: str) -> list[str]:
        """Read the sentences of one task on this side.

        Args:
            corpus: the corpus's folder.
            task: the task.
            split: "train", "valid" or "test".

        Raises:
            FathomError: the corpus lacks the file.
        """
        path = corpus / task / f"{split}.{self.languages[task]}"
        if not path.is_file():
            raise FathomError("no such file", str(path), "delete corpus.json and prepare it again")
        return read_lines(path)

    def training_lines(self, corpus: Path, part: str) -> Iterator[str]:
        """Yield the training sentences that a model learns from, task by task."""
        for task in self.parts[part]:
            yield from self.lines(corpus, task, "train")


def sides(data: Data) -> tuple[Side, Side]:
    """Return the source and the target side.

    Raises:
        FathomError: the pivot language, which all tasks share, has a model for each task.
    """
    own = dict(data.definition["tasks"])
    other = {task: own[task] for task in data.tasks}
    pivot = dict.fromkeys(data.tasks, data.definition["pivot"])
    settings = data.subwords
    source_is_pivot = data.direction == "one_to_many"
    shared = "source" if source_is_pivot else "target"
    if (settings.source_parts if source_is_pivot else settings.target_parts) == "per_task":
        raise FathomError(
            f"the {shared} side is the pivot language and cannot have a model for each task",
            f"data.subwords.{shared}_parts",
            "write joint",
        )
    return (
        Side(
            "source",
            settings.source_vocabulary,
            settings.source_parts == "per_task",
            pivot if source_is_pivot else other,
        ),
        Side(
            "target",
            settings.target_vocabulary,
            settings.target_parts == "per_task",
            other if source_is_pivot else pivot,
        ),
    )


def require_corpus(corpus: Path) -> None:
    """Check that a corpus is finished.

    Raises:
        FathomError: its corpus.json, which is written last, is missing.
    """
    read_json(corpus / "corpus.json")
