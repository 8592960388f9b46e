"""The user's switches: where, how much, on what device; none changes what a training learns.

They come from config.yaml of the project, then of the working folder, then `--config`.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge
from pydantic import AfterValidator, BeforeValidator, Strict

from fathom.config.schema.section import (
    MOST_SEEDS,
    SEED_LIMIT,
    Count,
    Doc,
    Pattern,
    Section,
    Text,
    Whole,
)
from fathom.config.yaml_values import Key, Value, from_plain, read
from fathom.io.errors import FathomError, brief

FILE = Path("config") / "config.yaml"
# How a workflow gives its switches, as JSON, to the commands that its rules run.
VARIABLE = "FATHOM_CONFIG"
DEVICE = r"^(auto|cpu|cuda(:[0-9]{1,3})?)$"
DEVICES = "auto, cpu, cuda or cuda:<n>"
_SEED = re.compile("[0-9]{1,10}")


def read_seeds(value: Any) -> tuple[int, ...] | None:
    """Return the seeds that a user names: 3 is 1 to 3, `2-4` a range, `2,5` a list."""
    if value is None:
        return None
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    seeds: list[int] = []
    for part in (f"1-{text}" if _SEED.fullmatch(text) else text).split(","):
        ends = [end.strip() for end in part.split("-")]
        if len(ends) > 2 or not all(map(_SEED.fullmatch, ends)):
            forms = "write 3 (seeds 1 to 3), 2-4, or 2,5"
            raise ValueError(f"'{brief(value)}' does not name seeds; {forms}")
        first, last = int(ends[0]), int(ends[-1])
        if first > last and "-" in text:
            raise ValueError(f"'{part}' is the wrong way round; write {last}-{first}")
        if max(first, last) >= SEED_LIMIT or not 0 <= last - first < MOST_SEEDS:
            bounds = f"up to {MOST_SEEDS} seeds below {SEED_LIMIT}"
            raise ValueError(f"'{value}' is out of bounds; write {bounds}")
        seeds += range(first, last + 1)
    return tuple(dict.fromkeys(seeds))


def seeds_text(seeds: tuple[int, ...]) -> str:
    """Return seeds as a user writes them: a range where they follow each other, or a list."""
    if seeds == tuple(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]}-{seeds[-1]}"
    return ",".join(map(str, seeds))


def seed_list(text: str | int) -> tuple[int, ...]:
    """Return the seeds that a user names, as `read_seeds`, or raise a FathomError."""
    try:
        return read_seeds(text) or ()
    except ValueError as error:
        what, _, remedy = str(error).partition("; ")
        raise FathomError(what, "--seeds", remedy) from None


def one_seed(text: str | int) -> int:
    """Return the seed of one training."""
    if _SEED.fullmatch(str(text)) and int(text) < SEED_LIMIT:
        return int(text)
    remedy = f"write one number below {SEED_LIMIT}; `fathom run … --seeds 1,2` trains several"
    raise FathomError(f"'{brief(text)}' is not a seed", "--seed", remedy)


def results_folder(name: str) -> str:
    """Return the name of a folder, in which `~` and `$HOME` are what they are in a shell.

    A variable that is not set is refused, and so are characters that Snakemake reads as its own.
    """
    name = os.path.expanduser(os.path.expandvars(name))
    if name[:1] in ("~", "$"):
        what = f"'{brief(name)}' names a user or variable that is not there"
        raise ValueError(f"{what}; write the path in full")
    if not name or re.search(r"[{}\x00-\x1f]", name):
        remedy = "write a path without {, } and line ends"
        raise ValueError(f"'{brief(name)}' is not a folder; {remedy}")
    return name


def open_results(name: str | Path) -> Path:
    """Return the folder of results, which need not exist yet, or raise why it cannot be one."""
    try:
        path = Path(results_folder(str(name)))
        with suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()  # refuses a name that is too long
        first = next(place for place in (path, *path.parents) if os.path.lexists(place))
        if first.is_dir():
            return path
    except (ValueError, OSError) as error:
        what, _, remedy = str(getattr(error, "strerror", None) or error).partition("; ")
        raise FathomError(what, f"results {brief(name)}", remedy or "name another folder") from None
    what = "a file, not a folder" if first.exists() else "a broken symbolic link"
    raise FathomError(what, f"results {first}", "move it away, or name another folder as `results`")


def require_even_shares(micro_batches: int, processes: int) -> None:
    """Refuse processes that cannot share the micro-batches of an update; 0 fits any number."""
    if micro_batches % processes:
        what = f"multiples of {micro_batches} micro-batches, which {processes} devices cannot share"
        remedy = f"use a number of devices that divides it, or make it a multiple of {processes}"
        raise FathomError(what, "micro_batches", remedy)


def _number_as_text(value: Any) -> Any:  # `--config row=12` and `results=2026` are meant so
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


def one_or_several(value: Any) -> tuple[Any, ...]:
    """Return one value, or a list as YAML gives it, as a tuple: `--config papers=../mine`."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


_Typed = BeforeValidator(_number_as_text)
# `--config site='{max_gpus: 8}'` gives text.
_Number = Annotated[Count, Strict(False)]


