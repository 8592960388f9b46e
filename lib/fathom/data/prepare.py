"""From fetched sources to a corpus: text in lines, and `corpus.json`, which is written last."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

from fathom.config import plugins
from fathom.config.schema.dataset import SPLITS, BuiltDataset, Dataset, ParallelDataset, number_of
from fathom.config.schema.source import Source
from fathom.data import vocabulary
from fathom.data.fetch import RECORD, fetched
from fathom.data.split import TaskText
from fathom.io.errors import FathomError, Findings
from fathom.io.files import write_lines
from fathom.io.locks import only_writer
from fathom.io.records import Recorded, hashes, write_record

NEW = ".new-"


def prepare(
    dataset: Dataset,
    sources: Mapping[str, Source],
    source_folder: Callable[[str], Path],
    out: Path,
    report: Callable[[str], None],
) -> None:
    """Read, clean, split and check a data set's text, then write `<task>/<split>.<language>`.

    A corpus that is there stays as it is until all files of the new one are written; corpus.json is
    the last. `source_folder` gives the folder of a source by its name.

    Raises:
        Findings: unexpected counts, or two tasks with the same text; then nothing is written.
    """
    built = require_built(dataset)
    folders = {name: source_folder(name) for name in built.sources}
    files = {name: fetched(sources[name], folder) for name, folder in folders.items()}
    used = [row for name in files for row in _source_rows(sources[name], folders[name])]
    report(f"{built.name}: reading {', '.join(files)}")
    # By name, so that a corpus needs the reader of its own format and no other.
    texts: dict[str, TaskText] = plugins.load("readers", built.format).read(files, built)
    # The same text under two names first: it explains unexpected counts.
    findings = [*same_text(built, texts), *unexpected_counts(built, texts)]
    if findings:
        raise Findings(findings)
    with only_writer(out, report), _new_folder(out) as new:
        tasks = {task: _write(built, task, texts[task], new, report) for task in built.tasks}
        written = hashes(new, "*/*.*")
        (out / "corpus.json").unlink(missing_ok=True)
        for name in written:
            place = out / name
            place.parent.mkdir(exist_ok=True)
            (new / name).replace(place)
        record = {
            "dataset": built.name,
            "title": built.title,
            "citation": built.citation,
            "licences": sorted({sources[name].licence for name in files}),
            "definition": built.definition(sources),
            "task_names": list(built.tasks),
            "tasks": tasks,
            "sources": used,
        }
        if isinstance(built, ParallelDataset) and (proof := built.proof):
            found = proof.wanted | counts_of(texts, proof.threshold)
            record["proof"] = {"text_of": proof.text_of, "wanted": proof.wanted, "found": found}
            doubt = proof.doubt(found)
            words = (
                f"not the text of {proof.text_of}: {doubt}" if doubt else "both counts are right"
            )
            report(f"{built.name}: {words}")
        write_record(out / "corpus.json", record | {"files": written})


def require_built(dataset: Dataset) -> BuiltDataset:
    """Return a data set that a reader makes; refuse one whose card says `not_built`."""
    if isinstance(dataset, BuiltDataset):
        return dataset
    where = dataset.place("not_built")
    remedy = "choose another data set, or a scale that substitutes it"
    raise FathomError(f"'{dataset.name}' is not built: {dataset.not_built}", where, remedy)


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """Make a folder in `out` for the block; what a killed process left of its own is deleted."""
    for leftover in out.glob(f"{NEW}*"):
        shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(dir=out, prefix=NEW) as folder:
        yield Path(folder)


def _write(
    dataset: BuiltDataset, task: str, text: TaskText, out: Path, report: Callable[[str], None]
) -> dict[str, object]:
    """Write a task's files, and return its counts."""
    languages = dataset.languages_of(task)
    splits: dict[str, object] = {}
    for split, rows in text.splits.items():
        words = {}
        for side, language in enumerate(languages):
            counts = Counter[str]()
            lines = _counted((row[side] for row in rows), counts)
            write_lines(out / task / f"{split}.{language}", lines)
            words[language] = counts["words"]
        unit = "pairs" if dataset.pivot else "sentences"
        splits[split] = {unit: len(rows), "words": words}
    dropped = {rule: count for rule, count in text.dropped.items() if count}
    sizes = ", ".join(f"{len(rows)} {split}" for split, rows in text.splits.items())
    report(f"{dataset.name}: {task}: {sizes}, {sum(dropped.values())} dropped")
    for split, count in text.shared.items():
        report(
            f"{dataset.name}: {task}: {count} of {len(text.splits[split])} {split} in training, too"
        )
    shared: dict[str, object] = {"in_training": text.shared} if text.shared else {}
    about = {"languages": [*languages], "read": text.read, "dropped": dropped, "splits": splits}
    return about | shared


