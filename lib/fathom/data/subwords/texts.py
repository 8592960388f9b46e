"""The texts of a data set, and which SentencePiece model learns from which of them.

A text is one task's sentences in one language. `data.subwords` has a key for each kind of text:
`joint` (all of them), `english` (those in the pivot language), `foreign` (all others together) or
`per_task` (all others, a model for each task). With `data.pieces_of`, the texts are those of that
other data set. Text that comes in marked pieces (`published`) needs no model.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from fathom.config.rules import subword_faults
from fathom.config.spec import DataSpec
from fathom.io.errors import FathomError
from fathom.io.integrity import Recorded, read_record

RECORD = "corpus.json"


class Text(NamedTuple):
    """One task's sentences in one language."""

    task: str
    language: str

    def lines(self, corpus: Path, split: str) -> Iterator[str]:
        """Read the sentences of a split one by one, if they are those that were prepared.

        Args:
            corpus: the corpus's folder.
            split: "train", "valid" or "test".

        Raises:
            FathomError: the corpus is not finished, or the file is missing or has changed.
        """
        return Recorded.of(corpus / RECORD).stream(f"{self.task}/{split}.{self.language}")


@dataclass(frozen=True)
class TextModel:
    """One SentencePiece model.

    Attributes:
        name: its file's name, without the ending.
        key: the key of `data.subwords` that asks for it.
        pieces: how many pieces it has, SentencePiece's own three symbols included.
        texts: the texts that it learns from and cuts, in the order in which they are read.
        most: how many training sentences it learns from at most; None for all.
    """

    name: str
    key: str
    pieces: int
    texts: tuple[Text, ...]
    most: int | None = None

    def training_lines(self, corpus: Path) -> Iterator[str]:
        """Return the training sentences that the model learns from, text by text.

        Where there are more than `most`, every text gives the same share, from equal distances.
        """
        if self.most is None:
            return self._all_lines(corpus)
        total = sum(1 for _ in self._all_lines(corpus))
        return evenly(self._all_lines(corpus), total, min(self.most, total))

    def _all_lines(self, corpus: Path) -> Iterator[str]:
        return chain.from_iterable(text.lines(corpus, "train") for text in self.texts)


def evenly(lines: Iterable[str], total: int, most: int) -> Iterator[str]:
    """Yield `most` of `total` lines, at equal distances, the last one among them."""
    for number, line in enumerate(lines):
        if (number + 1) * most // total > number * most // total:
            yield line


def text_models(data: DataSpec) -> tuple[TextModel, ...]:
    """Return the models of a run's data; none where the text comes in pieces.

    Raises:
        FathomError: a key asks for text that is not there, or is cut already.
    """
    for key, what, remedy in subword_faults(data):
        raise FathomError(what, ".".join(map(str, key)), remedy)
    definition = data.pieces_definition or data.definition
    own = tuple(Text(task, language) for task, language in definition["tasks"])
    pivot = tuple(Text(text.task, definition["pivot"]) for text in own if definition.get("pivot"))
    models, most = [], data.subwords.sentences
    for key in ("joint", "english", "foreign"):
        pieces = getattr(data.subwords, key)
        texts = {"joint": own + pivot, "english": pivot, "foreign": own}[key]
        if pieces is not None:
            models.append(TextModel(key, key, pieces, texts, most))
    if (pieces := data.subwords.per_task) is not None:
        models += [
            TextModel(f"per_task.{text.task}", "per_task", pieces, (text,), most) for text in own
        ]
    return tuple(models)


def require_corpus(corpus: Path) -> None:
    """Check that a corpus is finished.

    Raises:
        FathomError: its corpus.json, which is written last, is missing or damaged.
    """
    read_record(corpus / RECORD)
