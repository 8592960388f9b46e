"""Text to pieces and back, by the SentencePiece models of a data set."""

from pathlib import Path

import sentencepiece

from fathom.errors import FathomError
from fathom.subwords.sides import Side

# SentencePiece writes this mark where a word begins.
WORD_BEGINS = "▁"


class Encoder:
    """The models of one side, each read when it is first used."""

    def __init__(self, folder: Path, side: Side):
        """Remember where the models stand.

        Args:
            folder: the folder that `fathom subwords` made.
            side: the side whose text is cut.
        """
        self.folder, self.side = folder, side
        self._models: dict[str, sentencepiece.SentencePieceProcessor] = {}

    def model(self, part: str) -> sentencepiece.SentencePieceProcessor:
        """Return a model by its name.

        Raises:
            FathomError: the model's file is missing.
        """
        if part not in self._models:
            path = self.folder / f"{part}.model"
            if not path.is_file():
                raise FathomError("no such subword model", str(path), "make it: fathom subwords")
            model = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
            self._models[part] = model
        return self._models[part]

    def pieces(self, task: str, lines: list[str]) -> list[list[str]]:
        """Cut sentences into pieces; a sentence of nothing but blanks has none.

        Args:
            task: whose text it is.
            lines: sentences.
        """
        model = self.model(self.side.part(task))
        # A list in one call would start as many threads as the machine has cores.
        return [model.encode(line, out_type=str) for line in lines]


def listed_pieces(model: sentencepiece.SentencePieceProcessor) -> list[str]:
    """Return the pieces that a model can produce, without its own symbols, by their ids."""
    ids = range(model.get_piece_size())
    return [model.id_to_piece(i) for i in ids if not (model.is_control(i) or model.is_unknown(i))]


def join(pieces: list[str]) -> str:
    """Return the text of pieces: what was cut, after SentencePiece's normalisation (nmt_nfkc)."""
    return "".join(pieces).replace(WORD_BEGINS, " ").strip(" ")
