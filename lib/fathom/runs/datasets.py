"""Data sets: which text of which sources makes which tasks, one card each in config/datasets.

The class of a card follows its `format`, which is also the name of its reader in data/formats. A
card with `not_built` describes a data set that no reader makes yet.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from fathom.config.settings import About, Part, Several
from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, nearest, unknown
from fathom.io.hashes import identity, short
from fathom.runs.cards import read_card, read_card_of_kind
from fathom.runs.sources import Source
from fathom.runs.text_rules import (
    Counts,
    KeyHash,
    MessageCleaning,
    Names,
    Published,
    TalkCleaning,
)

SPLITS = ("train", "valid", "test")

Task = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,63}$")]
Language = Annotated[str, Field(pattern="^[a-z]{2,3}$")]
Codes = Annotated[tuple[str, ...], *Names]


class Dataset(Part):
    """Tasks and their languages: what every card has."""

    name: Annotated[str, About("The name of the card's file.")]
    title: Annotated[str, About("What the data set is, in one line.")]
    citation: Annotated[str, About("Where it is from, as a text would cite it.")]
    licence: Annotated[str, About("The terms of its text.")]
    tasks: Annotated[tuple[Task, ...], *Names, About("The tasks, in the paper's order.")]
    languages: Annotated[
        dict[str, Language],
        Field(default_factory=dict),
        About("The language of each task that has another name."),
    ]
    pivot: Annotated[
        Language | None, About("The language that all tasks share; without it there are no pairs.")
    ] = None
    translates: Annotated[
        Annotated[tuple[Language, Language], Several] | None,
        About("Source and target language, where all tasks have the same two."),
    ] = None

    def language(self, task: str) -> str:
        """Return a task's own language."""
        return self.languages.get(task, task)

    def languages_of(self, task: str) -> tuple[str, ...]:
        """Return the languages of a task's text: its own, then the pivot if there is one."""
        return (self.language(task), self.pivot) if self.pivot else (self.language(task),)

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text; it is hashed into the name of the corpus's folder.

        Titles, licences and the checks (`expected`, `max_shared`) change no text and stay out.

        Args:
            sources: all sources, by name.
        """
        languages = {"pivot": self.pivot, "translates": self.translates and [*self.translates]}
        return {
            "tasks": [[task, self.language(task)] for task in self.tasks],
            **{key: value for key, value in languages.items() if value},
        }

    def corpus_folder(self, sources: Mapping[str, Source]) -> str:
        """Return the name of the corpus's folder: `<name>-<hash8>`."""
        return f"{self.name}-{short(identity(self.definition(sources)))}"


class PlannedDataset(Dataset):
    """A data set that no reader makes yet; a run on it is refused with the reason."""

    reason: Annotated[str, Field(alias="not_built"), About("Why the text cannot be made yet.")]

    def not_built(self) -> list[tuple[str, str]]:
        """Return the path and the reason, as for a run's settings that are not built."""
        return [("not_built", self.reason)]

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what is known of the text: tasks, languages, and the name for all else."""
        return super().definition(sources) | {"not_built": self.name}


class BuiltDataset(Dataset):
    """A data set that a reader makes: its sources, its rules, and what must come out."""

    format: Annotated[str, About("The reader of its files: a file of lib/fathom/data/formats.")]
    sources: Annotated[
        dict[str, dict[str, Codes]],
        Field(min_length=1),
        About("Files of config/sources, and the codes of each task or language in them."),
    ]
    cleaning: Annotated[Part, About("What is dropped; corpus.json counts it by rule.")]
    split: Annotated[Part, About("Which text is for training, validation and test.")]
    max_shared: Annotated[
        float,
        Field(ge=0, le=1),
        About("Two tasks that share more of their sentences count as the same text."),
    ]
    expected: Annotated[dict[str, Counts], About("How much text each task must have.")]

    def codes(self, source: str, task: str) -> tuple[str, ...]:
        """Return the codes that a source has for a task or the pivot; none where it has no text."""
        return self.sources[source].get(task, ())

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text: languages, checksums and codes, cleaning, split."""
        return super().definition(sources) | {
            "format": self.format,
            "sources": {
                source: {
                    "sha256": sources[source].sha256,
                    "codes": {task: list(codes) for task, codes in codes_of.items()},
                }
                for source, codes_of in self.sources.items()
            },
            "cleaning": self.cleaning.identity(),
            "split": self.split.identity(),
        }


