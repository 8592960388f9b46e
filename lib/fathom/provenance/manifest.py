"""The manifest of a run: everything that tables, figures and people need to know of it, one file.

workflow/schemas/manifest.schema.yaml describes each key. It stays small enough to be read by eye:
what is long stands in files that the manifest names.
"""

import json
from pathlib import Path
from typing import Any

from fathom.errors import FathomError, nearest
from fathom.io.files import read_json, write_json

SCHEMA = 1
FINISHED = "finished"
OUTCOMES = (FINISHED, "diverged", "failed_to_train")
DECODED = "decoded"
KEYS = (
    "attempts",
    "attempts_in_all",
    "code",
    "compared",
    "data",
    "depth",
    "device",
    "files",
    "identity",
    "no_layer",
    "outcome",
    "parameters",
    "run",
    "scale",
    "schema",
    "scores",
    "seed",
    "totals",
    "validation",
    "versions",
)
ATTEMPTS_KEPT = 50
BYTES_ALLOWED = 20_000


def write(path: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest, whole or not at all.

    The oldest attempts are left out where the file would grow too long; their number is kept.

    Args:
        path: the file.
        manifest: all of KEYS and nothing else; `attempts` may be of any length.

    Raises:
        FathomError: a key is missing or unknown, or the outcome is none of OUTCOMES.
    """
    _check(path, manifest)
    attempts = manifest["attempts"]
    kept = attempts[-ATTEMPTS_KEPT:]
    shortened = manifest | {"attempts": kept, "attempts_in_all": len(attempts)}
    while len(shortened["attempts"]) > 1 and _length(shortened) > BYTES_ALLOWED:
        shortened["attempts"] = shortened["attempts"][1:]
    write_json(path, shortened)


def read(path: Path) -> dict[str, Any]:
    """Read a manifest.

    Raises:
        FathomError: the file is missing, is not JSON, or is not a manifest of this schema.
    """
    manifest = read_json(path)
    if manifest.get("schema") != SCHEMA:
        raise FathomError(
            f"a manifest of schema {manifest.get('schema')}, but {SCHEMA} is read here",
            str(path),
            "delete it and conclude the run again",
        )
    _check(path, manifest)
    return manifest


def _check(path: Path, manifest: dict[str, Any]) -> None:
    """Refuse what is not a manifest."""
    missing = [key for key in KEYS if key not in manifest]
    unknown = [key for key in manifest if key not in KEYS]
    if missing:
        raise FathomError(
            f"a manifest without {', '.join(missing)}", str(path), "conclude the run again"
        )
    if unknown:
        raise FathomError(
            f"a manifest with the unknown key '{unknown[0]}'", str(path), nearest(unknown[0], KEYS)
        )
    kind = manifest["outcome"]["kind"]
    if kind not in OUTCOMES:
        raise FathomError(f"the outcome '{kind}'", str(path), nearest(kind, OUTCOMES))


def _length(manifest: dict[str, Any]) -> int:
    """Return the bytes that a manifest takes as JSON."""
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return len(text.encode("utf-8")) + 1
