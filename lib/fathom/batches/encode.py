"""Text to ids on disk, in fairseq's formats, with the unigram baseline of its validation."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fathom.batches import indexed
from fathom.batches.indexed import Sentences
from fathom.batches.places import SIDES, SPLITS, dictionary_path, prefix
from fathom.errors import FathomError
from fathom.io.files import replacing, sha256
from fathom.io.integrity import Recorded, write_record
from fathom.runs.spec import DataSpec
from fathom.subwords import unigram, vocabulary
from fathom.subwords.encode import Encoder
from fathom.subwords.sides import sides
from fathom.subwords.texts import require_corpus
from fathom.subwords.vocabulary import Ids

Pieces = list[list[str]]


def encode(
    data: DataSpec, corpus: Path, subwords: Path, out: Path, report: Callable[[str], None]
) -> None:
    """Write the ids of every split of every task, the dictionaries, and tensors.json.

    Training pairs with an empty side, or one of more than `data.max_pieces` pieces, are left out
    and counted. All validation and test pairs are kept, in the order of the corpus: a longer source
    is cut and counted, the target is kept as it is. Of text without pairs, empty and longer lines
    of all splits are left out and counted. The token of a target language is no piece, but counts
    as a token of the source that it is before.

    Args:
        data: the data set, the most pieces of a side, and the place of a target language's token.
        corpus: the corpus's folder.
        subwords: the folder of its models and dictionaries.
        out: the folder to write; its tensors.json comes last.
        report: takes one line of progress at a time.

    Raises:
        FathomError: corpus or subwords are not finished, two files differ in lines, nothing is left
            of a split of a task, or the text has a piece like a token.
    """
    require_corpus(corpus)
    pieces_files = Recorded.of(subwords / "subwords.json")
    finished = out / "tensors.json"
    finished.unlink(missing_ok=True)
    encoders = {side.name: Encoder(subwords, side) for side in sides(data)}
    tokens = data.target_tokens
    dictionaries = {side: _dictionary(pieces_files, out, side, tokens) for side in encoders}
    counts: dict[str, dict[str, dict[str, int]]] = {task: {} for task in data.tasks}
    files = [dictionary_path(out, side) for side in encoders]
    for task in data.tasks:
        report(f"encode: {task}")
        for split in SPLITS:
            cut = [
                encoder.pieces(task, encoder.side.lines(corpus, task, split))
                for encoder in encoders.values()
            ]
            selected, counts[task][split] = select(
                cut, data.max_pieces, split, str(corpus / task / split)
            )
            before = {"source": [tokens[task]]} if data.target_token == "source" else {}
            counts[task][split]["source_tokens"] += len(before) * len(selected[0])
            for side, pieces in zip(encoders, selected, strict=True):
                numbers = dictionaries[side]
                rows = (numbers.of(sentence, *before.get(side, ())) for sentence in pieces)
                files += indexed.write(prefix(out, task, split, side), rows, len(numbers))
    summary = {
        "tasks": list(data.tasks),
        "sides": list(encoders),
        "max_pieces": data.max_pieces,
        "splits": counts,
        "dictionaries": {side: len(dictionary) for side, dictionary in dictionaries.items()},
        "corpus_sha256": sha256(corpus / "corpus.json"),
        "files": {path.relative_to(out).as_posix(): sha256(path) for path in files},
    }
    summary |= {"target_tokens": {data.target_token: tokens}} if tokens else {}
    predicted = list(encoders)[-1]
    summary |= _baseline(out, data.tasks, predicted, len(dictionaries[predicted]))
    write_record(finished, summary)


def select(
    sides: Sequence[Pieces], longest: int, split: str, where: str
) -> tuple[list[Pieces], dict[str, int]]:
    """Return the pairs or lines of a split that are kept, and how many are cut or left out.

    Args:
        sides: pieces of each source sentence and, where there are pairs, of each target sentence.
        longest: the most pieces of a side, without the end symbol.
        split: "train", "valid" or "test"; pairs are left out of "train" only.
        where: the files, for messages.

    Raises:
        FathomError: the sides differ in number, or nothing is left.
    """
    paired = len(sides) == 2
    if paired and len(sides[0]) != len(sides[1]):
        raise FathomError(
            f"{len(sides[0])} source and {len(sides[1])} target sentences",
            where,
            "prepare the corpus again",
        )
    rows = list(zip(*sides, strict=True))
    counts = {"left_out_empty": 0, "left_out_long": 0, "cut_sources": 0}
    if split == "train" or not paired:
        complete = [row for row in rows if all(row)]
        remaining = [row for row in complete if max(map(len, row)) <= longest]
        counts["left_out_empty"] = len(rows) - len(complete)
        counts["left_out_long"] = len(complete) - len(remaining)
    else:
        remaining = [(source[:longest], target) for source, target in rows]
        counts["cut_sources"] = sum(len(source) > longest for source, _ in rows)
    unit = "pairs" if paired else "sentences"
    if not remaining:
        what = f"none of {len(rows)} {unit} is left"
        raise FathomError(what, where, "check the corpus and data.max_pieces")
    counts[unit] = len(remaining)
    selected = [[row[side] for row in remaining] for side in range(len(sides))]
    for name, pieces in zip(SIDES, selected, strict=False):
        counts[f"{name}_tokens"] = sum(len(sentence) + 1 for sentence in pieces)
    return selected, counts


def _dictionary(subwords: Recorded, out: Path, side: str, tokens: Mapping[str, str]) -> Ids:
    """Copy a dictionary to the tensors, so that no other folder is needed; return its ids.

    Args:
        subwords: the files of the dictionary.
        out: the folder of the tensors.
        side: "source" or "target".
        tokens: of each task's target language, which are added.
    """
    path = dictionary_path(out, side)
    with replacing(path, "wb") as stream:
        stream.write(subwords.read(path.name))
    if tokens:
        vocabulary.add_tokens(path, tokens.values())
    return Ids(path, tokens.values())


def _baseline(out: Path, tasks: tuple[str, ...], side: str, entries: int) -> dict[str, object]:
    """Return the unigram's validation NLL of a side in nats a token, over all and by task."""
    training = (ids for task in tasks for ids in Sentences(prefix(out, task, "train", side)))
    distribution = unigram.fit(training, entries)
    measured = {
        task: unigram.nll(distribution, Sentences(prefix(out, task, "valid", side)))
        for task in tasks
    }
    nats, tokens = (sum(column) for column in zip(*measured.values(), strict=True))
    return {
        "unigram_nll": nats / tokens,
        "unigram_nll_by_task": {task: summed / n for task, (summed, n) in measured.items()},
    }
