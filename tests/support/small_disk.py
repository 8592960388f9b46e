"""A disk that is full soon."""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BYTES = 4 << 20


class SmallDisk:
    """A folder in which 4 MB fit, by tmpfs or, where nothing can be mounted, a limit on files."""

    def __init__(self, folder: Path, means: str):
        self.folder, self.means = folder, means
        self._limit = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(self, leave: int) -> None:
        """Leave some bytes; where only files are limited, no file may become larger than that."""
        if self.means == "tmpfs":
            free = os.statvfs(self.folder)
            (self.folder / "filler").write_bytes(bytes(free.f_bavail * free.f_frsize - leave))
        else:
            self.limit(leave)

    def limit(self, size: int) -> None:
        """Limit the size of each file that this process writes."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, self._limit[1]))

    def free(self) -> None:
        """Make room again."""
        (self.folder / "filler").unlink(missing_ok=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, self._limit)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """Make a small disk at a folder, which must not exist."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={BYTES}", "none", folder]
    if subprocess.run(command, capture_output=True, check=False).returncode == 0:
        yield SmallDisk(folder, "tmpfs")
        subprocess.run(["umount", "--lazy", folder], check=True)
        return
    disk = SmallDisk(folder, "a limit on the size of a file")
    disk.limit(BYTES)
    yield disk
    disk.free()
