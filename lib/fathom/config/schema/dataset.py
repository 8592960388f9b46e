"""Data sets: which text of which sources makes which tasks, one card each in config/datasets.

The class of a card follows its `format`, which is also the name of its reader in data/readers. A
card with `not_built` describes a data set that no reader makes yet.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Annotated, Any, ClassVar, Generic, Literal

from annotated_types import Ge, Le, MinLen
from pydantic import AfterValidator, Field, PrivateAttr, model_validator

from fathom.config.schema.section import (
    AsTuple,
    Count,
    Doc,
    Pattern,
    Section,
    T,
    Text,
    UnhashedValue,
    Unique,
    plain,
)
from fathom.config.schema.source import Source
from fathom.config.yaml_values import Key, Value
from fathom.io.errors import FathomError, nearest, unknown
from fathom.io.records import identity, short

SPLITS = ("train", "valid", "test")
# The key at fault, what is wrong, and what to write.
Fault = tuple[Key, str, str]
# The names of a task's files, in their order, by task.
FilesOfTask = Mapping[str, dict[str, None]]

Task = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,63}$")]
Tasks = Unique[Task]
Language = Annotated[str, Field(pattern="^[a-z]{2,3}$")]
Codes = Unique[str]
Texts = Unique[Text]
# Of pairs; sentences without pairs have none.
PIVOT = "The language that all tasks share."
PerMille = Annotated[int, Ge(0), Le(1000)]


def _not_of_pieces(part: str) -> str:
    if part == "pieces":
        raise ValueError("`13a_pieces` is BLEU against joined pieces; choose another name")
    return part


# Of a test set; it is written into names of files and keys of measurements.
Part = Annotated[str, Pattern("^[a-z][a-z0-9]*$", "filtered"), AfterValidator(_not_of_pieces)]
# Exactly, or as papers print it.
Size = Annotated[int, Ge(0)] | Annotated[str, Pattern(r"^[0-9]+(\.[0-9]+)?[kM]$", "5.64k")]
# Stands for a task's name in a pivot's file, where each task has a file of its own.
TASK = "<task>"
Salt = Annotated[Text, Doc("Hashed before the text; another salt, another split.")]
Clean = Annotated[bool, Doc("Whether pairs of validation and test are left out of training.")]


def number_of(size: int | str) -> tuple[int, int]:
    """Return a size, or thousands (k) or millions (M), as a number and a unit of its last digit."""
    if isinstance(size, int):
        return size, 1
    integer, _, decimals = size[:-1].partition(".")
    unit = 10 ** ({"k": 3, "M": 6}[size[-1]] - len(decimals))
    return int(integer + decimals) * unit, unit


class Splits(Section, Generic[T]):
    """Something of each split."""

    train: T = Doc("For training.")
    valid: T = Doc("For validation.")
    test: T = Doc("For test.")


# What must come out


class Counts(Splits[Size]):
    """How many pairs or sentences a task has, exactly or as papers print it: 5.64k, 4.5M."""

    parts: dict[str, Size] = Doc("Of the test set's parts, by name.", {})


# What is dropped


class MessageCleaning(Section):
    """What is dropped of message catalogues; lengths are characters."""

    equal_plurals: Literal["both", "plural"] = Doc(
        "Pairs of a message with equal translations for one and for many: both, or one."
    )
    max_characters: Count = Doc("The most characters of either side.")
    max_ratio: Annotated[float, Ge(1)] = Doc("Most characters of the other side per English one.")
    min_ratio: Annotated[float, Ge(0), Le(1)] = Doc("The fewest characters of it per English one.")
    ratio_from: Count = Doc("English characters from which on ratios count.")


class ArticleCleaning(Section):
    """What is dropped of the sentences of articles."""

    max_characters: Count = Doc("The most characters of a sentence.")


class TalkCleaning(Section):
    """What is dropped of the TED talks."""

    missing_marks: Texts = Doc("Text that marks a cell without translation, anywhere in the cell.")


class NoCleaning(Section):
    """Nothing is dropped but pairs of the training text without text on one side."""


# How text is cut into pieces, and what proves it to be another text


class MosesPieces(Section):
    """Moses tokens, cut by one BPE that is learned from the training text of all languages.

    Only training pairs are dropped. The recipe, and who made it: data/pieces.py.
    """

    merges: Count = Doc("Merges of the BPE.")
    max_words: Count = Doc("The most tokens of either side.")
    max_ratio: Annotated[float, Ge(1)] = Doc("The most tokens of one side per token of the other.")


class Proof(Section):
    """Counts by which a text that was made again is known to be that of another data set."""

    text_of: str = Doc("The data set that has the text.")
    lines: Count = Doc("Its pairs for training.")
    entries: Count = Doc("Entries of its dictionary, joined and made as `fairseq-preprocess` does.")
    threshold: Count = Doc("How often a piece of this dictionary occurs at least.")

    @property
    def wanted(self) -> dict[str, int]:
        """The counts by name, and the threshold with which entries are counted."""
        return self.model_dump(exclude={"text_of"})

    def doubt(self, found: Mapping[str, int]) -> str:
        """Return which counts of a text are not those wanted, in words; empty if all are."""
        if found.keys() != self.wanted.keys():
            return f"nobody has counted yet whether its text is that of {self.text_of}"
        return " and ".join(
            f"{found[name]:,} {name} in place of {count:,}"
            for name, count in self.wanted.items()
            if found[name] != count
        )


# How text is split


class KeyHash(Section):
    """A split by the SHA-256 of salt and normalised sentence, the same for all tasks."""

    by: Literal["key_hash"] = Doc("By the hash of the normalised sentence.")
    salt: Salt
    test_per_mille: PerMille = Doc("Thousandths of the sentences that are for test.")
    valid_per_mille: PerMille = Doc("Thousandths that are for validation.")

    @model_validator(mode="after")
    def _leaves_some_for_training(self) -> "KeyHash":
        if self.test_per_mille + self.valid_per_mille > 1000:
            raise ValueError("shares over 1000 in all; leave something for training")
        return self


class Published(Section):
    """The split of the source."""

    by: Literal["published"] = Doc("As the source has it.")


class LineNumbers(Section):
    """A split by published numbers of lines, which count from 0."""

    by: Literal["line_numbers"] = Doc("By published numbers of lines.")
    source: str = Doc("The source that has the files of numbers, one on each line.")
    files: Annotated[dict[str, Splits[Text]], MinLen(1)] = Doc(
        "Each task's files, by ends of paths."
    )
    clean: Clean = False


class ByFile(Section):
    """A split by file: some are for validation, some for test, all others for training."""

    by: Literal["file"] = Doc("By file.")
    valid: Texts = Doc("For validation, by name on the task's side.")
    test: Texts = Doc("For test, by name on the task's side.")
    clean: bool | Literal["pivots"] = Doc(
        "Whether a pair that is also in validation or test is left out of training; pivots: every "
        "pair whose normalised pivot sentence is there, for any task, and every unusable one.",
        False,
    )
    parts: Annotated[dict[Part, Texts], UnhashedValue({})] = Doc(
        "Files with some of the test pairs, in their order, which are scored alone too; by the "
        "name of the part.",
        {},
    )

    def split_of(self, name: str) -> str | None:
        """Return the split of a file of the task's side; None for one of a part of the test set."""
        if any(name in files for files in self.parts.values()):
            return None
        return "valid" if name in self.valid else "test" if name in self.test else "train"


