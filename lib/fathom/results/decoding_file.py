"""decoding.json: which hypotheses are in a decoding's folder, and what made them."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from fathom.config.schema.section import AsTuple, Section
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.integrity import read_record, write_record
from fathom.results.measurements import SCHEMA, Decodable, Outcome, checked
from fathom.results.training_file import Ended


class DecodingFile(BaseModel):
    """The content of decoding.json.

    Attributes:
        schema_: the version of this form; `schema` in the file.
        identity: of the decoding: the training, the weights, the gates and the search.
        split: "valid" or "test".
        gates: "plain", "soft" or "hard".
        recipe: of the stage that decoded (results/recipe.py).
        settings: the search's settings.
        weights: the updates whose weights were averaged; the last alone where there is one.
        outcome: how the training ended; without a result there are no hypotheses.
        reason: why it ended so.
        tasks: how many hypotheses each task has, in <task>.txt.
        files: SHA-256 of these files by name.
        no_layer: the tasks whose gates leave the encoder or the decoder without a layer.
        versions: of packages.
    """

    model_config = Section.model_config

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    identity: str
    split: str
    gates: str
    recipe: int
    settings: dict[str, Any]
    weights: Annotated[tuple[int, ...], AsTuple]
    outcome: Outcome
    reason: str
    tasks: dict[str, int]
    files: dict[str, str]
    no_layer: Annotated[tuple[str, ...], AsTuple]
    versions: dict[str, str]


def read(folder: Path, spec: Decodable, gates: str, ended: Ended) -> DecodingFile:
    """Read the decoding.json of a folder, and check that it is the decoding of a run.

    Args:
        folder: the decoding's.
        spec: the run.
        gates: "plain", "soft" or "hard".
        ended: how the training ended.

    Raises:
        FathomError: it is missing, damaged, or of other settings, weights or another training.
        Findings: keys or values that do not fit.
    """
    path = folder / "decoding.json"
    file = checked(DecodingFile, read_record(path), path, again(path))
    if file.identity != spec.decoding_identity(gates):
        raise FathomError("decoded with other settings or weights", str(path), again(path))
    if file.outcome != ended.kind:
        what = f"'{file.outcome}', but the training is '{ended.kind}'"
        raise FathomError(what, str(path), again(path))
    return file


def write(folder: Path, content: dict[str, Any]) -> None:
    """Write the decoding.json of a folder atomically.

    Args:
        folder: the decoding's.
        content: all of DecodingFile's keys but `schema`.
    """
    path = folder / "decoding.json"
    file = checked(DecodingFile, content | {"schema": SCHEMA}, path, "report this")
    write_record(path, file.model_dump(by_alias=True))
