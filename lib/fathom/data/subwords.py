"""SentencePiece models and dictionaries of a data set, learned from its training split only.

Text that comes in pieces has dictionaries alone, as `fairseq-preprocess` makes them.
"""

import io
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sentencepiece

from fathom.config.spec import DataSpec
from fathom.data import vocabulary
from fathom.data.indexed import dictionary_path
from fathom.data.sides import CORPUS, Side, TextModel, join_marked, sides, text_models
from fathom.io.errors import FathomError
from fathom.io.files import replacing, sha256, write_lines
from fathom.io.records import Recorded, hashes, read_record, write_record

RECORD = "subwords.json"
# SentencePiece's default: NFKC, blanks of every kind to a space, invisible characters out.
NORMALISATION = "nmt_nfkc"
# Every character of the training text gets a piece, so that training text has no unknown ones.
CHARACTER_COVERAGE = 1.0
# SentencePiece silently skips longer lines (bytes); its default is 4192.
LONGEST_LINE = 1 << 24
# SentencePiece writes this mark where a word begins.
WORD_START = "▁"
# What fairseq writes for an unknown piece of a reference; of a hypothesis it is `<unk>`.
UNKNOWN = "<<unk>>"

_TOO_MANY = re.compile(r"Vocabulary size too high \(\d+\)\. .*? a value <= (\d+)")
_NO_TEXT = ("!sentences_.empty()", "all_chars_count")
_TOO_FEW = re.compile(r"Vocabulary size is smaller than required_chars\. \d+ vs (\d+)")

Report = Callable[[str], None]


def train(data: DataSpec, corpus: Path, out: Path, report: Report) -> None:
    """Learn the subwords of all texts and write models, dictionaries and, last, the record.

    The corpus is that of the data set, or of `pieces_of`; only its training split is learned from.
    """
    models = text_models(data)
    read_record(corpus / CORPUS)
    (out / RECORD).unlink(missing_ok=True)
    algorithm, files = data.subwords.algorithm, dict[str, str]()
    summary: dict[str, Any] = {"algorithm": algorithm}
    if algorithm == "published":
        threshold = data.subwords.threshold or 1
        summary |= {"threshold": threshold, "multiple": vocabulary.MULTIPLE, "models": {}}
    else:
        sizes = {model.name: _learned(model, algorithm, corpus, out, report) for model in models}
        files = hashes(out, *(f"{name}.{end}" for name in sizes for end in ("model", "vocab")))
        summary |= {"normalisation": NORMALISATION, "character_coverage": CHARACTER_COVERAGE}
        summary |= {"models": sizes}

    models_files = Recorded(out / RECORD, files)
    encoders = [Encoder(models_files, side) for side in sides(data, data.pieces_definition)]
    if algorithm == "published":
        dictionaries = _collected(data, encoders, corpus)
    else:
        dictionaries = [_united(encoder, models, corpus) for encoder in encoders]
    entries, rates = {}, {}
    for encoder, dictionary in zip(encoders, dictionaries, strict=True):
        side = encoder.side
        report(f"subwords: {side.name}, {algorithm}, {len(dictionary)} entries")
        path = dictionary_path(out, side.name)
        vocabulary.write(path, dictionary)
        files |= {path.name: sha256(path)}
        entries[side.name] = len(dictionary)
        valid = {task: side.lines(corpus, task, "valid") for task in side.languages}
        rates[side.name] = {
            task: vocabulary.unknown_rate(dictionary, encoder.pieces(task, lines))
            for task, lines in valid.items()
        }
    summary |= {"dictionaries": entries, "unknown_rates": rates}
    write_record(out / RECORD, summary | {"files": files})


def _learned(model: TextModel, algorithm: str, corpus: Path, out: Path, report: Report) -> int:
    """Learn and write a model and the list of its pieces with their scores; return their number."""
    report(f"subwords: {model.name}, {algorithm}, {model.pieces} pieces")
    where = f"data.subwords.{model.key} ({model.name})"
    proto = learn(model.training_lines(corpus), model.pieces, algorithm, where)
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
    size = processor.get_piece_size()
    with replacing(out / f"{model.name}.model", "wb") as stream:
        stream.write(proto)
    scored = [f"{processor.id_to_piece(i)}\t{processor.get_score(i):g}" for i in range(size)]
    write_lines(out / f"{model.name}.vocab", scored)
    return size


