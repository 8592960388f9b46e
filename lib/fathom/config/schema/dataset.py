"""Data sets: which text of which sources makes which tasks, one card each in config/datasets.

The class of a card follows its `format`, which is also the name of its reader in data/readers. A
card with `not_built` describes a data set that no reader makes yet.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from fathom.config.schema.package_reads import Read
from fathom.config.schema.source import Source
from fathom.config.schema.text_rules import (
    ArticleCleaning,
    ByFile,
    Counts,
    HeldOut,
    KeyHash,
    LineNumbers,
    MessageCleaning,
    Names,
    NoCleaning,
    Published,
    TalkCleaning,
    number_of,
)
from fathom.config.section import AsTuple, Doc, Section, plain
from fathom.io.records import identity, short

SPLITS = ("train", "valid", "test")

Task = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,63}$")]
Language = Annotated[str, Field(pattern="^[a-z]{2,3}$")]
Codes = Annotated[tuple[str, ...], *Names]


class Dataset(Section):
    """Tasks and their languages: what every card has."""

    name: Annotated[str, Doc("The name of the card's file.")]
    title: Annotated[str, Doc("What the data set is, in one line.")]
    citation: Annotated[str, Doc("Where it is from, as a text would cite it.")]
    licence: Annotated[str, Doc("The terms of its text.")]
    tasks: Annotated[tuple[Task, ...], *Names, Doc("The tasks, in the paper's order.")]
    languages: Annotated[
        dict[str, Language],
        Field(default_factory=dict),
        Doc("The language of each task that has another name."),
    ]
    pivot: Annotated[
        Language | None, Doc("The language that all tasks share; without it there are no pairs.")
    ] = None
    translates: Annotated[
        Annotated[tuple[Language, Language], AsTuple] | None,
        Doc("Source and target language, where all tasks have the same two."),
    ] = None
    shown_as: Annotated[
        dict[str, str],
        Field(default_factory=dict),
        Doc("What tables and figures call a task whose text is not what its name says."),
    ]

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

    @property
    def not_built(self) -> str:
        """Why the text cannot be made yet; empty where it can."""
        return ""


class PlannedDataset(Dataset):
    """A data set that no reader makes yet; a run on it is refused with the reason."""

    reason: Annotated[str, Field(alias="not_built"), Doc("Why the text cannot be made yet.")]

    @property
    def not_built(self) -> str:
        """Why the text cannot be made yet."""
        return self.reason

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what is known of the text: tasks, languages, and the name for all else."""
        return super().definition(sources) | {"not_built": self.name}


class BuiltDataset(Dataset):
    """A data set that a reader makes: its sources, its rules, and what must come out."""

    format: Annotated[str, Doc("The reader of its files: a file of lib/fathom/data/readers.")]
    sources: Annotated[
        dict[str, dict[str, Codes]],
        Field(min_length=1),
        Doc("Files of config/sources, and the codes of each task or language in them."),
    ]
    cleaning: Annotated[Section, Doc("What is dropped; corpus.json counts it by rule.")]
    split: Annotated[Section, Doc("Which text is for training, validation and test.")]
    max_shared: Annotated[
        float,
        Field(ge=0, le=1),
        Doc("Two tasks that share more of their sentences count as the same text."),
    ]
    expected: Annotated[dict[str, Counts], Doc("How much text each task must have.")]

    # The splits that tell whether two tasks have the same text.
    compared: ClassVar[tuple[str, ...]] = SPLITS

    @property
    def texts(self) -> tuple[str, ...]:
        """The names of the texts: the tasks, but one name for those that share a text."""
        return tuple(dict.fromkeys(self.text_of(task) for task in self.tasks))

    def text_of(self, task: str) -> str:
        """Return the name of the text that a task has."""
        return task

    def codes(self, source: str, text: str) -> tuple[str, ...]:
        """Return the codes that a source has for a text or the pivot; none where it has no text."""
        return self.sources[source].get(text, ())

    def training_lines(self) -> int | None:
        """Return how many lines all tasks have for training, as the card says; None without."""
        if not self.expected:
            return None
        return sum(number_of(self.expected[task].train)[0] for task in self.tasks)

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text: languages, checksums and codes, cleaning, split."""
        return super().definition(sources) | {
            "format": self.format,
            "sources": {
                source: sources[source].identity()
                | {"codes": {task: list(codes) for task, codes in codes_of.items()}}
                for source, codes_of in self.sources.items()
            },
            "cleaning": self.cleaning.identity(),
            "split": self.split.identity(),
        }


class DealtDataset(BuiltDataset):
    """A data set in which several tasks may share a text."""

    parts: Annotated[
        dict[Task, Annotated[tuple[Task, ...], *Names]],
        Field(default_factory=dict),
        Doc(
            "Texts of several tasks: each task has a part of the training text, and all have the "
            "same validation and test."
        ),
    ]

    def text_of(self, task: str) -> str:
        """Return the name of the text that a task has, all of it or a part."""
        return next((text for text, tasks in self.parts.items() if task in tasks), task)

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text, with the tasks that share one."""
        parts = {"parts": plain(self.parts)} if self.parts else {}
        return super().definition(sources) | parts