class PairsByHash(Section):
    """Pairs whose pivot sentences have the least hashes are held out, as many as are named.

    All pairs of all tasks with an equal normalised pivot sentence are in one split. Before it,
    pairs without text on one side, with equal sides, and repeated ones are dropped.
    """

    by: Literal["pairs_by_hash"] = Doc("By the hash of the normalised pivot sentence.")
    salt: Salt
    valid: Count = Doc("Pairs of each task for validation.")
    test: Count = Doc("Pairs of each task for test.")


class HeldOut(Section):
    """Of the sentences that are read, those with the least hashes are held out."""

    by: Literal["held_out"] = Doc("Some distinct sentences are held out, by hash.")
    salt: Salt
    valid: Count = Doc("Sentences for validation.")
    test: Count = Doc("Sentences for test.")
    train: dict[str, Size] = Doc(
        "The most sentences for training of each task; without a number all are taken.", {}
    )

    @property
    def held_out(self) -> int:
        """How many sentences are not for training."""
        return self.valid + self.test

    def most(self, task: str) -> int | None:
        """Return how many sentences a task has for training at most."""
        return number_of(self.train[task])[0] if task in self.train else None


# How packages are read


class JsonFiles(Section):
    """JSON in the folders of one name, with a file for each language."""

    kind: Literal["json"] = Doc("JSON with a file for each language.")
    folder: Text = Doc("Files below folders of this name are read; `a/b` is b inside a.")

    def identity(self) -> dict[str, Any]:
        """Return what is hashed, with settings that are gone as all cards had them."""
        return super().identity() | {"without": [], "key": None}


