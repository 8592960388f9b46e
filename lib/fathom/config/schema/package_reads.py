"""How the text of a package is read: a word alone, or a kind with settings."""

from typing import Annotated, Literal

from pydantic import Field

from fathom.config.schema.text_rules import Names
from fathom.config.section import AsTuple, Doc, Section


class JsonFiles(Section):
    """JSON in the folders of one name, with a file for each language."""

    kind: Annotated[Literal["json"], Doc("JSON with a file for each language.")]
    folder: Annotated[
        str,
        Field(min_length=1),
        Doc("Files below folders of this name, or of these names one in the other, are read."),
    ]
    without: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        AsTuple,
        Doc("A text with one of these is dropped: markup that no rule of cleaning knows."),
    ] = ()
    key: Annotated[
        str | None,
        Field(min_length=1),
        Doc("Only texts with this key are read, also inside lists; null: all texts, no lists."),
    ] = None


class Compiled(Section):
    """Compiled message catalogues of programs with windows."""

    kind: Annotated[Literal["mo"], Doc("Compiled message catalogues.")]
    accelerators: Annotated[
        str,
        Field(min_length=1),
        Doc("Characters that mark the key of a menu's entry: `~File`, `_File`, `파일(~F)`."),
    ]
    without: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        AsTuple,
        Doc("As of JSON."),
    ] = ()


class Verses(Section):
    """Verses of a Bible in a SQLite database; codes are versions."""

    kind: Annotated[Literal["verses"], Doc("Verses of a Bible in a SQLite database.")]
    database: Annotated[str, Field(min_length=1), Doc("The database's path in the package.")]
    books: Annotated[
        tuple[Annotated[int, Field(ge=1)], ...],
        *Names,
        Doc("The books that are read, by number: Genesis is 1, Matthew 40."),
    ]


# A word is the kind alone, without settings.
Read = (
    Literal["po", "mo", "json"]
    | Annotated[JsonFiles | Compiled | Verses, Field(discriminator="kind")]
)


def kind_of(read: Read) -> str:
    """Return the kind of a way to read."""
    return read if isinstance(read, str) else read.kind
