"""SentencePiece models and dictionaries of a data set, learned from its training split only.

Text that comes in pieces has dictionaries alone (data/subwords/published.py).
"""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import sentencepiece

from fathom.config.spec import DataSpec
from fathom.data.subwords import published, vocabulary
from fathom.data.subwords.encode import SubwordModels, listed_pieces
from fathom.data.subwords.sides import sides_of_pieces
from fathom.data.subwords.texts import TextModel, require_corpus, text_models
from fathom.io.errors import FathomError
from fathom.io.files import replacing, sha256, write_lines
from fathom.io.integrity import Recorded, hashes, write_record

# SentencePiece's default: NFKC, blanks of every kind to a space, invisible characters out.
NORMALISATION = "nmt_nfkc"
# Every character of the training text gets a piece, so that training text has no unknown ones.
CHARACTER_COVERAGE = 1.0
# SentencePiece silently skips longer lines (bytes); its default is 4192.
LONGEST_LINE = 1 << 24

_TOO_MANY = re.compile(r"Vocabulary size too high \(\d+\)\. .*? a value <= (\d+)")
_NO_TEXT = ("!sentences_.empty()", "all_chars_count")
_TOO_FEW = re.compile(r"Vocabulary size is smaller than required_chars\. \d+ vs (\d+)")


def train(data: DataSpec, corpus: Path, out: Path, report: Callable[[str], None]) -> None:
    """Learn the subwords of all texts and write models, dictionaries and subwords.json.

    Args:
        data: the data set, or that of `pieces_of`, and the settings of its subwords.
        corpus: the folder of that data set's corpus; only its training split is read.
        out: the folder to write; its subwords.json comes last.
        report: takes one line of progress at a time.

    Raises:
        FathomError: the corpus is not finished, the settings ask for text that is not there, or a
            vocabulary is too large or too small for its text.
    """
    models = {model.name: model for model in text_models(data)}
    require_corpus(corpus)
    finished = out / "subwords.json"
    finished.unlink(missing_ok=True)
    algorithm = data.subwords.algorithm
    if algorithm == "published":
        published.collect(data, corpus, out, report)
        return
    summary: dict = {
        "algorithm": algorithm,
        "normalisation": NORMALISATION,
        "character_coverage": CHARACTER_COVERAGE,
        "models": {},
        "dictionaries": {},
        "unknown_rates": {},
    }
    for model in models.values():
        report(f"subwords: {model.name}, {algorithm}, {model.pieces} pieces")
        where = f"data.subwords.{model.key} ({model.name})"
        proto = learn(model.training_lines(corpus), model.pieces, algorithm, where)
        summary["models"][model.name] = _write_model(out, model.name, proto)
    files = hashes(out, *(f"{name}.{end}" for name in models for end in ("model", "vocab")))
    loaded = SubwordModels(Recorded(finished, files))
    for side in sides_of_pieces(data):
        path = out / f"dictionary.{side.name}.txt"
        of_side = [models[name] for name in dict.fromkeys(side.models.values())]
        dictionary = _dictionary(loaded, of_side, corpus)
        vocabulary.write(path, dictionary)
        files[path.name] = sha256(path)
        summary["dictionaries"][side.name] = len(dictionary)
        summary["unknown_rates"][side.name] = {
            task: vocabulary.unknown_rate(
                dictionary, loaded.cut(name, side.lines(corpus, task, "valid"))
            )
            for task, name in side.models.items()
        }
    write_record(finished, summary | {"files": files})


def learn(lines: Iterable[str], size: int, algorithm: str, where: str) -> bytes:
    """Return a SentencePiece model, the same bytes for the same lines in the same order.

    Three of its pieces are SentencePiece's own symbols. If the text does not give as many pieces, a
    unigram model has fewer, and a BPE model is refused.

    Args:
        lines: the training sentences.
        size: the model's pieces.
        algorithm: "bpe" or "unigram".
        where: the key of the size, for messages.

    Raises:
        FathomError: the text is empty, or the size is too large or too small for it.
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


def _translated(error: RuntimeError, size: int, where: str) -> Exception:
    """Turn SentencePiece's message into one that says what to write; return a bug as it is."""
    message = str(error)
    if match := _TOO_MANY.search(message):
        return FathomError(
            f"{size} pieces are more than the text allows", where, f"write {match[1]} or less"
        )
    if match := _TOO_FEW.search(message):
        return FathomError(
            f"{size} pieces are fewer than the text's characters",
            where,
            f"write {match[1]} or more",
        )
    if any(sign in message for sign in _NO_TEXT):
        return FathomError("there is no training text", where, "check the counts in corpus.json")
    return error


def _write_model(out: Path, name: str, proto: bytes) -> int:
    """Write a model and the list of its pieces with their scores; return how many they are."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
    size = processor.get_piece_size()
    with replacing(out / f"{name}.model", "wb") as stream:
        stream.write(proto)
    scored = [f"{processor.id_to_piece(i)}\t{processor.get_score(i):g}" for i in range(size)]
    write_lines(out / f"{name}.vocab", scored)
    return size


def _dictionary(loaded: SubwordModels, models: list[TextModel], corpus: Path) -> dict[str, int]:
    """Unite the pieces of models, counted in the training text that they cut."""
    counts: Counter[str] = Counter()
    for model in models:
        for text in model.texts:
            counts += vocabulary.count(loaded.cut(model.name, text.lines(corpus, "train")))
    pieces = [piece for model in models for piece in listed_pieces(loaded.processor(model.name))]
    return vocabulary.unite(pieces, counts)