def _united(encoder: "Encoder", models: Iterable[TextModel], corpus: Path) -> dict[str, int]:
    """Unite the pieces of a side's models, counted in the training text that they cut."""
    counts = Counter[str]()
    of_side = [model for model in models if model.name in encoder.side.models.values()]
    for model in of_side:
        for text in model.texts:
            counts += vocabulary.count(encoder.cut(model.name, text.lines(corpus, "train")))
    pieces = [piece for model in of_side for piece in listed_pieces(encoder.processor(model.name))]
    return vocabulary.unite(pieces, counts)


def _collected(data: DataSpec, encoders: Sequence["Encoder"], corpus: Path) -> list[dict[str, int]]:
    """Return the dictionaries of text that comes in pieces, one for both sides if it is joint."""
    counts = [
        vocabulary.count(
            pieces
            for task in encoder.side.languages
            for pieces in encoder.pieces(task, encoder.side.lines(corpus, task, "train"))
        )
        for encoder in encoders
    ]
    if data.subwords.dictionary == "joint":
        counts = [sum(counts, Counter[str]())] * len(counts)
    return [vocabulary.frequent(of_side, data.subwords.threshold or 1) for of_side in counts]


def learn(lines: Iterable[str], size: int, algorithm: str, where: str) -> bytes:
    """Return a SentencePiece model, the same bytes for the same lines in the same order.

    Three of its pieces are SentencePiece's own symbols. If the text does not give as many pieces, a
    unigram model has fewer, and a BPE model is refused; `where` is the key of the size in messages.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([*lines]),
            model_writer=model,
            vocab_size=size,
            model_type=algorithm,
            normalization_rule_name=NORMALISATION,
            character_coverage=CHARACTER_COVERAGE,
            hard_vocab_limit=algorithm == "bpe",
            input_sentence_size=0,
            shuffle_input_sentence=False,
            max_sentence_length=LONGEST_LINE,
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise _translated(error, size, where) from error
    return model.getvalue()


def _translated(error: RuntimeError, size: int, where: str) -> Exception:
    """Turn SentencePiece's message into one that says what to write; return a bug as it is."""
    message = str(error)
    if match := _TOO_MANY.search(message):
        what = f"{size} pieces are more than the text allows"
        return FathomError(what, where, f"write {match[1]} or less")
    if match := _TOO_FEW.search(message):
        what = f"{size} pieces are fewer than the text's characters"
        return FathomError(what, where, f"write {match[1]} or more")
    if any(sign in message for sign in _NO_TEXT):
        return FathomError("there is no training text", where, "check the counts in corpus.json")
    return error


class Encoder:
    """Cuts the text of one side: each task's by its model, or where it is marked.

    The SentencePiece models are those that `train` wrote, each loaded at its first use.
    """

    def __init__(self, files: Recorded, side: Side):
        self.side = side
        self._files = files
        self._processors: dict[str, sentencepiece.SentencePieceProcessor] = {}

    @classmethod
    def of(cls, folder: Path, side: Side) -> "Encoder":
        """Return the encoder of a folder that `train` wrote."""
        return cls(Recorded.of(folder / RECORD), side)

    def processor(self, name: str) -> sentencepiece.SentencePieceProcessor:
        """Return a model by its name."""
        if name not in self._processors:
            proto = self._files.read(f"{name}.model")
            self._processors[name] = sentencepiece.SentencePieceProcessor(model_proto=proto)
        return self._processors[name]

    def cut(self, name: str, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cut sentences into pieces by a model, one by one; a blank sentence has none."""
        processor = self.processor(name)
        # One call for a list would start as many threads as the machine has cores.
        return (processor.encode(line, out_type=str) for line in lines)

    def pieces(self, task: str, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cut a task's sentences into pieces, one by one; a blank sentence has none."""
        if self.side.marked:
            return (line.split() for line in lines)
        return self.cut(self.side.models[task], lines)

    def printed(self, task: str, lines: Iterable[str], entries: Container[str]) -> Iterator[str]:
        """Yield a task's sentences as fairseq prints those that it has as ids.

        Their pieces are joined, so that the text is normalised; one that is not among the entries
        of the dictionary is `<<unk>>`, which no hypothesis has. So does `fairseq-generate
        --remove-bpe` write references (`Dictionary.string` with `escape_unk`).
        """
        joined = join_marked if self.side.marked else join
        for pieces in self.pieces(task, lines):
            yield joined([piece if piece in entries else UNKNOWN for piece in pieces])


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
