"""From fetched sources to a corpus: text in lines, and `corpus.json`, which is written last.

Where the tasks of a data set are independent, each may be prepared by a job of its own, whose last
file is `<task>/task.json`; corpus.json then joins them.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from fathom.config import plugins
from fathom.config.schema.dataset import SPLITS, BuiltDataset, Dataset, ParallelDataset, number_of
from fathom.config.schema.source import Source
from fathom.data import vocabulary
from fathom.data.fetch import RECORD, Report, fetched
from fathom.data.sides import part_file
from fathom.data.split import Line, TaskText
from fathom.io.errors import FathomError, Findings, brief
from fathom.io.files import read_lines, write_lines
from fathom.io.locks import only_writer
from fathom.io.records import Recorded, hashes, read_record, write_record

NEW = ".new-"
TASK = "task.json"
Record = dict[str, Any]


def prepare(
    dataset: Dataset,
    sources: Mapping[str, Source],
    source_folder: Callable[[str], Path],
    out: Path,
    report: Report,
    task: str | None = None,
) -> Record:
    """Read, clean, split and check a data set's text, then write `<task>/<split>.<language>`.

    A part of the test set is `<task>/test.<part>.lines`, the numbers of its lines from 1. A corpus
    that is there stays as it is until all files of the new one are written; corpus.json is
    the last. With `task` this is done for one of several independent tasks, if it is not finished;
    without, all of them are joined. `source_folder` gives the folder of a source by its name.

    Return the content of the record, corpus.json or `<task>/task.json`. With unexpected counts, or
    two tasks with the same text, none is written.
    """
    built = dataset.built().alone(task) if task else dataset.built()
    place, name = (out / task, TASK) if task else (out, "corpus.json")
    with suppress(FathomError):
        rows = _source_rows(built, sources, source_folder)
        if task and (done := read_record(place / name))["sources"] == rows:
            Recorded(place / name, done["files"]).require()
            report(f"{built.name}: {task}: already prepared, checksums right")
            return done
    with only_writer(place, report), _new_folder(place) as new:
        texts: dict[str, TaskText]
        joined: dict[str, str] = {}
        if built.independent and not task:
            given = (built, sources, source_folder, out, report)
            parts = {each: prepare(*given, each) for each in built.tasks}
            for each, part in parts.items():
                joined |= {f"{each}/{file}": digits for file, digits in part["files"].items()}
            texts = {each: _held_out(out / each, built.language(each)) for each in parts}
            tasks = {each: part["tasks"][each] for each, part in parts.items()}
        else:
            files = {each: fetched(sources[each], source_folder(each)) for each in built.sources}
            report(f"{built.name}: reading {', '.join(files)}")
            # By name, so that a corpus needs the reader of its own format and no other.
            texts = plugins.load("readers", built.format).read(files, built)
            tasks = {
                each: _write(built, each, texts[each], new if task else new / each, report)
                for each in built.tasks
            }
        # The same text under two names first: it explains unexpected counts.
        if findings := [*same_text(built, texts), *unexpected_counts(built, tasks)]:
            raise Findings(findings)
        written = hashes(new, "**/*.*")
        (place / name).unlink(missing_ok=True)
        for file in written:
            (place / file).parent.mkdir(exist_ok=True)
            (new / file).replace(place / file)
        record = {
            "dataset": built.name,
            "title": built.title,
            "citation": built.citation,
            "licences": sorted({sources[each].licence for each in built.sources}),
            "definition": built.definition(sources),
            "task_names": list(built.tasks),
            "tasks": tasks,
            "sources": _source_rows(built, sources, source_folder),
            "files": joined | written,
        }
        if isinstance(built, ParallelDataset) and (proof := built.proof):
            found = proof.wanted | counts_of(texts, proof.threshold)
            record["proof"] = {"text_of": proof.text_of, "wanted": proof.wanted, "found": found}
            doubt = proof.doubt(found)
            words = doubt and f"not the text of {proof.text_of}: {doubt}"
            report(f"{built.name}: {words or 'both counts are right'}")
        write_record(place / name, record)
    return record


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """Make a folder in `out` for the block; what a killed process left of its own is deleted."""
    for leftover in out.glob(f"{NEW}*"):
        shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(dir=out, prefix=NEW) as folder:
        yield Path(folder)


def _held_out(folder: Path, language: str) -> TaskText[Line]:
    names = {split: folder / f"{split}.{language}" for split in SPLITS[1:]}
    return TaskText({split: [*map(Line, read_lines(path))] for split, path in names.items()})


def _write(dataset: BuiltDataset, task: str, text: TaskText, out: Path, report: Report) -> Record:
    languages = dataset.languages_of(task)
    unit = "pairs" if dataset.pivot else "sentences"
    splits: dict[str, object] = {}
    for split, rows in text.splits.items():
        words = {}
        for side, language in enumerate(languages):
            counts = Counter[str]()
            lines = _counted((row[side] for row in rows), counts, dataset.place("format"))
            write_lines(out / f"{split}.{language}", lines)
            words[language] = counts["words"]
        splits[split] = {unit: len(rows), "words": words}
    dropped = {rule: count for rule, count in text.dropped.items() if count}
    sizes = ", ".join(f"{len(rows)} {split}" for split, rows in text.splits.items())
    report(f"{dataset.name}: {task}: {sizes}, {sum(dropped.values())} dropped")
    if text.doubt:
        report(f"{dataset.name}: {task}: warning: {text.doubt}; it may be another release")
    for split, count in text.shared.items():
        of_all = f"{count} of {len(text.splits[split])} {split}"
        report(f"{dataset.name}: {task}: {of_all} in training, too")
    about = {"languages": [*languages], "read": text.read, "dropped": dropped, "splits": splits}
    about |= {"in_training": text.shared} if text.shared else {}
    parts = {part: len(numbers) for part, numbers in text.parts.items()}
    for part, numbers in text.parts.items():
        write_lines(out / part_file(part), map(str, numbers))
        report(f"{dataset.name}: {task}: {parts[part]} test {unit} are the part {part}")
    about |= {"parts": parts} if parts else {}
    return about | ({"doubt": text.doubt} if text.doubt else {})


def _counted(lines: Iterable[str], counts: Counter[str], where: str) -> Iterator[str]:
    """Yield lines, and count their words: a text may be too large for memory."""
    for line in lines:
        if "\n" in line:  # all lines after it would be paired with others
            what = f"the reader returned a sentence with a line break: {brief(line)!r}"
            raise FathomError(what, where, "let the reader put a space in its place")
        counts["words"] += len(line.split())
        yield line


def _source_rows(
    dataset: BuiltDataset, sources: Mapping[str, Source], source_folder: Callable[[str], Path]
) -> list[Record]:
    """Return the files of all fetched sources, as `corpus.json` has them."""
    return [
        {
            "name": name,
            "file": file,
            "bytes": (source_folder(name) / file).stat().st_size,
            "sha256": checksum,
            "licence": sources[name].licence,
        }
        for name in dataset.sources
        for file, checksum in Recorded.of(source_folder(name) / RECORD).files.items()
    ]


def counts_of(texts: Mapping[str, TaskText], threshold: int) -> dict[str, int]:
    """Return the counts that can prove a text in pieces, with entries of its joined dictionary."""
    rows = [row for text in texts.values() for row in text.splits["train"]]
    pieces = vocabulary.count(line.split() for row in rows for line in row)
    entries = len(vocabulary.SPECIAL) + len(vocabulary.frequent(pieces, threshold))
    return {"lines": len(rows), "entries": entries}


# Checks: expected counts, and no text under two names


def count_matches(count: int, expected: int | str) -> bool:
    """Return whether a count is within one unit of the last printed digit of the expected one.

    Papers round or cut off, so "5.94k" holds for 5,931 to 5,949.
    """
    number, unit = number_of(expected)
    return abs(count - number) < unit


def unexpected_counts(dataset: BuiltDataset, tasks: dict[str, Record]) -> Iterator[FathomError]:
    """Yield each count that is not the one that the data set expects of its task."""
    unit = "pairs" if dataset.pivot else "sentences"
    for task, expected in dataset.expected.items():
        splits, parts = tasks[task]["splits"], tasks[task].get("parts", {})
        # What it is, its key, its count, and what is expected.
        rows: list[tuple[str, tuple[str, ...], int, int | str]] = [
            (f"split {split}", (split,), splits[split][unit], getattr(expected, split))
            for split in SPLITS
        ]
        for part, size in expected.parts.items():
            rows.append((f"part {part}", ("parts", part), parts.get(part, 0), size))
        for name, key, count, size in rows:
            if not count_matches(count, size):
                yield FathomError(
                    f"task {task}, {name}: {count} {unit}, expected {size}",
                    dataset.place("expected", task, *key),
                    "the text is not the expected one: correct the source or a rule, or correct "
                    "the counts if you changed the rules on purpose",
                )


def shared_sentences(
    dataset: BuiltDataset, texts: dict[str, TaskText]
) -> dict[tuple[str, str], float]:
    """Return for each two tasks the share of the smaller task's sentences that both have.

    Only the side that is not the pivot counts, each sentence once. Two tasks of one text have the
    same validation and test, so their training alone counts. Independent tasks with equal text hold
    out equal sentences, so these alone count: all others need not fit into memory.
    """
    compared = SPLITS[1:] if dataset.independent else SPLITS
    splits = {
        task: {split: {row.text for row in text.splits[split]} for split in compared}
        for task, text in texts.items()
    }
    shares = {}
    for pair in combinations(texts, 2):
        of_one_text = len({*map(dataset.text_of, pair)}) == 1
        counted = ("train",) if of_one_text else compared
        left, right = ({*chain(*(splits[task].get(name, ()) for name in counted))} for task in pair)
        shares[pair] = len(left & right) / max(min(len(left), len(right)), 1)
    return shares


def same_text(dataset: BuiltDataset, texts: dict[str, TaskText]) -> Iterator[FathomError]:
    """Yield each two tasks that have the same text under two names.

    Tasks that the data set declares as parts of one text must have the same validation and test.
    """
    for (first, second), share in shared_sentences(dataset, texts).items():
        if share > dataset.max_shared:
            yield FathomError(
                f"tasks {first} and {second} share {share:.1%} of their sentences",
                dataset.place("max_shared"),
                f"correct the codes of {first} and {second}: one has the other's text",
            )
        text = dataset.text_of(first)
        for split in SPLITS[1:] if text == dataset.text_of(second) else ():
            if texts[first].splits[split] != texts[second].splits[split]:
                yield FathomError(
                    f"tasks {first} and {second} are parts of {text}, and their {split} differs",
                    dataset.place("parts", text),
                    f"give {first} and {second} one {split}, or texts of their own",
                )
