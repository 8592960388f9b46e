"""The manifest of a run: what is known of one training, in one file.

It gathers the measurement files that exist; long tables stay in the files that it names.
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from fathom.config.schema.section import Section
from fathom.io.commands import again
from fathom.io.integrity import read_record, write_record
from fathom.results import recipe
from fathom.results.measurements import FINISHED, SCHEMA, Record, checked
from fathom.results.training_file import Ended, Totals

__all__ = ["FINISHED", "Data", "Manifest", "read", "write"]
# The oldest attempts beyond this many are left out; their number stays.
ATTEMPTS_KEPT = 50


class Data(Section):
    """The text that was trained on and tested with.

    Attributes:
        dataset: the data set of config/datasets.
        direction: into the pivot language, or out of it; none of bilingual or monolingual text.
        corpus_sha256: the hash of corpus.json, which names and hashes the text files.
        tensors_sha256: the hash of tensors.json, which describes the encoded text.
    """

    dataset: str
    direction: str | None
    corpus_sha256: str
    tensors_sha256: str


class Manifest(BaseModel):
    """The content of manifest.json.

    Attributes:
        schema_: the version of this form; `schema` in the file.
        run: the run's name, `<paper>/<run>`.
        identity: the hash of what determines the training; its first digits name the folder.
        seed: of the training.
        outcome: how the training ended.
        measurements: records by key, from every measurement file of the run.
        data: which text.
        recipe: the lowest recipe of each stage that the results went through.
        commit: of the sources when the training began; None outside a clone.
        sources_sha256: one hash of those sources, for audit.
        versions: of packages.
        device: what the training ran on, by property.
        attempts: the last attempts at the training, the oldest first.
        attempts_in_all: how many there were.
        totals: what the training took.
        files: SHA-256 of the run's files; those of a decoding name and hash its hypotheses.
    """

    model_config = Section.model_config

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    run: str
    identity: str
    seed: int
    outcome: Ended
    measurements: dict[str, Record]
    data: Data
    recipe: dict[str, int]
    commit: str | None
    sources_sha256: str
    versions: dict[str, str]
    device: dict[str, Any]
    attempts: list[dict[str, Any]]
    attempts_in_all: int
    totals: Totals
    files: dict[str, str]

    def over_all(self, key: str) -> float | None:
        """Return the number over all tasks of a measurement; None where there is none."""
        record = self.measurements.get(key)
        return record.all.value if record and record.all else None

    @property
    def stale(self) -> dict[str, str]:
        """The stages whose recipe is not today's, each with a sentence that says so."""
        return recipe.stale(self.recipe)


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a manifest atomically.

    Args:
        path: the file.
        content: Manifest's keys but `schema` and `attempts_in_all`; `attempts` of any length.
    """
    attempts = content["attempts"]
    counted = {"attempts": attempts[-ATTEMPTS_KEPT:], "attempts_in_all": len(attempts)}
    file = checked(Manifest, content | counted | {"schema": SCHEMA}, path, again(path))
    measurements = {
        key: record.model_dump(exclude_defaults=True) for key, record in file.measurements.items()
    }
    write_record(path, file.model_dump(by_alias=True) | {"measurements": measurements})


def read(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        FathomError: the file is missing, is not JSON, or has another schema.
        Findings: keys or values that do not fit.
    """
    return checked(Manifest, read_record(path), path, again(path))
