"""Files dated in the future, as a machine whose clock is ahead leaves them.

Snakemake takes what is made from such a file for older than it, and makes it again at every start.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# The files whose dates Snakemake compares.
_MADE = (
    "sources/*/*.json",
    "corpora/*/*.json",
    "subwords/*/*.json",
    "tensors/*/*.json",
    "runs/*/*/*/*.json",
    "runs/*/*/*/decodings/*.json",
    "runs/*/*/*/measurements/*.json",
)
# Clocks of two machines may differ by this.
_SECONDS = 2


def set_back(results: Path) -> Iterator[str]:
    """Give such files the date of now, in their order; yield a line for each of them."""
    now = time.time()
    dates: dict[Path, float] = {}
    for path in (path for pattern in _MADE for path in results.glob(pattern)):
        # A broken link, or a file that was deleted meanwhile: whoever reads it says so.
        with suppress(OSError):
            dates[path] = path.stat().st_mtime
    for path, date in sorted(dates.items(), key=lambda item: item[1]):
        if date > now + _SECONDS and os.access(path, os.W_OK):
            with suppress(FileNotFoundError):
                os.utime(path)
            minutes = (date - now) / 60
            yield f"fathom: {path}: dated {minutes:.1f} minutes in the future, dated now"
