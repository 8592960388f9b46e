"""Files of a run as the stages before scoring leave them, without text and weights."""

from pathlib import Path
from typing import Any

from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.io.files import read_lines, write_lines
from fathom.io.records import hashes, write_record
from fathom.results.recipe import RECIPE
from fathom.scoring.score import Score


def training(
    kind: str = "finished", tasks: tuple[str, ...] = ("aaa", "bbb"), **differences: Any
) -> dict[str, Any]:
    """Return the content of the training.json of a training that ended so."""
    by_task = {task: 4.0 + number for number, task in enumerate(tasks)}
    process = {"host": "node", "pid": 1000, "job": None, "command": "fathom"}
    times = {"start": "2026-01-01T00:00:00+00:00", "end": "2026-01-01T00:00:02+00:00"}
    updates = {"from_update": 0, "to_update": 5, "ended_as": "finished"}
    made = {"recipe": RECIPE["training"], **updates}
    return {
        "schema": 2,
        "outcome": {"kind": kind, "update": 5, "reason": f"it has {kind}"},
        "recipe": RECIPE["training"],
        "commit": "c" * 40,
        "sources_sha256": "5" * 64,
        "parameters": dict(total=90, trainable=90, encoder=30, decoder=40, embeddings=20),
        "validation": {"nll": 4.5, "by_task": by_task} if kind == "finished" else None,
        "unigram_nll": 6.06,
        "totals": {"updates": 5, "target_tokens": 960, "seconds": 1.5},
        "device": {"type": "cpu", "name": "x86_64", "threads": 1},
        "versions": {"python": "3.11.7", "torch": "2.13.0", "fairseq-fixed": "0.12.3.1"},
        "attempts": [process | times | made],
        "corpus_sha256": "c" * 64,
        "tensors_sha256": "e" * 64,
        "files": {},
        **differences,
    }


def write_training(spec: Spec, paths: Paths, kind: str = "finished", **differences: Any) -> None:
    """Write what a training leaves, without weights."""
    tasks = spec.data.tasks
    folder, names = paths.run(spec, 1), ("spec.yaml", "metrics.tsv")
    for name in names:
        write_lines(folder / name, [name])
    files = {"files": hashes(folder, *names)}
    write_record(paths.training(spec, 1), training(kind, tasks, **files | differences))


def scores(path: Path) -> list[Score]:
    """Return the lines of a scores.tsv."""
    return [Score(*line.split("\t")) for line in read_lines(path)[1:]]
