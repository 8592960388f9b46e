"""Where the files of an encoded data set are."""

from pathlib import Path

SIDES = ("source", "target")
SPLITS = ("train", "valid", "test")


def prefix(folder: Path, task: str, split: str, side: str) -> Path:
    """Return the path of a side of a split, without the endings of its two files."""
    return folder / task / f"{split}.{side}"


def dictionary_path(folder: Path, side: str) -> Path:
    """Return the path of a side's dictionary."""
    return folder / f"dictionary.{side}.txt"
