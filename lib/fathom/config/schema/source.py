"""Sources: the files that are fetched, by their cards in config/sources.

A card is one source, or with `for` one for each combination: dumps of several languages.
"""

from typing import Annotated, Any, Literal

from annotated_types import MinLen
from pydantic import Field, model_validator

from fathom.config.schema.section import AsTuple, Doc, Section, Text

Bytes = Annotated[int, Field(ge=1)]
Checksum = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Address = Annotated[str, Field(pattern=r"^https?://\S+$")]


class Source(Section):
    """One file, with the size and the checksum it must have.

    Where nobody publishes them, those of the first file that is fetched are recorded; later ones
    must have the same.
    """

    name: Annotated[str, Doc("The name of the card's file.")]
    title: Annotated[str, Doc("What the file holds, in one line.")]
    file: Annotated[
        str,
        Field(pattern="^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$"),
        Doc("The file's published name; a user may put it into the by-hand folder."),
    ]
    bytes: Annotated[Bytes | None, Doc("The published size of the file.")] = None
    sha256: Annotated[Checksum | None, Doc("The published SHA-256 of the file.")] = None
    licence: Annotated[str, Doc("The licence of the text; an SPDX identifier if it has one.")]
    notice: Annotated[str, Doc("Printed when the file is fetched: whose text, which terms.")]

    @model_validator(mode="after")
    def _publishes_both_or_none(self) -> "Source":
        if (self.bytes is None) != (self.sha256 is None):
            raise ValueError("a size without a checksum, or the reverse; give both or none")
        return self

    @property
    def checksum(self) -> dict[str, Any]:
        """What identifies the file: its published checksum, or else its name alone."""
        return {"sha256": self.sha256} | ({} if self.sha256 else {"file": self.file})


class Package(Source):
    """A wheel that pip downloads."""

    kind: Annotated[Literal["package"], Doc("A wheel that pip downloads.")]
    package: Annotated[
        str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$"), Doc("Its name on the package index.")
    ]
    version: Annotated[
        str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9.!+_-]*$"), Doc("Its version, in quotes.")
    ]
    # Types know no field that is required although its base has a default.
    bytes: Annotated[Bytes, Doc("The size of the file.")]  # pyright: ignore[reportGeneralTypeIssues]
    sha256: Annotated[Checksum, Doc("The SHA-256 of the file.")]  # pyright: ignore[reportGeneralTypeIssues]

    @property
    def pinned(self) -> str:
        """The wheel's name and version, as pip writes them."""
        return f"{self.package}=={self.version}"


class Archive(Source):
    """A file at one of several addresses."""

    kind: Annotated[Literal["archive"], Doc("A file at one of several addresses.")]
    mirrors: Annotated[
        tuple[Address, ...],
        AsTuple,
        MinLen(1),
        Doc("Its addresses, in the order in which they are tried."),
    ]


class ByHand(Source):
    """A file that no program may download: the user puts it into the by-hand folder."""

    kind: Annotated[Literal["by_hand"], Doc("A file that the user downloads.")]
    steps: Annotated[Text, Doc("Where it is offered, and how it is made.")]


KINDS: dict[str, type[Source]] = {"package": Package, "archive": Archive, "by_hand": ByHand}