class MessageDataset(BuiltDataset):
    """Pairs of English messages and their translations, from message catalogues."""

    format: Annotated[Literal["gettext"], About("Message catalogues inside wheels.")]
    # Types know no field that is required although its base has a default.
    pivot: Annotated[Language, About("The language of the messages.")]  # pyright: ignore[reportGeneralTypeIssues]
    cleaning: Annotated[MessageCleaning, About("What is dropped.")]
    split: Annotated[KeyHash, About("By the hash of the English sentence.")]


class LineDataset(BuiltDataset):
    """Sentences without pairs, from message catalogues: translations, and the messages."""

    format: Annotated[Literal["gettext_lines"], About("Message catalogues, each side alone.")]
    messages: Annotated[Task, About("The task whose sentences are the messages themselves.")]
    cleaning: Annotated[MessageCleaning, About("What is dropped.")]
    split: Annotated[KeyHash, About("By the hash of the sentence.")]

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text, with the task of the messages."""
        return super().definition(sources) | {"messages": self.messages}


class TalkDataset(BuiltDataset):
    """The TED talks."""

    format: Annotated[Literal["ted"], About("The TED talks archive of Qi et al.")]
    # As above.
    pivot: Annotated[Language, About("The language that all tasks share.")]  # pyright: ignore[reportGeneralTypeIssues]
    cleaning: Annotated[TalkCleaning, About("What is dropped.")]
    split: Annotated[Published, About("As the archive has it.")]


FORMATS: dict[str, type[BuiltDataset]] = {
    "gettext": MessageDataset,
    "gettext_lines": LineDataset,
    "ted": TalkDataset,
}


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
    for task in dataset.languages:
        if task not in dataset.tasks:
            where = file.where(("languages", task))
            yield FathomError(f"no task '{task}'", where, nearest(task, dataset.tasks))
    for task in dataset.tasks:
        if dataset.language(task) == dataset.pivot:
            remedy = "a task's own language must differ from the pivot"
            yield FathomError(f"'{task}' is the pivot", file.where(("tasks",)), remedy)
    if dataset.translates:
        yield from _translates_findings(dataset, file)
    if isinstance(dataset, LineDataset):
        yield from _line_findings(dataset, file)
    if isinstance(dataset, BuiltDataset):
        yield from _source_findings(dataset, sources, file)
        yield from _expected_findings(dataset, file)


def _translates_findings(dataset: Dataset, file: YamlFile) -> Iterator[FathomError]:
    own = sorted({dataset.language(task) for task in dataset.tasks})
    if len(own) > 1 or {*own, dataset.pivot} != set(dataset.translates or ()):
        what = f"the tasks translate {', '.join(own)} from or into {dataset.pivot or 'no pivot'}"
        remedy = "name the pivot and the one language of all tasks, or delete the key"
        yield FathomError(what, file.where(("translates",)), remedy)


def _line_findings(dataset: LineDataset, file: YamlFile) -> Iterator[FathomError]:
    if dataset.pivot is not None:
        remedy = "delete it, or write format: gettext"
        yield FathomError("sentences without pairs have no pivot", file.where(("pivot",)), remedy)
    if dataset.messages not in dataset.tasks:
        where = file.where(("messages",))
        remedy = nearest(dataset.messages, dataset.tasks)
        yield FathomError(f"no task '{dataset.messages}'", where, remedy)


def _source_findings(
    dataset: BuiltDataset, sources: Mapping[str, Source], file: YamlFile
) -> Iterator[FathomError]:
    known = (*dataset.tasks, *([dataset.pivot] if dataset.pivot else ()))
    for source, codes in dataset.sources.items():
        if source not in sources:
            where = file.where(("sources", source))
            yield unknown("source", source, where, sources)
        for task in codes:
            if task not in known:
                where = file.where(("sources", source, task))
                yield FathomError(f"no task '{task}'", where, nearest(task, known))
    for task in dataset.tasks:
        if not any(task in codes for codes in dataset.sources.values()):
            remedy = "give its code under a source"
            yield FathomError(f"no source has text for '{task}'", file.where(("sources",)), remedy)


def _expected_findings(dataset: BuiltDataset, file: YamlFile) -> Iterator[FathomError]:
    for task in dataset.expected:
        if task not in dataset.tasks:
            where = file.where(("expected", task))
            yield FathomError(f"no task '{task}'", where, nearest(task, dataset.tasks))
    for task in dataset.tasks:
        if task not in dataset.expected:
            remedy = "give its counts: they prove that the text is the expected one"
            yield FathomError(f"no counts for '{task}'", file.where(("expected",)), remedy)
