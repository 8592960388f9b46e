"""The user's switches: where, how much, on what device; none changes what a training learns.

They come from config.yaml of the project, then of the working folder, then `--config`.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fathom.config.settings import About, Part
from fathom.config.yaml_files import KeyPath, YamlFile, read
from fathom.errors import FathomError
from fathom.runs.types import Count, Text, Whole

FILE = Path("config") / "config.yaml"
# How a workflow gives its switches, as JSON, to the commands that its rules run.
VARIABLE = "FATHOM_CONFIG"
MOST_SEEDS = 100
SEED_LIMIT = 2**31


def read_seeds(value: Any) -> tuple[int, ...] | None:
    """Return the seeds that a user names: 3 is 1 to 3, `2-4` a range, `2,5` a list.

    Raises:
        ValueError: the value has none of these forms, or a seed is out of bounds.
    """
    if value is None:
        return None
    text = str(value)
    if isinstance(value, list | tuple):
        text = ",".join(map(str, value))
    elif text.isdigit():
        text = f"1-{text}"
    seeds: list[int] = []
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        if not (first.isdigit() and (last if dash else first).isdigit()):
            raise ValueError(f"'{value}' names no seeds; write 3 (seeds 1 to 3), 2-4, or 2,5")
        low, high = int(first), int(last or first)
        if max(low, high) >= SEED_LIMIT or not 0 <= high - low < MOST_SEEDS:
            bounds = f"up to {MOST_SEEDS} seeds below {SEED_LIMIT}"
            raise ValueError(f"'{value}' is out of bounds; write {bounds}")
        seeds += range(low, high + 1)
    return tuple(dict.fromkeys(seeds))


def seed_list(text: str | int) -> tuple[int, ...]:
    """Return the seeds that a user names, as `read_seeds` does.

    Raises:
        FathomError: the text names no seeds.
    """
    try:
        return read_seeds(text) or ()
    except ValueError as error:
        what, _, remedy = str(error).partition("; ")
        raise FathomError(what, "seeds", remedy) from None


def _number_as_text(value: Any) -> Any:
    """Return a number as its text: `--config row=12` and `results=2026` are meant so."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


_Typed = BeforeValidator(_number_as_text, json_schema_input_type=str | int | float | None)


class Switches(Part):
    """The keys of config/config.yaml, and of `--config key=value`."""

    scale: Annotated[Text, About("A scale of config/scales.")]
    results: Annotated[Text, _Typed, About("The folder of everything that is made.")] = "results"
    device: Annotated[
        str,
        Field(pattern=r"^(auto|cpu|cuda(:[0-9]+)?)$"),
        About("cpu, cuda or cuda:<n>; auto uses CUDA where there is a device."),
    ] = "auto"
    seeds: Annotated[
        tuple[int, ...] | None,
        BeforeValidator(read_seeds, json_schema_input_type=str | int | list[int] | None),
        About("Seeds in place of the runs' own: 3 (1 to 3), 2-4, or 2,5."),
    ] = None
    row: Annotated[
        Text | None, _Typed, About("The row that a target such as `<table>_row` trains: 12/12.")
    ] = None
    retrain: Annotated[
        Literal["stale"] | None,
        About("stale: train runs of an older recipe again, from the start."),
    ] = None
    tokens_per_device: Annotated[
        Count, About("Target tokens of a micro-batch, at most: memory, not results.")
    ] = 16384
    log_every: Annotated[Count, About("Updates between rows of metrics.tsv.")] = 25
    save_minutes: Annotated[
        Whole, About("The state is saved every N minutes between validations too; 0 for never.")
    ] = 10
    diagnose_first: Annotated[Whole, About("Diagnostics are recorded for the first N updates.")] = (
        1000
    )
    diagnose_every: Annotated[Whole, About("Then for every N-th update; 0 records none.")] = 100


def layers(project: Path, folder: Path, changes: Mapping[str, Any] | None = None) -> list[YamlFile]:
    """Return what comes after the project's config.yaml; later layers win.

    Args:
        project: the project's folder.
        folder: the working folder, which may have a config/config.yaml of its own.
        changes: what `--config` or a module's `config:` gives.

    Raises:
        FathomError: the working folder's file is not YAML, or the variable is no mapping.
    """
    own = folder.resolve() / FILE
    used = own.is_file() and own != project.resolve() / FILE
    try:
        given = json.loads(os.environ.get(VARIABLE, "{}"))
    except json.JSONDecodeError:
        given = None
    if not isinstance(given, dict):
        raise FathomError("this is no JSON mapping", VARIABLE, "unset the variable")
    return [
        *([read(own, folder.resolve())] if used else []),
        YamlFile(VARIABLE, given, {}),
        YamlFile("--config", dict(changes or {}), {}),
    ]


def merge(files: Iterable[YamlFile]) -> tuple[dict[str, Any], Callable[[KeyPath], str]]:
    """Return the keys of all files, later files winning, and where each key comes from."""
    values: dict[str, Any] = {}
    sources: dict[str | int, YamlFile] = {}
    for file in files:
        values |= file.value
        sources |= dict.fromkeys(file.value, file)

    def where(path: KeyPath) -> str:
        return sources[path[0]].where(path) if path[0] in sources else f"{FILE}: {path[0]}"

    return values, where