class Verses(Section):
    """Verses of a Bible in a SQLite database; codes are versions."""

    kind: Literal["verses"] = Doc("Verses of a Bible in a SQLite database.")
    database: Text = Doc("The database's path in the package.")
    books: Unique[Count] = Doc("The books that are read, by number: Genesis is 1, Matthew 40.")


# A word is the kind alone, without settings.
Read = Literal["po", "mo", "json"] | Annotated[JsonFiles | Verses, Field(discriminator="kind")]


# Data sets


class Dataset(Section):
    """Tasks and their languages: what every card has.

    One that no reader makes yet has no more than these; a run on it is refused with the reason.
    """

    name: str = Doc("The name of the card's file.")
    title: str = Doc("What the data set is, in one line.")
    citation: str = Doc("Where it is from, as a text would cite it.")
    licence: str = Doc("The terms of its text.")
    tasks: Tasks = Doc("The tasks, in the paper's order.")
    languages: dict[str, Language] = Doc("Languages of tasks with another name.", {})
    pivot: Language | None = Doc("The language that all tasks share; null: no pairs.", None)
    translates: Annotated[tuple[Language, Language], AsTuple] | None = Doc(
        "Source and target language, where all tasks have the same two.", None
    )
    shown_as: dict[str, str] = Doc(
        "What tables and figures call a task whose text is not what its name says.", {}
    )
    not_built: Text | None = Doc("Why no reader makes the text yet; in place of `format`.", None)

    # With the places of its keys; a paper's folder may have it.
    _file: Value = PrivateAttr(Value({}, "data set"))

    # Keys that determine the text, besides those of every card and those that the class of a plugin
    # adds; an empty value is not hashed.
    hashed: ClassVar[tuple[str, ...]] = ()

    def built(self) -> "BuiltDataset":
        """Return the data set if a reader makes it, or refuse it with the reason."""
        if isinstance(self, BuiltDataset):
            return self
        what = f"'{self.name}' is not built: {self.not_built}"
        remedy = "choose another data set, or a scale that substitutes it"
        raise FathomError(what, self.place("not_built"), remedy)

    def place(self, *keys: str) -> str:
        """Return the place of a key of the card, as messages print it."""
        return self._file.place(*keys)

    def language(self, task: str) -> str:
        """Return the language of a task."""
        return self.languages.get(task, task)

    def languages_of(self, task: str) -> tuple[str, ...]:
        """Return the languages of a task's text: the task's, then the pivot if there is one."""
        return (self.language(task), *([self.pivot] if self.pivot else []))

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text; it is hashed into the name of the corpus's folder.

        Titles, licences and the checks (`expected`, `max_shared`) change no text and stay out.
        """
        tasks = [[task, self.language(task)] for task in self.tasks]
        classes = [each for each in type(self).__mro__ if issubclass(each, Dataset)]
        ours = (each.model_fields for each in classes if each.__module__ == __name__)
        added = type(self).model_fields.keys() - {*chain(*ours)}  # by the class of a plugin
        keys = [key for key in ("pivot", "translates", *self.hashed) if getattr(self, key)]
        keys += [key for key in added - {*keys} if getattr(self, key) not in (None, "", (), [], {})]
        known = {"tasks": tasks} | {key: plain(getattr(self, key)) for key in keys}
        # Of text that no reader makes the name stands for all else.
        return known | ({"not_built": self.name} if self.not_built else {})

    def corpus_folder(self, sources: Mapping[str, Source]) -> str:
        """Return the name of the corpus's folder: `<name>-<hash8>`."""
        return f"{self.name}-{short(identity(self.definition(sources)))}"

    def faults(self, sources: Mapping[str, Source]) -> Iterator[Fault]:
        """Yield names that do not exist or do not agree with each other."""
        for key in ("languages", "shown_as"):
            yield from _unknown("task", getattr(self, key), self.tasks, key)
        for task in self.tasks:
            if self.language(task) == self.pivot:
                remedy = "a task's own language must differ from the pivot"
                yield ("tasks",), f"'{task}' is the pivot", remedy
        languages = sorted({self.language(task) for task in self.tasks})
        if self.translates and {*languages, self.pivot} != {*self.translates}:
            pivot = self.pivot or "no pivot"
            what = f"the tasks translate {', '.join(languages)} from or into {pivot}"
            remedy = "name the pivot and the one language of all tasks, or delete the key"
            yield ("translates",), what, remedy


