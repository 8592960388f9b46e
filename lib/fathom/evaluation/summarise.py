"""Put everything that is known of a run into its manifest; later stages read nothing else of it."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fathom.errors import FathomError
from fathom.evaluation.score import drawn_with, read_scores
from fathom.io.files import read_json, sha256
from fathom.provenance import manifest
from fathom.runs.paths import Paths
from fathom.runs.spec import Spec

RUN_FILES = ("spec.yaml", "metrics.tsv", "diagnostics/*.tsv.gz", "training.json")
COPIED = ("parameters", "device", "attempts", "totals", "depth")
DECODING_FILES = ("decoding.json", "scoring.json", "scores.tsv")


def conclude(
    spec: Spec, seed: int, gates: tuple[str, ...], paths: Paths, report: Callable[[str], None]
) -> None:
    """Write a run's manifest.

    Args:
        spec: the run.
        seed: the training's seed.
        gates: the decodings that belong to the run: "plain", or "soft" and "hard".
        paths: where the scale's files stand.
        report: takes one line about the outcome.

    Raises:
        FathomError: a stage before is missing, or was made with other settings.
    """
    run = paths.run(spec, seed)
    training = _training(paths.training(spec, seed))
    decodings = {each: paths.decoding(spec, seed, each) for each in gates}
    decoded = {each: _decoded(folder, spec, training) for each, folder in decodings.items()}
    scored = {each: _scored(folder, spec) for each, folder in decodings.items()}
    compared = spec.evaluation.compared_gates
    described = {
        "schema": manifest.SCHEMA,
        "run": spec.run,
        "identity": spec.identity,
        "seed": seed,
        "scale": spec.scale,
        "outcome": _outcome(spec, training),
        "data": _data(spec, paths),
        "code": {
            "training": training["code"],
            "decoding": decoded[compared]["code"],
            "scoring": scored[compared]["code"],
        },
        "versions": scored[compared]["versions"] | training["versions"],
        "attempts_in_all": len(training["attempts"]),
        "validation": _validation(training),
        "compared": {
            "gates": compared,
            "metric": spec.evaluation.scoring.compared_metric,
        },
        "scores": {
            each: _scores(folder, spec, decoded[each]) for each, folder in decodings.items()
        },
        "no_layer": {each: decoded[each]["no_layer"] for each in gates},
        "files": _files(run, gates),
    }
    manifest.write(paths.manifest(spec, seed), described | {key: training[key] for key in COPIED})
    report(f"conclude: {spec.folder} seed {seed} {training['outcome']['kind']}")


def _training(path: Path) -> dict[str, Any]:
    """Read training.json and see that nothing is missing that the manifest repeats."""
    training = read_json(path)
    repeated = ("outcome", "code", "versions", "validation", "unigram_nll", *COPIED)
    missing = [key for key in repeated if key not in training]
    if missing:
        raise FathomError(f"nothing is said of {', '.join(missing)}", str(path), "train again")
    return training


def _decoded(folder: Path, spec: Spec, training: dict[str, Any]) -> dict[str, Any]:
    """Read a decoding.json that fits the spec and the training."""
    path = folder / "decoding.json"
    decoded = read_json(path)
    kind = training["outcome"]["kind"]
    expected = manifest.DECODED if kind == manifest.FINISHED else kind
    if decoded["outcome"] != expected:
        raise FathomError(
            f"'{decoded['outcome']}' where the training gives '{expected}'",
            str(path),
            "translate again",
        )
    if decoded["settings"] != asdict(spec.evaluation.decoding):
        raise FathomError("decoded with other settings than now", str(path), "translate again")
    return decoded


def _scored(folder: Path, spec: Spec) -> dict[str, Any]:
    """Read a scoring.json that fits the spec."""
    path = folder / "scoring.json"
    scored = read_json(path)
    if scored["decoding_sha256"] != sha256(folder / "decoding.json"):
        raise FathomError("scored before it was decoded anew", str(path), "score again")
    if scored["interval"] != drawn_with(spec.evaluation.scoring):
        raise FathomError("scored with other settings than now", str(path), "score again")
    return scored


def _outcome(spec: Spec, training: dict[str, Any]) -> dict[str, Any]:
    """Return how the training ended, beside what a reader needs to judge an unusual end."""
    schedule = spec.training.schedule
    return {
        **{key: training["outcome"][key] for key in ("kind", "update", "reason")},
        "schedule": {"name": schedule.name} | schedule.settings,
        "clip": spec.training.clip,
        "norm": spec.model.norm,
        "precision": spec.training.precision,
    }


def _data(spec: Spec, paths: Paths) -> dict[str, Any]:
    """Return which text it was, by the hashes of what describes it."""
    return {
        "dataset": spec.data.dataset,
        "direction": spec.data.direction,
        "corpus_sha256": sha256(_there(paths.corpus(spec.data) / "corpus.json")),
        "tensors_sha256": sha256(_there(paths.tensors(spec.data) / "tensors.json")),
    }


def _validation(training: dict[str, Any]) -> dict[str, Any]:
    """Return the last validation beside its yardstick; a run that diverged may have none."""
    validation = training["validation"] or {"nll": None, "by_task": {}}
    return {**validation, "unigram_nll": training["unigram_nll"]}


def _scores(folder: Path, spec: Spec, decoded: dict[str, Any]) -> dict[str, Any]:
    """Return one decoding's scores by task and metric."""
    found: dict[str, Any] = {}
    for line in read_scores(folder / "scores.tsv"):
        task = found.setdefault(line.task, {"sentences": int(line.sentences), "metrics": {}})
        spread = {"low": line.low, "high": line.high, "stderr": line.stderr}
        task["metrics"][line.metric] = {
            "value": float(line.value),
            "signature": line.signature,
            **{key: float(value) for key, value in spread.items() if value},
        }
    expected = spec.data.tasks if decoded["outcome"] == manifest.DECODED else ()
    missing = [task for task in expected if task not in found and task not in decoded["no_layer"]]
    if missing:
        raise FathomError(
            f"no score of {', '.join(missing)}", str(folder / "scores.tsv"), "score again"
        )
    return found


def _files(run: Path, gates: tuple[str, ...]) -> list[dict[str, Any]]:
    """Name and hash the files of a run; those of a decoding name and hash the rest of it."""
    patterns = (
        *RUN_FILES,
        *(f"decodings/{each}/{name}" for each in gates for name in DECODING_FILES),
    )
    return [
        {
            "path": path.relative_to(run).as_posix(),
            "bytes": path.stat().st_size,
            "sha256": sha256(path),
        }
        for pattern in patterns
        for path in sorted(run.glob(pattern))
    ]


def _there(path: Path) -> Path:
    """Return the path of a file that must exist."""
    if not path.is_file():
        raise FathomError("no such file", str(path), "make it with the stage before")
    return path
