"""Of the processes that train together, one says what ended them.

They share a folder: who ends in an error writes it into state.json first, and who only notices that
another one is gone looks there. So nobody asks a process that no longer answers.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fathom.errors import FathomError
from fathom.io.memory import is_out_of_memory
from fathom.provenance.state_file import FAILED, OUT_OF_MEMORY, State, fail, read_state
from fathom.training.ranks import Lost, Ranks

# Seconds in which the first process says what all of them may have seen.
PATIENCE, _LOOK = 5.0, 0.1


class Ending:
    """What the processes know of their own end.

    Attributes:
        begun: whether the attempt has begun, so that state.json is this attempt's.
    """

    begun = False

    def __init__(self, ranks: Ranks, folder: Path):
        """Read what an earlier attempt recorded.

        Args:
            ranks: the processes.
            folder: of the run and seed.
        """
        self.ranks, self.folder = ranks, folder
        self._before = read_state(folder)

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


@contextmanager
def one_message(ranks: Ranks, folder: Path) -> Iterator[Ending]:
    """End in silence, with 1, where another process says what ended the training.

    Args:
        ranks: the processes.
        folder: of the run and seed.
    """
    ending = Ending(ranks, folder)
    try:
        yield ending
    except Exception as error:
        if ending.is_said(error) and ranks.world > 1:
            raise SystemExit(1) from error
        raise