def _counted(lines: Iterable[str], counts: Counter[str]) -> Iterator[str]:
    """Yield lines, and count their words: a text may be too large for memory."""
    for line in lines:
        counts["words"] += len(line.split())
        yield line


def _source_rows(source: Source, folder: Path) -> list[dict[str, object]]:
    """Return the files of a fetched source, as `corpus.json` has them."""
    return [
        {
            "name": source.name,
            "file": file,
            "bytes": (folder / file).stat().st_size,
            "sha256": checksum,
            "licence": source.licence,
        }
        for file, checksum in Recorded.of(folder / RECORD).files.items()
    ]


def counts_of(texts: Mapping[str, TaskText], threshold: int) -> dict[str, int]:
    """Return the counts that can prove a text in pieces, with entries of its joined dictionary."""
    rows = [row for text in texts.values() for row in text.splits["train"]]
    pieces = vocabulary.count(line.split() for row in rows for line in row)
    entries = len(vocabulary.SPECIAL) + len(vocabulary.frequent(pieces, threshold))
    return {"lines": len(rows), "entries": entries}


# Checks: expected counts, and no text under two names


def count_matches(count: int, expected: int | str) -> bool:
    """Return whether a count is the expected one, to the digits in which that is given.

    Papers round or cut off, so "5.94k" holds for 5,931 to 5,949: within one unit of the last
    printed digit.
    """
    number, unit = number_of(expected)
    return abs(count - number) < unit


def unexpected_counts(dataset: BuiltDataset, texts: dict[str, TaskText]) -> Iterator[FathomError]:
    """Yield each count that is not the one that the data set expects of its task."""
    unit = "pairs" if dataset.pivot else "sentences"
    for task in dataset.expected:
        for split in SPLITS:
            count, expected = len(texts[task].splits[split]), getattr(dataset.expected[task], split)
            if not count_matches(count, expected):
                yield FathomError(
                    f"task {task}, split {split}: {count} {unit}, expected {expected}",
                    dataset.place("expected", task, split),
                    "the text is not the expected one: correct the source or a rule, or correct "
                    "the counts if you changed the rules on purpose",
                )


def shared_sentences(
    texts: dict[str, TaskText],
    text_of: Callable[[str], str] = str,
    compared: Sequence[str] = SPLITS,
) -> dict[tuple[str, str], float]:
    """Return for each two tasks the share of the smaller task's sentences that both have.

    Only the side that is not the pivot counts, each sentence once, of the `compared` splits. Two
    tasks of one text (`text_of` names it) have the same validation and test, so their training
    alone counts.
    """
    splits = {
        task: {split: {row.text for row in text.splits[split]} for split in compared}
        for task, text in texts.items()
    }
    shares = {}
    for first, second in combinations(texts, 2):
        counted = ("train",) if text_of(first) == text_of(second) else compared
        left, right = (
            set().union(*(splits[task].get(name, ()) for name in counted))
            for task in (first, second)
        )
        shares[first, second] = len(left & right) / max(min(len(left), len(right)), 1)
    return shares


def same_text(dataset: BuiltDataset, texts: dict[str, TaskText]) -> Iterator[FathomError]:
    """Yield each two tasks that have the same text under two names.

    Tasks that the data set declares as parts of one text must have the same validation and test.
    """
    for (first, second), share in shared_sentences(
        texts, dataset.text_of, dataset.compared
    ).items():
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
