"""Text to pieces and back, with the SentencePiece models of a data set, or by its marks."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import sentencepiece

from fathom.data.subwords import marks
from fathom.data.subwords.sides import Side
from fathom.io.integrity import Recorded

# SentencePiece writes this mark where a word begins.
WORD_START = "▁"


class SubwordModels:
    """The SentencePiece models of a folder, each loaded when it is first used."""

    def __init__(self, files: Recorded):
        """Remember the folder.

        Args:
            files: of the folder that `fathom subwords` wrote.
        """
        self.files = files
        self._processors: dict[str, sentencepiece.SentencePieceProcessor] = {}

    def processor(self, name: str) -> sentencepiece.SentencePieceProcessor:
        """Return a model by its name.

        Raises:
            FathomError: the model's file is missing or has changed.
        """
        if name not in self._processors:
            proto = self.files.read(f"{name}.model")
            processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
            self._processors[name] = processor
        return self._processors[name]

    def cut(self, name: str, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cut sentences into pieces, one by one; a blank sentence has none.

        Args:
            name: the model.
            lines: sentences.
        """
        processor = self.processor(name)
        # One call for a list would start as many threads as the machine has cores.
        return (processor.encode(line, out_type=str) for line in lines)


class Encoder:
    """Cuts the text of one side, each task's by its own model, or where it is marked."""

    def __init__(self, folder: Path, side: Side):
        """Remember the folder and the side.

        Args:
            folder: the folder that `fathom subwords` wrote.
            side: the side whose text is cut.

        Raises:
            FathomError: the folder is not finished, or its record is damaged.
        """
        files = Recorded.of(folder / "subwords.json")
        self.side, self.models = side, SubwordModels(files)

    def pieces(self, task: str, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cut a task's sentences into pieces, one by one; a blank sentence has none.

        Args:
            task: whose text it is.
            lines: sentences.

        Raises:
            FathomError: the model's file is missing or has changed.
        """
        if self.side.marked:
            return map(marks.cut, lines)
        return self.models.cut(self.side.models[task], lines)


def listed_pieces(processor: sentencepiece.SentencePieceProcessor) -> list[str]:
    """Return the pieces that a model can produce, without its own symbols, by id."""
    return [
        processor.id_to_piece(i)
        for i in range(processor.get_piece_size())
        if not (processor.is_control(i) or processor.is_unknown(i))
    ]


def join(pieces: list[str]) -> str:
    """Return the text of pieces, as SentencePiece normalised it (nmt_nfkc)."""
    return "".join(pieces).replace(WORD_START, " ").strip(" ")
