"""The rules of a data set's text: what is dropped, how it is split, how much must come out."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from fathom.config.schema.types import unique
from fathom.config.section import AsTuple, Doc, Pattern, Section

PerMille = Annotated[int, Field(ge=0, le=1000)]
Count = Annotated[int, Field(ge=0)] | Annotated[str, Pattern(r"^[0-9]+(\.[0-9]+)?[kM]$", "5.64k")]


Members = tuple[Annotated[str, Field(min_length=1)], ...]
Names = (AsTuple, Field(min_length=1), AfterValidator(unique))


class MessageCleaning(Section):
    """What is dropped of message catalogues; lengths are characters."""

    equal_plurals: Annotated[
        Literal["both", "plural"],
        Doc("Pairs of a message with equal translations for one and for many: both, or one."),
    ]
    max_characters: Annotated[int, Field(ge=1), Doc("The most characters of either side.")]
    max_ratio: Annotated[
        float, Field(ge=1), Doc("The most characters of the translation per character of English")
    ]
    min_ratio: Annotated[
        float, Field(ge=0, le=1), Doc("The fewest characters of it per character of English.")
    ]
    ratio_from: Annotated[
        int, Field(ge=1), Doc("The ratios count from this many characters of English on.")
    ]


class ArticleCleaning(Section):
    """What is dropped of the sentences of articles."""

    max_characters: Annotated[int, Field(ge=1), Doc("The most characters of a sentence.")]


class TalkCleaning(Section):
    """What is dropped of the TED talks."""

    missing_marks: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        *Names,
        Doc("Text that marks a cell without translation, anywhere in the cell."),
    ]


class NoCleaning(Section):
    """Nothing is dropped but pairs of the training text without text on one side."""


class KeyHash(Section):
    """A split by the SHA-256 of salt and normalised sentence, the same for all tasks."""

    by: Annotated[Literal["key_hash"], Doc("By the hash of the normalised sentence.")]
    salt: Annotated[
        str, Field(min_length=1), Doc("Hashed before the sentence; another salt, another split.")
    ]
    test_per_mille: Annotated[PerMille, Doc("Thousandths of the sentences that are for test.")]
    valid_per_mille: Annotated[PerMille, Doc("Thousandths that are for validation.")]

    @model_validator(mode="after")
    def _leave_some_for_training(self) -> "KeyHash":
        if self.test_per_mille + self.valid_per_mille > 1000:
            raise ValueError("shares over 1000 in all; leave something for training")
        return self


class Files(Section):
    """A file for each split."""

    train: Annotated[str, Field(min_length=1), Doc("For training.")]
    valid: Annotated[str, Field(min_length=1), Doc("For validation.")]
    test: Annotated[str, Field(min_length=1), Doc("For test.")]


class Published(Section):
    """The split of the source."""

    by: Annotated[Literal["published"], Doc("As the source has it.")]


class LineNumbers(Section):
    """A split by published numbers of lines, which count from 0."""

    by: Annotated[Literal["line_numbers"], Doc("By published numbers of lines.")]
    source: Annotated[str, Doc("The source that has the files of numbers, one on each line.")]
    files: Annotated[
        dict[str, Files],
        Field(min_length=1),
        Doc("The files of each task, by the end of their paths."),
    ]
    clean: Annotated[
        bool,
        Doc("Whether a pair that is also in validation or test is left out of training."),
    ] = False


class ByFile(Section):
    """A split by file: some are for validation, some for test, all others for training."""

    by: Annotated[Literal["file"], Doc("By file.")]
    valid: Annotated[Members, *Names, Doc("For validation, by the names on the task's side.")]
    test: Annotated[Members, *Names, Doc("For test, by the names on the task's side.")]
    clean: Annotated[
        bool,
        Doc("Whether a pair that is also in validation or test is left out of training."),
    ] = False

    def split_of(self, name: str) -> str:
        """Return the split of a file of the task's side."""
        return "valid" if name in self.valid else "test" if name in self.test else "train"


class HeldOut(Section):
    """Of the sentences that are read, those with the least hashes are held out."""

    by: Annotated[Literal["held_out"], Doc("Some distinct sentences are held out, by hash.")]
    salt: Annotated[
        str, Field(min_length=1), Doc("Hashed before the text; another salt, another split.")
    ]
    valid: Annotated[int, Field(ge=1), Doc("Sentences for validation.")]
    test: Annotated[int, Field(ge=1), Doc("Sentences for test.")]
    train: Annotated[
        dict[str, Count],
        Field(default_factory=dict),
        Doc("The most sentences for training of each task; without a number all are taken."),
    ]

    @property
    def held_out(self) -> int:
        """How many sentences are not for training."""
        return self.valid + self.test

    def most(self, task: str) -> int | None:
        """Return how many sentences a task has for training at most."""
        return number_of(self.train[task])[0] if task in self.train else None


def number_of(count: int | str) -> tuple[int, int]:
    """Return a count as a whole number, and one unit of its last digit.

    Args:
        count: a whole number, or thousands (k) or millions (M) as papers print them.
    """
    if isinstance(count, int):
        return count, 1
    integer, _, decimals = count[:-1].partition(".")
    unit = 10 ** ({"k": 3, "M": 6}[count[-1]] - len(decimals))
    return int(integer + decimals) * unit, unit


class Counts(Section):
    """How many pairs or sentences a task has, exactly or as papers print it: 5.64k, 4.5M."""

    train: Annotated[Count, Doc("For training.")]
    valid: Annotated[Count, Doc("For validation.")]
    test: Annotated[Count, Doc("For test.")]
