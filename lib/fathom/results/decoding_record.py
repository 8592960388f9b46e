"""decoding.json: which hypotheses are in a decoding's folder, and what made them."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from fathom.config.schema.section import AsTuple, Section
from fathom.config.spec import Spec
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.records import read_record, write_record
from fathom.results.measurements import SCHEMA, Outcome, checked
from fathom.results.training_record import Ended


class DecodingRecord(BaseModel):
    """The content of decoding.json."""

    model_config = Section.model_config

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    identity: str  # of the decoding: the training, the weights, the gates and the search
    split: str
    gates: str
    recipe: int  # of the stage that decoded
    settings: dict[str, Any]  # of the search
    weights: Annotated[tuple[int, ...], AsTuple]  # the updates whose weights were averaged
    weights_sha256: dict[str, str] = Field(default_factory=dict)  # of their files, by name
    outcome: Outcome  # of the training; without a result there are no hypotheses
    reason: str
    tasks: dict[str, int]  # how many hypotheses each task has, in <task>.txt
    files: dict[str, str]  # SHA-256 of these files
    no_layer: Annotated[tuple[str, ...], AsTuple]  # tasks without a layer in a stack
    versions: dict[str, str]  # of packages


def read(folder: Path, spec: Spec, gates: str, ended: Ended) -> DecodingRecord:
    """Read the decoding.json of a folder, and check that it is the decoding of a run.

    Raises:
        FathomError: If it is missing, damaged, or of other settings, weights or another training.
    """
    path = folder / "decoding.json"
    record = checked(DecodingRecord, read_record(path), path, again(path))
    if record.identity != spec.decoding_identity(gates):
        raise FathomError("decoded with other settings or weights", str(path), again(path))
    if record.outcome != ended.kind:
        what = f"'{record.outcome}', but the training is '{ended.kind}'"
        raise FathomError(what, str(path), again(path))
    return record


def write(folder: Path, content: dict[str, Any]) -> None:
    """Write the decoding.json of a folder atomically; `content` has all keys but `schema`."""
    path = folder / "decoding.json"
    record = checked(DecodingRecord, content | {"schema": SCHEMA}, path, "report this")
    write_record(path, record.model_dump(by_alias=True))