class BuiltDataset(Dataset):
    """A data set that a reader makes: its sources, its rules, and what must come out."""

    format: str = Doc("The reader of its files: a file of lib/fathom/data/readers.")
    sources: Annotated[dict[str, dict[str, Codes]], MinLen(1)] = Doc(
        "Files of config/sources, and the codes of each task or language in them."
    )
    cleaning: Section = Doc("What is dropped; corpus.json counts it by rule.")
    split: Section = Doc("Which text is for training, validation and test.")
    max_shared: Annotated[float, Ge(0), Le(1)] = Doc(
        "Two tasks that share more of their sentences count as the same text."
    )
    expected: dict[str, Counts] = Doc("How much text each task must have.")

    # Whether the text of a task follows from its own codes alone, so that each can be prepared
    # alone. A split by a pivot's sentences and a check against all tasks' test need all of them.
    independent: ClassVar[bool] = False

    def alone(self, task: str) -> "BuiltDataset":
        """Return the data set of one of several independent tasks."""
        if not self.independent:
            remedy = f"run `fathom prepare {self.name}`"
            raise FathomError(f"the tasks of '{self.name}' are prepared together", task, remedy)
        if task not in self.tasks:
            raise unknown("task", task, self.place("tasks"), self.tasks)
        sources = {name: codes for name, codes in self.sources.items() if task in codes}
        expected = {name: counts for name, counts in self.expected.items() if name == task}
        changes = {"tasks": (task,), "sources": sources, "expected": expected}
        return self.model_copy(update=changes)

    @property
    def texts(self) -> tuple[str, ...]:
        """The names of the texts: the tasks, but one name for those that share a text."""
        return tuple(dict.fromkeys(self.text_of(task) for task in self.tasks))

    def text_of(self, task: str) -> str:
        """Return the name of the text that a task has."""
        return task

    def codes(self, source: str, text: str) -> tuple[str, ...]:
        """Return the codes that a source has for a text or the pivot; none if it has no text."""
        return self.sources[source].get(text, ())

    def lines(self, split: str) -> int | None:
        """Return how many lines all tasks have of a split, as the card says; None without."""
        if not self.expected:
            return None
        return sum(number_of(getattr(self.expected[task], split))[0] for task in self.tasks)

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text: languages, checksums and codes, cleaning, split."""
        codes = {source: {"codes": plain(codes)} for source, codes in self.sources.items()}
        return super().definition(sources) | {
            "format": self.format,
            "sources": {source: sources[source].identity() | codes[source] for source in codes},
            "cleaning": self.cleaning.identity(),
            "split": self.split.identity(),
        }

    def faults(self, sources: Mapping[str, Source]) -> Iterator[Fault]:
        """Yield what is wrong, also with sources, texts and counts."""
        yield from super().faults(sources)
        yield from _unknown("source", self.sources, sources, "sources")
        for source, codes in self.sources.items():
            yield from _unknown("task", codes, (*self.texts, self.pivot), "sources", source)
        for text in self.texts:
            if not any(text in codes for codes in self.sources.values()):
                remedy = "give its code under a source"
                yield ("sources",), f"no source has text for '{text}'", remedy
        yield from _unknown("task", self.expected, self.tasks, "expected")
        if type(self).model_fields["expected"].is_required():
            for task in self.tasks:
                if task not in self.expected:
                    remedy = "give its counts: they prove that the text is the expected one"
                    yield ("expected",), f"no counts for '{task}'", remedy


class _Dealt(BuiltDataset):
    """A data set in which several tasks may share a text."""

    parts: dict[Task, Tasks] = Doc(
        "Texts of several tasks: each task has a part of the training text, and all have the "
        "same validation and test.",
        {},
    )
    hashed = ("parts",)

    def text_of(self, task: str) -> str:
        """Return the name of the text that a task has, all of it or a part."""
        return next((text for text, tasks in self.parts.items() if task in tasks), task)

    def faults(self, sources: Mapping[str, Source]) -> Iterator[Fault]:
        """Yield what is wrong, also parts that are no tasks or are of two texts or languages."""
        yield from super().faults(sources)
        for text, tasks in self.parts.items():
            key = ("parts", text)
            if text in self.tasks:
                yield key, f"'{text}' is a task", "give the text another name than its tasks"
            for task in tasks:
                if task not in self.tasks:
                    yield key, f"no task '{task}'", nearest(task, self.tasks)
                elif self.text_of(task) != text:
                    what = f"'{task}' is already a part of '{self.text_of(task)}'"
                    yield key, what, "delete one of the two"
            if len({self.language(task) for task in tasks}) > 1:
                yield key, f"the tasks of '{text}' have several languages", "name tasks of one"


class PackageDataset(_Dealt):
    """Texts inside packages, in pairs or each language alone."""

    format: Literal["packages"] = Doc("Packages, each read in its own way.")
    sides: Literal["pairs", "alone"] = Doc(
        "pairs: translations and English; alone: each language's sentences, without pairs.", "pairs"
    )
    messages: Task | None = Doc("Of sides alone: the task of the English texts.", None)
    reads: dict[str, Read] = Doc(
        "How each source is read: po, mo, json or verses; without this key all are po.", {}
    )
    cleaning: MessageCleaning = Doc("What is dropped.")
    split: KeyHash = Doc("By the hash of the English sentence, or of the one alone.")

    hashed = ("parts", "messages", "reads")

    @property
    def english(self) -> str:
        """The name under which sources have the codes of English."""
        return self.pivot or self.messages or ""

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text; `format` is hashed by four names of old."""
        pairs, alone = ("packages", "package_lines") if self.reads else ("gettext", "gettext_lines")
        old = {"format": alone if self.sides == "alone" else pairs}
        return super().definition(sources) | old

    def faults(self, sources: Mapping[str, Source]) -> Iterator[Fault]:
        """Yield what is wrong, also sides without what they need, and what nothing reads."""
        yield from super().faults(sources)
        if self.sides == "alone":
            yield from _needless_pivot(self)
            if self.messages not in self.tasks:
                name = self.messages or ""
                yield ("messages",), f"no task '{name}'", nearest(name, self.tasks)
        elif self.pivot is None:
            yield ("pivot",), "no value is given", "add the language of the messages"
        elif self.messages is not None:
            yield ("messages",), "pairs have no such task", "delete it"
        yield from _unknown("source", self.reads, self.sources, "reads")
        for source in self.sources if self.reads else ():
            if source not in self.reads:
                remedy = "add it to `reads`: po, mo, json or verses"
                yield ("reads",), f"nothing says how '{source}' is read", remedy
                continue
            # All but catalogues, where English is the messages and not a language like the others.
            needed = self.reads[source] not in ("po", "mo")
            if needed and len(self.codes(source, self.english)) != 1:
                remedy = f"add {self.english}: [code]"
                yield ("sources", source), f"'{source}' needs one code of English", remedy


