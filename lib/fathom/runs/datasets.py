"""What is fetched (sources) and what is made of it (data sets), as config/ says it."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, nearest
from fathom.io.hashes import identity, short

SPLITS = ("train", "valid", "test")
# The readers stand in a room above; only their names are looked at from here.
_FORMATS = Path(__file__).parents[1] / "data" / "formats"
_MESSAGE_RULES = ("equal_plurals", "max_characters", "max_ratio", "min_ratio", "ratio_from")


@dataclass(frozen=True)
class Source:
    """One file that is fetched, and what it must be.

    `kind` is "package", with `package` and `version`, or "archive", with `mirrors`.
    """

    name: str
    title: str
    kind: str
    file: str
    bytes: int
    sha256: str
    licence: str
    notice: str
    package: str | None = None
    version: str | None = None
    mirrors: tuple[str, ...] = ()

    @classmethod
    def from_mapping(cls, name: str, value: dict[str, Any]) -> "Source":
        """Build a source from a mapping that has passed its schema."""
        return cls(name=name, **value | {"mirrors": tuple(value.get("mirrors", ()))})


@dataclass(frozen=True)
class Cleaning:
    """What is dropped; None where the data set's format has no such rule.

    Lengths are characters, ratios are characters of the translation for each one of the pivot.
    """

    equal_plurals: str | None = None
    max_characters: int | None = None
    max_ratio: float | None = None
    min_ratio: float | None = None
    ratio_from: int | None = None
    missing_marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Split:
    """How pairs are split: "key_hash", with a salt and shares in thousandths, or "published"."""

    by: str
    salt: str = ""
    test_per_mille: int = 0
    valid_per_mille: int = 0


@dataclass(frozen=True)
class Dataset:
    """Tasks with their text.

    Attributes:
        name, title, citation, licence: what it is called, and whose it is.
        format: the reader of its files.
        pivot: the language that all tasks share.
        task_names: the tasks, in the paper's order.
        task_languages: the language of each task whose name is another.
        sources: by source, the codes of each language in it.
        cleaning, split: the rules.
        max_alike: the share of equal sentences above which two languages count as the same text.
        expected: by task and split, a number of pairs, or one as papers print it ("10.0k").
    """

    name: str
    title: str
    citation: str
    licence: str
    format: str
    pivot: str
    task_names: tuple[str, ...]
    task_languages: dict[str, str]
    sources: dict[str, dict[str, tuple[str, ...]]]
    cleaning: Cleaning
    split: Split
    max_alike: float
    expected: dict[str, dict[str, int | str]]

    @classmethod
    def from_mapping(cls, name: str, value: dict[str, Any]) -> "Dataset":
        """Build a data set from a mapping that has passed its schema."""
        marks = tuple(value["cleaning"].get("missing_marks", ()))
        return cls(
            name=name,
            title=value["title"],
            citation=value["citation"],
            licence=value["licence"],
            format=value["format"],
            pivot=value["pivot"],
            task_names=tuple(value["tasks"]),
            task_languages=dict(value.get("languages", {})),
            sources={
                source: {language: tuple(each) for language, each in codes.items()}
                for source, codes in value["sources"].items()
            },
            cleaning=Cleaning(**value["cleaning"] | {"missing_marks": marks}),
            split=Split(**value["split"]),
            max_alike=value["max_alike"],
            expected=value["expected"],
        )

    def languages(self, task: str) -> tuple[str, str]:
        """Return a task's own language and the pivot."""
        return self.task_languages.get(task, task), self.pivot

    def codes(self, source: str, task: str) -> tuple[str, ...]:
        """Return the codes that a source has for a task or the pivot; none where it has no text."""
        return self.sources[source].get(task, ())

    def definition(self, sources: dict[str, Source]) -> dict[str, Any]:
        """Return what determines the corpus, to be hashed: another definition is another corpus.

        Titles, licences and the checks (`expected`, `max_alike`) change no text and stay out.

        Args:
            sources: all sources, by name.
        """
        return {
            "format": self.format,
            "pivot": self.pivot,
            "tasks": [[task, self.languages(task)[0]] for task in self.task_names],
            "sources": {
                source: {
                    "sha256": sources[source].sha256,
                    "codes": {language: list(each) for language, each in codes.items()},
                }
                for source, codes in self.sources.items()
            },
            "cleaning": asdict(self.cleaning)
            | {"missing_marks": list(self.cleaning.missing_marks)},
            "split": asdict(self.split),
        }

    def corpus_folder(self, sources: dict[str, Source]) -> str:
        """Return the name of the corpus's folder: its own and its definition's first digits."""
        return f"{self.name}-{short(identity(self.definition(sources)))}"