class PackageDataset(DealtDataset):
    """Texts inside packages, in pairs or each language alone."""

    format: Annotated[Literal["packages"], Doc("Packages, each read in its own way.")]
    sides: Annotated[
        Literal["pairs", "alone"],
        Doc("pairs: translations and English; alone: each language's sentences, without pairs."),
    ] = "pairs"
    messages: Annotated[
        Task | None, Doc("Where sides are alone: the task of the English texts themselves.")
    ] = None
    reads: Annotated[
        dict[str, Read],
        Field(default_factory=dict),
        Doc("How each source is read: po, mo, json or verses; without this key all are po."),
    ]
    cleaning: Annotated[MessageCleaning, Doc("What is dropped.")]
    split: Annotated[KeyHash, Doc("By the hash of the English sentence, or of the one alone.")]

    @property
    def english(self) -> str:
        """The name under which sources have the codes of English."""
        return self.pivot or self.messages or ""

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text; `format` is hashed by four names of old."""
        alone = self.sides == "alone"
        reads = {"reads": plain(self.reads)} if self.reads else {}
        messages = {"messages": self.messages} if alone else {}
        pairs = "packages" if self.reads else "gettext"
        lines = "package_lines" if self.reads else "gettext_lines"
        hashed = {"format": lines if alone else pairs}
        return super().definition(sources) | hashed | messages | reads


class TalkDataset(BuiltDataset):
    """The TED talks."""

    format: Annotated[Literal["ted"], Doc("The TED talks archive of Qi et al.")]
    # As above.
    pivot: Annotated[Language, Doc("The language that all tasks share.")]  # pyright: ignore[reportGeneralTypeIssues]
    cleaning: Annotated[TalkCleaning, Doc("What is dropped.")]
    split: Annotated[Published, Doc("As the archive has it.")]


class NumberedDataset(DealtDataset):
    """Pairs of plain text, chosen by the published numbers of their lines."""

    format: Annotated[
        Literal["line_numbers"], Doc("Plain text on two sides, and numbers of lines.")
    ]
    # As above.
    pivot: Annotated[Language, Doc("The language that all tasks share.")]  # pyright: ignore[reportGeneralTypeIssues]
    cleaning: Annotated[NoCleaning, Doc("What is dropped.")] = NoCleaning()
    split: Annotated[LineNumbers, Doc("By published numbers of lines.")]

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text, with the order in which the lines are counted."""
        return super().definition(sources) | {"order": [*self.sources]}


class ParallelDataset(BuiltDataset):
    """Pairs of plain text or of sgm, in a file for each side."""

    format: Annotated[Literal["parallel"], Doc("Text or sgm with a file for each side.")]
    # As above.
    pivot: Annotated[Language, Doc("The language that all tasks share.")]  # pyright: ignore[reportGeneralTypeIssues]
    pieces: Annotated[
        Literal["marked"] | None,
        Doc("marked: the text comes cut into pieces; `@@` ends each but the last of a word."),
    ] = None
    cleaning: Annotated[NoCleaning, Doc("What is dropped.")] = NoCleaning()
    split: Annotated[ByFile, Doc("By file.")]

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text, with how it is cut into pieces."""
        return super().definition(sources) | ({"pieces": self.pieces} if self.pieces else {})


class WikipediaDataset(BuiltDataset):
    """Sentences of Wikipedia's articles, without pairs; how many there are is not known before."""

    format: Annotated[Literal["wikipedia"], Doc("The published plain text of Wikipedia.")]
    cleaning: Annotated[ArticleCleaning, Doc("What is dropped.")]
    split: Annotated[HeldOut, Doc("By the hashes of sentences.")]
    expected: Annotated[
        dict[str, Counts],
        Field(default_factory=dict),
        Doc("How much text a task must have, where that is known."),
    ]

    # Equal texts hold out equal sentences, and all others need not fit into memory.
    compared: ClassVar[tuple[str, ...]] = SPLITS[1:]

    def training_lines(self) -> int | None:
        """Return how many lines all tasks have for training at most; None without a limit."""
        limits = [self.split.most(task) for task in self.tasks]
        return None if None in limits else sum(filter(None, limits))


FORMATS: dict[str, type[BuiltDataset]] = {
    "line_numbers": NumberedDataset,
    "packages": PackageDataset,
    "parallel": ParallelDataset,
    "ted": TalkDataset,
    "wikipedia": WikipediaDataset,
}