class TalkDataset(BuiltDataset):
    """The TED talks of Qi et al., whose tokens are joined to natural text."""

    format: Literal["ted"] = Doc("The TED talks of Qi et al.")
    pivot: Language = Doc(PIVOT)
    cleaning: TalkCleaning = Doc("What is dropped.")
    split: Published = Doc("As the source has it.")
    rebuilds: str | None = Doc(
        "The data set whose text this is but for some lines. Cells are judged, as of rebuilt text.",
        None,
    )
    rows: Splits[Count] = Doc(
        "The rows of each source, all languages together; others are refused."
    )

    def definition(self, sources: Mapping[str, Source]) -> dict[str, Any]:
        """Return what determines the text; its form is named, since it was once of tokens."""
        return super().definition(sources) | {"text": "natural"}


class NumberedDataset(_Dealt):
    """Pairs of plain text, chosen by the published numbers of their lines."""

    format: Literal["line_numbers"] = Doc("Plain text on two sides, and numbers of lines.")
    pivot: Language = Doc(PIVOT)
    cleaning: NoCleaning = Doc("What is dropped.", NoCleaning())
    split: LineNumbers = Doc("By published numbers of lines.")
    least_lines: dict[str, Count] = Doc(
        "How many lines a text has at least, in all its files: one more than the greatest number. "
        "Fewer are refused, and 0.1 % more are a warning: another release has other numbers.",
        {},
    )
    hashed = ("parts", "order")

    @property
    def order(self) -> tuple[str, ...]:
        """The order in which the sources' lines are counted."""
        return tuple(self.sources)

    def faults(self, sources: Mapping[str, Source]) -> Iterator[Fault]:
        """Yield what is wrong, also tasks without numbers, and numbers without a task."""
        yield from super().faults(sources)
        if self.split.source not in self.sources:
            what = f"no source '{self.split.source}'"
            yield ("split", "source"), what, nearest(self.split.source, self.sources)
        # Names of the pivot's files are given where they do not follow from those of a text.
        yield from _unpaired(self, [name for name in self.sources if self.codes(name, self.pivot)])
        yield from _unknown("task", self.split.files, self.tasks, "split", "files")
        yield from _unknown("text", self.least_lines, self.texts, "least_lines")
        for task in self.tasks:
            if task not in self.split.files:
                yield ("split", "files"), f"no files for '{task}'", "give its files of numbers"


