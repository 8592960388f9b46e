"""A finished run in one file: written here, and accepted by another tree of results if it fits.

It fits where the run has the same identity, the text is the same to the byte, and the recipe is
that of today's code. Everything in it is hashed before it is believed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schema.section import Section
from fathom.config.spec import Spec
from fathom.io.errors import FathomError, nearest
from fathom.io.files import sha256
from fathom.results import training_file
from fathom.results.measurements import SCHEMA, checked
from fathom.results.recipe import RECIPE
from fathom.results.training_file import WEIGHTS
from fathom.results.trees import archive as archives
from fathom.results.verify import verify

CARD = "run.json"
_OF_A_PROCESS = ("lock", "lock.holder")


class Card(BaseModel):
    """What an archive says of its run.

    Attributes:
        run: the run's name, `<paper>/<run>`.
        run_identity: its identity.
        seed: of the training.
        recipe: of the training.
        tensors_sha256: of the tensors.json of its text.
        files: SHA-256 by path from the run's folder.
    """

    model_config = Section.model_config

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    run: str
    run_identity: str
    seed: int = Field(ge=0)
    recipe: int
    tensors_sha256: str
    files: dict[str, str]


@dataclass(frozen=True)
class Place:
    """Where the run of an archive belongs.

    Attributes:
        card: of the archive.
        spec: the run.
        folder: its folder with this seed.
    """

    card: Card
    spec: Spec
    folder: Path


def pack(spec: Spec, seed: int, paths: Paths, archive: Path) -> dict[str, str]:
    """Write a finished run to an archive, and return the SHA-256 of each file.

    Logs, series, measurements, translations and the weights that may be decoded are in it; states
    from which a training resumes are not.

    Args:
        spec: the run.
        seed: of the training.
        paths: the places of its files.
        archive: the file to write.

    Raises:
        FathomError: the training has not ended, or some file is not the one that was recorded.
    """
    folder = paths.run(spec, seed)
    training = training_file.read(paths.training(spec, seed))
    for finding in verify([folder]).in_order(paths.results):
        raise finding
    names = sorted(_packed(folder, training.files))

    def content(files: dict[str, str]) -> dict[str, Any]:
        card = Card(
            run=spec.name,
            run_identity=spec.identity,
            seed=seed,
            recipe=training.recipe,
            tensors_sha256=training.tensors_sha256,
            files=files,
        )
        return card.model_dump(mode="json", by_alias=True)

    return archives.write(archive, CARD, content, folder, names)


def _packed(folder: Path, recorded: Iterable[str]) -> Iterator[str]:
    """Yield the files of a run that another tree needs."""
    recorded = {*recorded}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in Path(name).parts)
        state = name.startswith(WEIGHTS) and name not in recorded
        if path.is_file() and not (hidden or state or name in _OF_A_PROCESS):
            yield name


def place(project: Project, paths: Paths, archive: Path) -> Place:
    """Return where the run of an archive belongs.

    Raises:
        FathomError: it is no archive of a run, or it does not fit this project and these results.
    """
    card = _card(archive)
    if card.run not in project.entries:
        raise FathomError(f"no run '{card.run}'", str(archive), nearest(card.run, project.entries))
    spec = project.spec(card.run, paths.scale)
    if spec.identity != card.run_identity:
        what = f"{card.run} has other settings here at scale {paths.scale}"
        raise FathomError(what, str(archive), "give --scale, or use the config it was trained with")
    if card.recipe != RECIPE["training"]:
        what = f"trained by recipe {card.recipe}, today's code has {RECIPE['training']}"
        raise FathomError(what, str(archive), "use the version of fathom that trained it")
    tensors = paths.tensors(spec.data) / "tensors.json"
    if tensors.is_file() and sha256(tensors) != card.tensors_sha256:
        what = f"trained on other text than that in {tensors.parent}"
        raise FathomError(what, str(archive), f"compare sources: fathom verify {card.run}")
    folder = paths.run(spec, card.seed)
    if folder.exists():
        raise FathomError(
            "the run is here already", str(folder), "delete this folder to replace it"
        )
    return Place(card, spec, folder)


def unpack(archive: Path, run: Place) -> None:
    """Write the run of an archive to its place, all of it or nothing.

    Raises:
        FathomError: a file is missing, is not the one that was packed, or was not expected.
    """
    archives.unpack(archive, CARD, run.card.files, run.folder)


def _card(archive: Path) -> Card:
    """Return what an archive says of its run.

    Raises:
        FathomError: it is not there, or no archive of a run.
    """
    content = archives.card_of(archive, CARD, "no archive of a run")
    return checked(Card, content, archive, archives.AGAIN)
