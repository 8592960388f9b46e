"""Text to ids on disk, in fairseq's formats, with the unigram baseline of its validation."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

from fathom.config.schema.dataset import SPLITS
from fathom.config.spec import DataSpec
from fathom.data import indexed, vocabulary
from fathom.data.indexed import SIDES, Sentences, dictionary_path, prefix
from fathom.data.sides import CORPUS, sides
from fathom.data.subwords import RECORD, Encoder
from fathom.data.vocabulary import Ids
from fathom.io.errors import FathomError
from fathom.io.files import replacing, sha256
from fathom.io.records import Recorded, read_record, write_record

# Of one sentence.
Pieces = list[str]


def encode(
    data: DataSpec, corpus: Path, subwords: Path, out: Path, report: Callable[[str], None]
) -> None:
    """Write the ids of every split of every task, the dictionaries, and, last, tensors.json.

    Training pairs with an empty side, or one of more than `data.max_pieces` pieces, are left out
    and counted. All validation and test pairs are kept, in the order of the corpus: a longer source
    is cut and counted, the target is kept as it is. Of text without pairs, empty and longer lines
    of all splits are left out and counted. The token of a target language is not a piece, but
    counts as a token of the source that it is before.
    """
    read_record(corpus / CORPUS)
    pieces_files = Recorded.of(subwords / RECORD)
    finished = out / "tensors.json"
    finished.unlink(missing_ok=True)
    encoders = {side.name: Encoder.of(subwords, side) for side in sides(data)}
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
            before = (tokens[task],) if data.settings.target_token == "source" else ()
            where, of_split = str(corpus / task / split), counts[task].setdefault(split, {})
            rows = selected(cut, data.settings.max_pieces, split, where, of_split, len(before))
            places = {prefix(out, task, split, side): dictionaries[side] for side in encoders}
            _write(rows, places, before)
            files += [path for place in places for path in indexed.files(place)]
        if long := sum(of_split["left_out_long"] for of_split in counts[task].values()):
            most = data.settings.max_pieces
            report(f"encode: {task}: {long:,} left out, with more than {most} pieces on a side")
    summary = {
        "tasks": list(data.tasks),
        "sides": list(encoders),
        "max_pieces": data.settings.max_pieces,
        "splits": counts,
        "dictionaries": {side: len(dictionary) for side, dictionary in dictionaries.items()},
        "corpus_sha256": sha256(corpus / CORPUS),
        "files": {path.relative_to(out).as_posix(): sha256(path) for path in files},
    }
    summary |= {"target_tokens": {data.settings.target_token: tokens}} if tokens else {}
    predicted = list(encoders)[-1]
    summary |= _baseline(out, data.tasks, predicted, len(dictionaries[predicted]))
    write_record(finished, summary)


def selected(
    sides: Sequence[Iterable[Pieces]],
    longest: int,
    split: str,
    where: str,
    counts: dict[str, int],
    added: int = 0,
) -> Iterator[tuple[Pieces, ...]]:
    """Yield the pairs or lines of a split that are kept, with their sources cut.

    Args:
        sides: the source and, where there are pairs, the target.
        longest: the most pieces of a side, without the end symbol.
        split: pairs are left out of "train" alone.
        where: the place in messages.
        counts: gets how many are kept, cut and left out, and their tokens; complete at the end.
        added: tokens before each source, which count.
    """
    paired = len(sides) == 2
    drops = split == "train" or not paired
    unit = "pairs" if paired else "sentences"
    tokens = [f"{name}_tokens" for name in SIDES[: len(sides)]]
    names = ("left_out_empty", "left_out_long", "cut_sources", unit, *tokens)
    counts.update(dict.fromkeys(names, 0))
    read = 0
    for row in zip_longest(*sides):
        if None in row:
            what = "source and target differ in their number of sentences"
            raise FathomError(what, where, "prepare the corpus again")
        read += 1
        if drops and not all(row):
            counts["left_out_empty"] += 1
        elif drops and max(map(len, row)) > longest:
            counts["left_out_long"] += 1
        else:
            counts["cut_sources"] += len(row[0]) > longest
            row = (row[0][:longest], *row[1:])
            counts[unit] += 1
            counts["source_tokens"] += added
            for name, pieces in zip(tokens, row, strict=True):
                counts[name] += len(pieces) + 1
            yield row
    if not counts[unit]:
        what = f"none of {read} {unit} is left"
        raise FathomError(what, where, "check the corpus and data.max_pieces")


def _write(
    rows: Iterable[tuple[Pieces, ...]], places: Mapping[Path, Ids], before: Sequence[str]
) -> None:
    """Write the ids of each side to its path without the endings, `before` before each source."""
    with ExitStack() as stack:
        files = (indexed.writing(place, len(ids)) for place, ids in places.items())
        writers = [*map(stack.enter_context, files)]
        sides = list(zip(writers, places.values(), (before, ()), strict=False))
        for row in rows:
            for (add, ids, first), pieces in zip(sides, row, strict=True):
                add(ids.of(pieces, *first))


def _dictionary(subwords: Recorded, out: Path, side: str, tokens: Mapping[str, str]) -> Ids:
    """Copy a dictionary to the tensors, so that no other folder is needed; return its ids.

    `tokens`, those of each task's target language, are added.
    """
    path = dictionary_path(out, side)
    with replacing(path, "wb") as stream:
        stream.write(subwords.read(path.name))
    if tokens:
        vocabulary.add_tokens(path, tokens.values())
    return Ids(path, tokens.values())


def _baseline(out: Path, tasks: tuple[str, ...], side: str, entries: int) -> dict[str, object]:
    """Return the unigram's validation NLL of a side in nats per token, over all and by task."""
    training = (ids for task in tasks for ids in Sentences(prefix(out, task, "train", side)))
    distribution = vocabulary.unigram(training, entries)
    measured = {
        task: vocabulary.unigram_nll(distribution, Sentences(prefix(out, task, "valid", side)))
        for task in tasks
    }
    nats, tokens = (sum(column) for column in zip(*measured.values(), strict=True))
    return {
        "unigram_nll": nats / tokens,
        "unigram_nll_by_task": {task: summed / n for task, (summed, n) in measured.items()},
    }