class ParallelDataset(BuiltDataset):
    """Pairs of plain text or of sgm, in a file for each side."""

    format: Literal["parallel"] = Doc("Text or sgm with a file for each side.")
    pivot: Language = Doc(PIVOT)
    pieces: Literal["marked"] | MosesPieces | None = Doc(
        "marked: the text comes cut into pieces; `@@` ends each but the last of a word. With "
        "`merges` it is cut so here.",
        None,
    )
    proof: Proof | None = Doc("What proves that the text is that of another data set.", None)
    cleaning: NoCleaning = Doc("What is dropped.", NoCleaning())
    split: Annotated[ByFile | PairsByHash, Field(discriminator="by")] = Doc(
        "By file, or by the hash of the pivot's sentences."
    )
    hashed = ("pieces",)

    def files(self, task: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield source and name of each file of a task, with the pivot's file of the same text."""
        for source in self.sources:
            pivots = self.codes(source, self.pivot)
            for own, of_pivot in zip(self.codes(source, task), pivots, strict=False):
                yield source, (own, of_pivot.replace(TASK, task))

    def faults(self, sources: Mapping[str, Source]) -> Iterator[Fault]:
        """Yield what is wrong, also files without their other side or that no source has."""
        yield from super().faults(sources)
        yield from _unpaired(self, self.sources)
        if isinstance(self.pieces, MosesPieces) and not isinstance(self.split, ByFile):
            what = "pieces are learned from training text, which is not known before they are"
            yield ("split", "by"), what, "write file"
        if self.proof and not self.pieces:
            yield ("proof",), "the text is not in pieces, so it has no entries", "give `pieces`"
        if isinstance(self.split, ByFile):
            of_task = {
                task: dict.fromkeys(chain(*(self.codes(source, task) for source in self.sources)))
                for task in self.tasks
            }
            yield from self._faults_of_files(self.split, of_task)
            yield from self._faults_of_parts(self.split, of_task)

    def _faults_of_files(self, split: ByFile, of_task: FilesOfTask) -> Iterator[Fault]:
        """Yield what is wrong with the files that a split names."""
        names = dict.fromkeys(chain(*of_task.values()))
        files: dict[Key, tuple[str, ...]] = {("valid",): split.valid, ("test",): split.test}
        files |= {("parts", part): of_part for part, of_part in split.parts.items()}
        for key, of_key in files.items():
            for name in of_key:
                if name not in names:
                    yield ("split", *key), f"no file '{name}'", nearest(name, names)

    def _faults_of_parts(self, split: ByFile, of_task: FilesOfTask) -> Iterator[Fault]:
        """Yield what is wrong with the parts of the test set, and with the counts of parts."""
        names = {*chain(*of_task.values())}
        for part, of_part in split.parts.items():
            key = ("split", "parts", part)
            for name in of_part:
                if name in (*split.valid, *split.test):
                    what = f"'{name}' is a file of validation or test"
                    yield key, what, "name a file that has some of the test pairs alone"
            for task in self.tasks:
                if names >= {*of_part} and not {*of_part} & of_task[task].keys():
                    yield key, f"no file of '{task}'", "name a file of each task"
        for task, counts in self.expected.items():
            for part in counts.parts:
                if part not in split.parts:
                    key = ("expected", task, "parts", part)
                    yield key, f"no part '{part}'", nearest(part, split.parts)


class WikipediaDataset(BuiltDataset):
    """Sentences of Wikipedia's articles, without pairs; how many there are is not known before."""

    format: Literal["wikipedia"] = Doc("The published plain text of Wikipedia.")
    cleaning: ArticleCleaning = Doc("What is dropped.")
    split: HeldOut = Doc("By the hashes of sentences.")
    expected: dict[str, Counts] = Doc("How much text a task must have, if known.", {})

    independent: ClassVar[bool] = True

    def lines(self, split: str) -> int | None:
        """Return how many lines all tasks have of a split at most; None without a limit."""
        if split != "train":
            return getattr(self.split, split) * len(self.tasks)
        limits = [self.split.most(task) for task in self.tasks]
        return None if None in limits else sum(filter(None, limits))

    def faults(self, sources: Mapping[str, Source]) -> Iterator[Fault]:
        """Yield what is wrong, also a pivot, tasks of several wikis, and limits of no task."""
        yield from super().faults(sources)
        yield from _needless_pivot(self)
        for task in self.tasks:
            wikis = [code for source in self.sources for code in self.codes(source, task)]
            if len(wikis) > 1:
                what = f"{len(wikis)} wikis of '{task}': {', '.join(wikis)}"
                yield ("sources",), what, "give each task one code"
        yield from _unknown("task", self.split.train, self.tasks, "split", "train")


FORMATS: dict[str, type[BuiltDataset]] = {
    "line_numbers": NumberedDataset,
    "packages": PackageDataset,
    "parallel": ParallelDataset,
    "ted": TalkDataset,
    "wikipedia": WikipediaDataset,
}


def _unknown(
    kind: str, names: Iterable[str], valid: Iterable[str | None], *path: str
) -> Iterator[Fault]:
    """Yield the names at a path that do not exist, with the nearest valid one."""
    valid_names = [name for name in valid if name]
    for name in names:
        if name not in valid_names:
            yield (*path, name), f"no {kind} '{name}'", nearest(name, valid_names)


def _unpaired(dataset: BuiltDataset, sources: Iterable[str]) -> Iterator[Fault]:
    """Yield each source that has not as many files of a text as of the pivot."""
    for source in sources:
        english = len(dataset.codes(source, dataset.pivot or ""))
        for text in dataset.texts:
            files = dataset.codes(source, text)
            if files and len(files) != english:
                what = f"{len(files)} files of '{text}' and {english} of '{dataset.pivot}'"
                yield ("sources", source), what, "name a file for each side"


def _needless_pivot(dataset: Dataset) -> Iterator[Fault]:
    if dataset.pivot is not None:
        yield ("pivot",), "sentences without pairs have no pivot", "delete it"
