"""The texts of a data set, its two sides, and which SentencePiece model cuts which of them.

A text is one task's sentences in one language. `data.subwords` has a key for each kind of text:
`joint` (all of them), `english` (those in the pivot language), `foreign` (all others together) or
`per_task` (all others, a model for each task). With `data.pieces_of`, the texts are those of that
other data set. A data set without pairs has the source side alone.

Text that comes cut into pieces (`published`) needs no model: blanks divide the pieces, and `@@`
ends each but the last of a word. So does subword-nmt write text, and fairseq read it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from fathom.config.rules import is_marked, subword_faults
from fathom.config.spec import DataSpec, into_pivot
from fathom.io.errors import FathomError
from fathom.io.records import Recorded

CORPUS = "corpus.json"
MARK = "@@ "


class Text(NamedTuple):
    """One task's sentences in one language."""

    task: str
    language: str

    def lines(self, corpus: Path, split: str) -> Iterator[str]:
        """Read the sentences of a split one by one, if they are those that were prepared."""
        return Recorded.of(corpus / CORPUS).stream(f"{self.task}/{split}.{self.language}")


def part_file(part: str) -> str:
    """Return the name of the file with the numbers from 1 of a part's lines in the test split."""
    return f"test.{part}.lines"


def part_lines(corpus: Path, task: str, part: str) -> list[int]:
    """Return the rows from 0 of a task's test split that are in a part of it, in its order."""
    numbers = Recorded.of(corpus / CORPUS).lines(f"{task}/{part_file(part)}")
    return [int(number) - 1 for number in numbers]


@dataclass(frozen=True)
class TextModel:
    """One SentencePiece model."""

    name: str  # of its file, without the ending
    key: str  # of `data.subwords`, which asks for it
    pieces: int  # SentencePiece's own three symbols included
    texts: tuple[Text, ...]  # those that it learns from and cuts, in the order of reading
    most: int | None = None  # training sentences that it learns from at most; None for all

    def training_lines(self, corpus: Path) -> Iterator[str]:
        """Return the training sentences that the model learns from, text by text.

        Where there are more than `most`, every text gives the same share, from equal distances.
        """

        def lines() -> Iterator[str]:
            return chain.from_iterable(text.lines(corpus, "train") for text in self.texts)

        if self.most is None:
            return lines()
        total = sum(1 for _ in lines())
        return evenly(lines(), total, min(self.most, total))


def evenly(lines: Iterable[str], total: int, most: int) -> Iterator[str]:
    """Yield `most` of `total` lines, at equal distances, the last one among them."""
    for number, line in enumerate(lines):
        if (number + 1) * most // total > number * most // total:
            yield line


def text_models(data: DataSpec) -> tuple[TextModel, ...]:
    """Return the models of a run's data; none where the text comes in pieces."""
    for key, what, remedy in subword_faults(data):
        raise FathomError(what, ".".join(map(str, key)), remedy)
    definition = data.pieces_definition or data.definition
    foreign = tuple(Text(task, language) for task, language in definition["tasks"])
    pivot = tuple(Text(text.task, definition["pivot"]) for text in foreign if "pivot" in definition)
    models, most = [], data.subwords.sentences
    texts = {"joint": foreign + pivot, "english": pivot, "foreign": foreign}
    for key, of_key in texts.items():
        if (pieces := getattr(data.subwords, key)) is not None:
            models.append(TextModel(key, key, pieces, of_key, most))
    if (pieces := data.subwords.per_task) is not None:
        of_tasks = ((f"per_task.{text.task}", (text,)) for text in foreign)
        models += [TextModel(name, "per_task", pieces, text, most) for name, text in of_tasks]
    return tuple(models)


@dataclass(frozen=True)
class Side:
    """The source or the target side of every task."""

    name: str  # "source" or "target"
    languages: dict[str, str]  # by task, in the order of the tasks
    models: dict[str, str]  # by task, the name of the SentencePiece model that cuts its text
    marked: bool = False  # whether the text comes in marked pieces

    def lines(self, corpus: Path, task: str, split: str) -> Iterator[str]:
        """Read the lines of a task's split one by one, as the corpus has them."""
        return Text(task, self.languages[task]).lines(corpus, split)

    def sentences(self, corpus: Path, task: str, split: str) -> list[str]:
        """Read the sentences of a task's split in complete words, as hypotheses are."""
        lines = self.lines(corpus, task, split)
        return [join_marked(line.split()) if self.marked else line for line in lines]


def join_marked(pieces: Iterable[str]) -> str:
    """Return the text of marked pieces; the last may be marked, too, where a hypothesis ends."""
    return f"{' '.join(pieces)} ".replace(MARK, "").rstrip()


def sides(data: DataSpec, definition: dict[str, Any] | None = None) -> tuple[Side, ...]:
    """Return the source and the target side, or the source alone where there are no pairs.

    They are those of the run's data set, or of another one by its definition.
    """
    definition = definition or data.definition
    languages, pivot = dict(definition["tasks"]), definition.get("pivot")
    joint, marked = data.subwords.joint is not None, is_marked(definition)
    models: dict[str, str] = {}
    if data.subwords.per_task is not None and not marked:
        models = {task: f"per_task.{task}" for task in languages}
    elif not marked:
        models = dict.fromkeys(languages, "joint" if joint else "foreign")
    if pivot is None:
        return (Side("source", languages, models, marked),)
    of_pivot = {} if marked else dict.fromkeys(languages, "joint" if joint else "english")
    texts = [(languages, models), (dict.fromkeys(languages, pivot), of_pivot)]
    if not into_pivot(definition, data.settings.direction):
        texts.reverse()
    named = zip(("source", "target"), texts, strict=True)
    return tuple(Side(name, of_side, models, marked) for name, (of_side, models) in named)
