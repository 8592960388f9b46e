"""SentencePiece models and dictionaries of a data set, learnt from its training split alone."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import sentencepiece

from fathom.errors import FathomError
from fathom.io.files import replacing, sha256, write_json, write_lines
from fathom.runs.spec import Data
from fathom.subwords import vocabulary
from fathom.subwords.encode import Encoder, listed_pieces
from fathom.subwords.sides import Side, require_corpus, sides

# SentencePiece's default: NFKC, blanks of every kind to a space, invisible characters out.
NORMALISATION = "nmt_nfkc"
# Every character of the training text gets a piece, so that training text has no unknown ones.
CHARACTER_COVERAGE = 1.0
# SentencePiece silently leaves out longer lines (bytes); its default is 4192.
LONGEST_LINE = 1 << 24

_TOO_MANY = re.compile(r"Vocabulary size too high \(\d+\)\. .*? a value <= (\d+)")
_NO_TEXT = ("!sentences_.empty()", "all_chars_count")
_TOO_FEW = re.compile(r"Vocabulary size is smaller than required_chars\. \d+ vs (\d+)")


def train(data: Data, corpus: Path, out: Path, report: Callable[[str], None]) -> None:
    """Learn the subwords of both sides and write models, dictionaries and subwords.json.

    Args:
        data: the data set, its tasks and the settings of its subwords.
        corpus: the corpus's folder; only its training split is learnt from.
        out: the folder to write; its subwords.json comes last.
        report: takes one line of progress at a time.

    Raises:
        FathomError: the corpus is not finished, or a vocabulary is too large or too small for it.
    """
    require_corpus(corpus)
    finished = out / "subwords.json"
    finished.unlink(missing_ok=True)
    summary: dict = {
        "algorithm": data.subwords.algorithm,
        "normalisation": NORMALISATION,
        "character_coverage": CHARACTER_COVERAGE,
        "parts": {},
        "dictionaries": {},
        "unknown_rates": {},
    }
    for side in sides(data):
        for part in side.parts:
            report(f"subwords: {part}, {data.subwords.algorithm}, {side.vocabulary} pieces")
            key = f"data.subwords.{side.name}_vocabulary"
            lines = side.training_lines(corpus, part)
            model = learn(lines, side.vocabulary, data.subwords.algorithm, f"{key} ({part})")
            summary["parts"][part] = _write_model(out, part, model)
        encoder = Encoder(out, side)
        path = out / f"dictionary.{side.name}.txt"
        dictionary = _dictionary(encoder, side, corpus)
        vocabulary.write(path, dictionary)
        summary["dictionaries"][side.name] = {"pieces": len(dictionary), "sha256": sha256(path)}
        summary["unknown_rates"][side.name] = {
            task: unknown_rate(dictionary, encoder.pieces(task, side.lines(corpus, task, "valid")))
            for task in data.tasks
        }
    write_json(finished, summary)


def learn(lines: Iterable[str], size: int, algorithm: str, where: str) -> bytes:
    """Return a SentencePiece model, the same bytes for the same lines in the same order.

    Of its pieces three are SentencePiece's own symbols. A unigram model has fewer pieces where the
    text does not hold as many; a BPE model is refused.

    Args:
        lines: the training sentences.
        size: the model's pieces.
        algorithm: "bpe" or "unigram".
        where: the key of the size, for messages.

    Raises:
        FathomError: the text is empty, or allows only a larger or a smaller vocabulary.
    """
    sentences = list(lines)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
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


def unknown_rate(dictionary: dict[str, int], sentences: list[list[str]]) -> float:
    """Return the share of pieces that a dictionary does not know; 0 where there are no pieces."""
    counts = vocabulary.count(sentences)
    total = sum(counts.values())
    unknown = sum(times for piece, times in counts.items() if piece not in dictionary)
    return unknown / total if total else 0.0


def _translated(error: RuntimeError, size: int, where: str) -> Exception:
    """Turn SentencePiece's message into one that says what to write; leave a bug as it is."""
    message = str(error)
    if found := _TOO_MANY.search(message):
        return FathomError(
            f"{size} pieces are more than the text allows", where, f"write {found[1]} or less"
        )
    if found := _TOO_FEW.search(message):
        return FathomError(
            f"{size} pieces are fewer than the text's characters",
            where,
            f"write {found[1]} or more",
        )
    if any(sign in message for sign in _NO_TEXT):
        return FathomError("there is no training text", where, "check the counts in corpus.json")
    return error


def _write_model(out: Path, part: str, model: bytes) -> dict[str, object]:
    """Write a model and the list of its pieces with their scores; return what describes them."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    size = processor.get_piece_size()
    with replacing(out / f"{part}.model", "wb") as stream:
        stream.write(model)
    scored = [f"{processor.id_to_piece(i)}\t{processor.get_score(i):g}" for i in range(size)]
    write_lines(out / f"{part}.vocab", scored)
    return {"pieces": size, "sha256": sha256(out / f"{part}.model")}


def _dictionary(encoder: Encoder, side: Side, corpus: Path) -> dict[str, int]:
    """Unite the pieces of a side's models, counted in the training text of all tasks."""
    counts: Counter[str] = Counter()
    for task in side.languages:
        counts += vocabulary.count(encoder.pieces(task, side.lines(corpus, task, "train")))
    pieces = [piece for part in side.parts for piece in listed_pieces(encoder.model(part))]
    return vocabulary.unite(pieces, counts)
