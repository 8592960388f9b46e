"""The rules of a data set's text: what is dropped, how it is split, how much must come out."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from fathom.config.settings import About, Form, Part, Several
from fathom.runs.types import unique

PerMille = Annotated[int, Field(ge=0, le=1000)]
Count = Annotated[int, Field(ge=0)] | Annotated[str, Form(r"^[0-9]+(\.[0-9]+)?k$", "5.64k")]


Names = (Several, Field(min_length=1), AfterValidator(unique))


class MessageCleaning(Part):
    """What is dropped of message catalogues; lengths are characters."""

    equal_plurals: Annotated[
        Literal["both", "plural"],
        About("Pairs of a message with equal translations for one and for many: both, or one."),
    ]
    max_characters: Annotated[int, Field(ge=1), About("The most characters of either side.")]
    max_ratio: Annotated[
        float, Field(ge=1), About("The most characters of the translation per character of English")
    ]
    min_ratio: Annotated[
        float, Field(ge=0, le=1), About("The fewest characters of it per character of English.")
    ]
    ratio_from: Annotated[
        int, Field(ge=1), About("The ratios count from this many characters of English on.")
    ]


class TalkCleaning(Part):
    """What is dropped of the TED talks."""

    missing_marks: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        *Names,
        About("Text that marks a cell without translation, anywhere in the cell."),
    ]


class KeyHash(Part):
    """A split by the SHA-256 of salt and normalised sentence, the same for all tasks."""

    by: Annotated[Literal["key_hash"], About("By the hash of the normalised sentence.")]
    salt: Annotated[
        str, Field(min_length=1), About("Hashed before the sentence; another salt, another split.")
    ]
    test_per_mille: Annotated[PerMille, About("Thousandths of the sentences that are for test.")]
    valid_per_mille: Annotated[PerMille, About("Thousandths that are for validation.")]

    @model_validator(mode="after")
    def _leave_some_for_training(self) -> "KeyHash":
        if self.test_per_mille + self.valid_per_mille > 1000:
            raise ValueError("shares over 1000 in all; leave something for training")
        return self


class Published(Part):
    """The split of the source."""

    by: Annotated[Literal["published"], About("As the source has it.")]


class Counts(Part):
    """How many pairs or sentences a task has: a whole number, or thousands as papers print them."""

    train: Annotated[Count, About("For training.")]
    valid: Annotated[Count, About("For validation.")]
    test: Annotated[Count, About("For test.")]
