"""Of the processes that train together, one says what ended them.

They share a folder: who ends in an error writes it into state.json first, and who only notices that
another one is gone looks there. So nobody asks a process that no longer answers.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from fathom.io.errors import FathomError
from fathom.io.memory import is_out_of_memory
from fathom.results.run_state import FAILED, OUT_OF_MEMORY, State, fail, read_state
from fathom.train.attempt import Attempt
from fathom.train.ranks import Lost, Ranks

# Seconds in which the first process says what all of them may have seen.
PATIENCE, _LOOK = 5.0, 0.1


class OneMessage:
    """A block that ends in silence, with 1, where another process says what ended the training.

    Attributes:
        begun: whether the attempt has begun, so that state.json is this attempt's.
        attempt: of the first process, once it has begun.
    """

    def __init__(self, ranks: Ranks, folder: Path):
        """Read what an earlier attempt recorded.

        Args:
            ranks: the processes.
            folder: of the run and seed.
        """
        self.ranks, self.folder = ranks, folder
        self.begun, self.attempt = False, None
        self._before = read_state(folder)

    def begin(self, attempt: Attempt | None) -> None:
        """Say that the attempt has begun.

        Args:
            attempt: of the first process; the others have none.
        """
        self.begun, self.attempt = True, attempt

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Record an error, unless another process has done so.

        Raises:
            SystemExit: another process says what ended all of them.
        """
        if not isinstance(error, Exception):
            return
        if self.attempt:
            self.attempt.failed(self.kind(error))
        if self.is_said(error) and self.ranks.world > 1:
            raise SystemExit(1) from error

    def kind(self, error: Exception) -> str:
        """Return out_of_memory or failed, for the error of this process or of the one it lost."""
        other = self._recorded()
        if isinstance(error, Lost) and other:
            return other.state
        return OUT_OF_MEMORY if is_out_of_memory(error) else FAILED

    def is_said(self, error: Exception) -> bool:
        """Return whether another process says what ended all of them; if not, record it."""
        if isinstance(error, Lost) and self.ranks.rank > 1:
            return True
        if isinstance(error, FathomError) and not self.ranks.first:
            # The first process has the same error, or is the one that is lost.
            self._wait()
        if isinstance(error, FathomError) and self._recorded():
            return True
        kind, reason = self.kind(error), str(error).partition("\n")[0]
        with suppress(OSError):
            return self.begun and not fail(self.folder, kind, reason)
        return False

    def _recorded(self) -> State | None:
        """Return the error that a process of this attempt has recorded."""
        state = read_state(self.folder)
        return state if state and state.is_error and state != self._before else None

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not self._recorded():
            time.sleep(_LOOK)
