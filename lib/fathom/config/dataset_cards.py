"""Data sets' cards: read, and checked against the sources and against themselves."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fathom.config.cards import read_card, read_card_of_kind
from fathom.config.schema.dataset import (
    FORMATS,
    BuiltDataset,
    Dataset,
    DealtDataset,
    NumberedDataset,
    PackageDataset,
    ParallelDataset,
    PlannedDataset,
    WikipediaDataset,
)
from fathom.config.schema.package_reads import kind_of
from fathom.config.schema.source import Source
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import FathomError, nearest, unknown


def read_dataset(
    name: str, file: YamlFile, sources: Mapping[str, Source]
) -> tuple[Dataset | None, list[FathomError]]:
    """Check a data set's card, also against the sources.

    Args:
        name: the name of the card's file.
        file: the card.
        sources: all sources, by name.

    Returns:
        The data set and no findings, or None and all findings.
    """
    if "not_built" in file.value:
        dataset, findings = read_card(PlannedDataset, name, file)
    else:
        dataset, findings = read_card_of_kind(FORMATS, "format", name, file)
    if dataset is not None:
        findings = [*_name_findings(dataset, sources, file)]
    return (None if findings else dataset), findings


def direction_findings(
    dataset: Dataset, direction: str | None, where: str
) -> Iterator[FathomError]:
    """Yield what is wrong with a run's direction on a data set.

    A data set of one language pair has `translates` and takes no direction; neither does one
    without pairs. All others need one.

    Args:
        dataset: the run's data set.
        direction: "many_to_one", "one_to_many" or None.
        where: the place of the run's `data.direction`.
    """
    takes = dataset.pivot is not None and dataset.translates is None
    if direction is None and takes:
        remedy = "write many_to_one (into the pivot) or one_to_many (out of it)"
        yield FathomError(f"'{dataset.name}' needs a direction", where, remedy)
    if direction is not None and not takes:
        has = "no pairs" if dataset.pivot is None else "one direction: its card's `translates`"
        yield FathomError(f"'{dataset.name}' has {has}", where, "delete the key")


def _name_findings(
    dataset: Dataset, sources: Mapping[str, Source], file: YamlFile
) -> Iterator[FathomError]:
    """Yield names that do not exist or do not agree with each other."""
    for key in ("languages", "shown_as"):
        for task in getattr(dataset, key):
            if task not in dataset.tasks:
                where = file.where((key, task))
                yield FathomError(f"no task '{task}'", where, nearest(task, dataset.tasks))
    for task in dataset.tasks:
        if dataset.language(task) == dataset.pivot:
            remedy = "a task's own language must differ from the pivot"
            yield FathomError(f"'{task}' is the pivot", file.where(("tasks",)), remedy)
    if dataset.translates:
        yield from _translates_findings(dataset, file)
    for kind, findings in _OF_KINDS.items():
        if isinstance(dataset, kind):
            yield from findings(dataset, file)
    if isinstance(dataset, BuiltDataset):
        yield from _source_findings(dataset, sources, file)
        yield from _expected_findings(dataset, file)


def _translates_findings(dataset: Dataset, file: YamlFile) -> Iterator[FathomError]:
    own = sorted({dataset.language(task) for task in dataset.tasks})
    if len(own) > 1 or {*own, dataset.pivot} != set(dataset.translates or ()):
        what = f"the tasks translate {', '.join(own)} from or into {dataset.pivot or 'no pivot'}"
        remedy = "name the pivot and the one language of all tasks, or delete the key"
        yield FathomError(what, file.where(("translates",)), remedy)


def _source_findings(
    dataset: BuiltDataset, sources: Mapping[str, Source], file: YamlFile
) -> Iterator[FathomError]:
    known = (*dataset.texts, *([dataset.pivot] if dataset.pivot else ()))
    for source, codes in dataset.sources.items():
        if source not in sources:
            where = file.where(("sources", source))
            yield unknown("source", source, where, sources)
        for task in codes:
            if task not in known:
                where = file.where(("sources", source, task))
                yield FathomError(f"no task '{task}'", where, nearest(task, known))
    for text in dataset.texts:
        if not any(text in codes for codes in dataset.sources.values()):
            remedy = "give its code under a source"
            yield FathomError(f"no source has text for '{text}'", file.where(("sources",)), remedy)


def _part_findings(dataset: DealtDataset, file: YamlFile) -> Iterator[FathomError]:
    """Yield parts that are no tasks, are of two texts or of two languages."""
    for text, tasks in dataset.parts.items():
        where = file.where(("parts", text))
        if text in dataset.tasks:
            remedy = "give the text another name than its tasks"
            yield FathomError(f"'{text}' is a task", where, remedy)
        for task in tasks:
            if task not in dataset.tasks:
                yield FathomError(f"no task '{task}'", where, nearest(task, dataset.tasks))
            elif dataset.text_of(task) != text:
                what = f"'{task}' is already a part of '{dataset.text_of(task)}'"
                yield FathomError(what, where, "delete one of the two")
        if len({dataset.language(task) for task in tasks}) > 1:
            what = f"the tasks of '{text}' have several languages"
            yield FathomError(what, where, "name tasks of one language")


def _package_findings(dataset: PackageDataset, file: YamlFile) -> Iterator[FathomError]:
    """Yield sides without what they need, sources that nothing reads, and no code of English."""
    if dataset.sides == "pairs" and dataset.pivot is None:
        yield FathomError("no value", file.where(("pivot",)), "add the language of the messages")
    if dataset.sides == "pairs" and dataset.messages is not None:
        yield FathomError("pairs have no such task", file.where(("messages",)), "delete it")
    if dataset.sides == "alone" and dataset.pivot is not None:
        where = file.where(("pivot",))
        yield FathomError("sentences without pairs have no pivot", where, "delete it")
    if dataset.sides == "alone" and dataset.messages not in dataset.tasks:
        where = file.where(("messages",))
        remedy = nearest(dataset.messages or "", dataset.tasks)
        yield FathomError(f"no task '{dataset.messages or ''}'", where, remedy)
    for source in dataset.reads:
        if source not in dataset.sources:
            where = file.where(("reads", source))
            yield FathomError(f"no source '{source}'", where, nearest(source, dataset.sources))
    for source, codes in dataset.sources.items() if dataset.reads else ():
        how = dataset.reads.get(source)
        if how is None:
            remedy = "add it to `reads`: po, mo, json or verses"
            what = f"nothing says how '{source}' is read"
            yield FathomError(what, file.where(("reads",)), remedy)
        elif kind_of(how) in _WITH_ENGLISH and len(codes.get(dataset.english, ())) != 1:
            remedy = f"add {dataset.english}: [code]"
            what = f"'{source}' needs one code of English"
            yield FathomError(what, file.where(("sources", source)), remedy)


def _expected_findings(dataset: BuiltDataset, file: YamlFile) -> Iterator[FathomError]:
    for task in dataset.expected:
        if task not in dataset.tasks:
            where = file.where(("expected", task))
            yield FathomError(f"no task '{task}'", where, nearest(task, dataset.tasks))
    for task in dataset.tasks if not isinstance(dataset, WikipediaDataset) else ():
        if task not in dataset.expected:
            remedy = "give its counts: they prove that the text is the expected one"
            yield FathomError(f"no counts for '{task}'", file.where(("expected",)), remedy)


def _number_findings(dataset: NumberedDataset, file: YamlFile) -> Iterator[FathomError]:
    """Yield tasks without numbers, numbers without a task, and a source that is not there."""
    split = dataset.split
    if split.source not in dataset.sources:
        where = file.where(("split", "source"))
        yield FathomError(
            f"no source '{split.source}'", where, nearest(split.source, dataset.sources)
        )
    for task in split.files:
        if task not in dataset.tasks:
            where = file.where(("split", "files", task))
            yield FathomError(f"no task '{task}'", where, nearest(task, dataset.tasks))
    for task in dataset.tasks:
        if task not in split.files:
            remedy = "give its files of numbers"
            yield FathomError(f"no files for '{task}'", file.where(("split", "files")), remedy)


def _side_findings(dataset: ParallelDataset, file: YamlFile) -> Iterator[FathomError]:
    """Yield files without their other side, and files of a split that no source has."""
    known = set()
    for source, codes in dataset.sources.items():
        english = codes.get(dataset.pivot, ())
        for task in dataset.tasks:
            own = codes.get(task, ())
            known |= {*own}
            if own and len(own) != len(english):
                what = f"{len(own)} files of '{task}' and {len(english)} of '{dataset.pivot}'"
                remedy = "name a file for each side"
                yield FathomError(what, file.where(("sources", source)), remedy)
    for split in ("valid", "test"):
        for name in getattr(dataset.split, split):
            if name not in known:
                where = file.where(("split", split))
                yield FathomError(f"no file '{name}'", where, nearest(name, known))


def _wikipedia_findings(dataset: WikipediaDataset, file: YamlFile) -> Iterator[FathomError]:
    """Yield a pivot, tasks of several wikis, and limits of what is no task."""
    if dataset.pivot is not None:
        where = file.where(("pivot",))
        yield FathomError("sentences without pairs have no pivot", where, "delete it")
    for task in dataset.tasks:
        wikis = [code for source in dataset.sources for code in dataset.codes(source, task)]
        if len(wikis) > 1:
            what = f"{len(wikis)} wikis of '{task}': {', '.join(wikis)}"
            yield FathomError(what, file.where(("sources",)), "give each task one code")
    for task in dataset.split.train:
        if task not in dataset.tasks:
            where = file.where(("split", "train", task))
            yield FathomError(f"no task '{task}'", where, nearest(task, dataset.tasks))


# Ways to read in which English is a language like the others.
_WITH_ENGLISH = ("json", "verses")
# What is wrong with data sets of a kind.
_OF_KINDS: dict[type[Dataset], Callable[[Any, YamlFile], Iterator[FathomError]]] = {
    DealtDataset: _part_findings,
    PackageDataset: _package_findings,
    NumberedDataset: _number_findings,
    ParallelDataset: _side_findings,
    WikipediaDataset: _wikipedia_findings,
}