def findings(dataset: Dataset, sources: dict[str, Source], file: YamlFile) -> Iterator[FathomError]:
    """Yield what a schema cannot say: names that do not fit each other, rules that are missing.

    Args:
        dataset: the data set as read.
        sources: all sources, by name.
        file: its file.
    """
    formats = sorted(path.stem for path in _FORMATS.glob("[a-z]*.py"))
    if dataset.format not in formats:
        where = file.where(("format",))
        yield FathomError(f"no format '{dataset.format}'", where, nearest(dataset.format, formats))
    yield from _source_findings(dataset, sources, file)
    yield from _task_findings(dataset, file)
    yield from _rule_findings(dataset, file)


def _source_findings(
    dataset: Dataset, sources: dict[str, Source], file: YamlFile
) -> Iterator[FathomError]:
    languages = (*dataset.task_names, dataset.pivot)
    for name, codes in dataset.sources.items():
        if name not in sources:
            where = file.where(("sources", name))
            yield FathomError(f"no source '{name}'", where, nearest(name, sources))
        for language in codes:
            if language not in languages:
                where = file.where(("sources", name, language))
                yield FathomError(f"no task '{language}'", where, nearest(language, languages))
    for task in dataset.task_names:
        if not any(task in codes for codes in dataset.sources.values()):
            remedy = "give its code under a source"
            yield FathomError(f"no source has text for '{task}'", file.where(("sources",)), remedy)


def _task_findings(dataset: Dataset, file: YamlFile) -> Iterator[FathomError]:
    for key, named in (("languages", dataset.task_languages), ("expected", dataset.expected)):
        for task in named:
            if task not in dataset.task_names:
                remedy = nearest(task, dataset.task_names)
                yield FathomError(f"no task '{task}'", file.where((key, task)), remedy)
    for task in dataset.task_names:
        if task not in dataset.expected:
            remedy = "give its counts, which show that the text is the one that is meant"
            yield FathomError(f"no counts for '{task}'", file.where(("expected",)), remedy)
        if dataset.languages(task)[0] == dataset.pivot:
            remedy = "a task's own language must be another than the pivot"
            yield FathomError(f"'{task}' is the pivot", file.where(("tasks",)), remedy)


def _rule_findings(dataset: Dataset, file: YamlFile) -> Iterator[FathomError]:
    split = dataset.split
    if split.test_per_mille + split.valid_per_mille > 1000:
        remedy = "leave something for training"
        yield FathomError("shares over 1000 in all", file.where(("split",)), remedy)
    given = asdict(dataset.cleaning)
    if split.by == "key_hash":
        wanted, other = _MESSAGE_RULES, ("missing_marks",)
    else:
        wanted, other = ("missing_marks",), _MESSAGE_RULES
    for rule in wanted:
        if not given[rule] and given[rule] != 0:
            what = f"the rule '{rule}' is missing for a split by {split.by}"
            yield FathomError(what, file.where(("cleaning",)), "add it; the schema describes it")
    for rule in other:
        if given[rule]:
            what = f"the rule '{rule}' has no effect on a split by {split.by}"
            yield FathomError(what, file.where(("cleaning", rule)), "delete it")