class Site(Section):
    """What is known of a cluster, and how much of it a training may have.

    What Slurm must be told (partition, account) are options of the executor.
    """

    gpu: Text = Doc("The device of expected hours, as of `fathom plan --gpu`.", "h200")
    gpus_per_node: _Number = Doc("GPUs of a node.", 1)
    max_gpus: _Number = Doc("The most GPUs of a training; 1, 2, 4, … are asked for.", 1)
    cores_per_gpu: _Number = Doc("Cores that are asked for with each GPU.", 4)
    training_hours: _Number = Doc(
        "A training that is expected to take longer gets more GPUs, up to max_gpus.", 24
    )
    longest_minutes: Annotated[_Number, Ge(30)] = Doc(
        "The longest time limit of a job; a training that is longer is continued.", 1440
    )


class Switches(Section):
    """The keys of config/config.yaml, and of `--config key=value`."""

    scale: Text = Doc("A scale of config/scales.")
    results: Annotated[str, _Typed, AfterValidator(results_folder)] = Doc(
        "The folder of everything that is made.", "results"
    )
    device: Annotated[str, Pattern(DEVICE, "cuda:1", DEVICES)] = Doc(
        "cpu, cuda or cuda:<n>; auto uses CUDA where there is a device.", "auto"
    )
    compile: bool = Doc("Compile layers, or steps of RNMT+, by torch.compile, in training.", False)
    matmul: Literal["exact", "tf32"] = Doc(
        "tf32: on CUDA, training multiplies float32 in TF32; exact: in float32.", "tf32"
    )
    seeds: Annotated[tuple[int, ...] | None, BeforeValidator(read_seeds)] = Doc(
        "Seeds in place of the runs' own: 3 (1 to 3), 2-4, or 2,5.", None
    )
    row: Annotated[Text | None, _Typed] = Doc("The row that `<table>_row` trains: 12/12.", None)
    run: Annotated[Text | None, _Typed] = Doc("Runs that `run` makes, with commas or *.", None)
    papers: Annotated[tuple[str, ...], BeforeValidator(one_or_several)] = Doc(
        "Folders of papers outside config/papers, below that of the file that names them.",
        (),
    )
    gpu_hours: Count | None = Doc(
        "The most GPU-hours of a start on a cluster, or core-hours of one without; null: 100.", None
    )
    site: Site = Doc("The cluster, in profiles/slurm/site.yaml.", Site())
    check_sources: bool = Doc(
        "A start on a cluster looks first whether sites have the files of its text.", True
    )
    check_disk: bool = Doc(
        "A start on a cluster ends if its trainings write more than the disk has free.", True
    )
    retrain: Literal["stale"] | None = Doc("stale: train runs of an older recipe again.", None)
    tokens_per_device: Count | Literal["auto"] = Doc(
        "Most target tokens of a micro-batch: memory, not results. auto: 16,384 on a CPU, on a GPU "
        "an estimate of what its memory holds.",
        "auto",
    )
    micro_batches: Whole = Doc("Each update has a multiple of these; 0: one per process.", 0)
    log_every: Count = Doc("Updates between rows of metrics.tsv.", 25)
    save_minutes: Whole = Doc("Minutes between saves of the state, too; 0: never.", 10)
    diagnose_first: Whole = Doc("Diagnostics are recorded for the first N updates.", 1000)
    diagnose_every: Whole = Doc("Then for every N-th update; 0 records none.", 100)


def layers(
    project: Path,
    folder: Path,
    changes: Mapping[str, Any] | None = None,
    files: Iterable[Path] = (),
) -> list[Value]:
    """Return what comes after the project's config.yaml; later layers win.

    They are the config.yaml of the working folder, the variable, and `changes` by `--config`, of
    which `files` of YAML, such as the site's, give some.
    """
    file = folder.resolve() / FILE
    used = file.exists() and file != project.resolve() / FILE
    try:
        given = json.loads(os.environ.get(VARIABLE, "{}"))
    except json.JSONDecodeError:
        given = None
    if not isinstance(given, dict):
        raise FathomError("this is not a JSON mapping", VARIABLE, "unset the variable")
    return [
        *([read(file, folder.resolve())] if used else []),
        from_plain(given, VARIABLE),
        _placed(dict(changes or {}), merged(read(path, project) for path in files)),
    ]


def _placed(plain: Any, file: Value | None, key: Key = ()) -> Value:
    """Return what Snakemake says of its config, each value at its place in a file that gives it."""
    if isinstance(plain, Mapping):
        here, found = file or from_plain(None, "--config", key), file or Value({})
        return here.over({k: _placed(v, found.find(k), (*key, k)) for k, v in plain.items()})
    if file is not None and file.plain == plain:
        return file
    return from_plain(plain, "--config", key)


def merged(files: Iterable[Value]) -> Value:
    """Return the keys of all files, of which later ones win; a missing key is missing in the first.

    Without files, config.yaml cannot be read: what is missing has its place.
    """
    files = [*files] or [Value({}, str(FILE))]
    values: dict[str, Value] = {}
    for file in files:
        values |= file.value
    return files[0].over(values)
