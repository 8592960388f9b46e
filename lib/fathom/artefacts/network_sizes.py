"""The parameter counts of networks, remembered as long as the code is the same.

To count, a network is built; fifty of them take ten times as long as everything else that
`fathom params` does.
"""

from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fathom.config.spec import Spec
from fathom.io.errors import FathomError
from fathom.io.hashes import identity
from fathom.io.integrity import read_record, write_record
from fathom.results.recipe import PACKAGE, hashed

# The packages whose layers have parameters.
_LAYERS = ("torch", "fairseq-fixed")
# Settings, and the sizes of the two dictionaries → parameters by part.
Count = Callable[[Spec, int, int], dict[str, int]]


class NetworkSizes:
    """Counts that were made before, and the way to make others."""

    def __init__(self, path: Path, count: Count):
        """Read the file; one that is missing, damaged or of other code counts as empty.

        Args:
            path: the file.
            count: builds a network, and counts.
        """
        self._path, self._count, self._changed = path, count, False
        self._code = {"sources_sha256": hashed(PACKAGE)} | {name: version(name) for name in _LAYERS}
        self._totals = self._read()

    def total(self, spec: Spec, source: int, target: int) -> int:
        """Return the parameters of a run's network.

        Args:
            spec: the run.
            source: entries of the source dictionary.
            target: entries of the target dictionary.
        """
        key = identity(
            {
                "model": spec.model.model_dump(mode="json"),
                "method": spec.method.model_dump(mode="json"),
                "tasks": len(spec.data.tasks),
                "entries": [source, target],
            }
        )
        if key not in self._totals:
            self._totals[key] = self._count(spec, source, target)["total"]
            self._changed = True
        return self._totals[key]

    def save(self) -> None:
        """Write the file if something was counted, and if this user may write it."""
        if self._changed:
            with suppress(OSError):
                write_record(self._path, {"code": self._code, "totals": self._totals})

    def _read(self) -> dict[str, Any]:
        try:
            content = read_record(self._path)
        except (FathomError, OSError):
            return {}
        return content["totals"] if content["code"] == self._code else {}
