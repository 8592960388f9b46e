"""A package through the client that its users have: pip, apt-get or npm, with their settings."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fathom.data.answers import Limits
from fathom.io.errors import FathomError


@dataclass(frozen=True)
class Client:
    """A program that downloads packages.

    Attributes:
        name: what messages call it.
        files: a pattern of the files that it leaves.
        by_hand: the command with which a user sees its own messages, with `{package}`.
        install: what to do where there is no such program.
        causes: what it prints, what that means and what to do; the first that fits counts. Its own
            text is not printed, since it names the index that the user has configured.
    """

    name: str
    files: str
    by_hand: str
    install: str
    causes: tuple[tuple[str, str, str], ...]

    def download(
        self,
        command: Sequence[str],
        package: str,
        size: int,
        folder: Path,
        put: Path,
        limits: Limits,
    ) -> Path:
        """Run the program, and return the file that it downloads.

        Args:
            command: the program and its arguments.
            package: the package and its version, as the program writes them.
            size: the file's size in bytes.
            folder: an existing folder, empty; the program runs there.
            put: where a user may put the file by hand.
            limits: of the time that the program may take.

        Raises:
            FathomError: it is not there, or does not download the file.
        """
        # A client limits its silence alone.
        seconds = limits.rate_over + size / limits.rate
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                # Messages in English, whatever language the user has.
                env=os.environ | {"LC_ALL": "C"},
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            what = f"{self.name} has not ended after {seconds:,.0f} seconds"
            raise FathomError(what, package, f"put the file at {put}") from None
        except FileNotFoundError:
            what = f"there is no `{self.name}` here"
            remedy = f"{self.install}, or put the file at {put}"
            raise FathomError(what, package, remedy) from None
        files = sorted(folder.glob(self.files))
        if done.returncode == 0 and len(files) == 1:
            return files[0]
        output = done.stdout + done.stderr
        for sign, what, remedy in self.causes:
            if sign in output:
                raise FathomError(what, package, remedy.format(put=put, package=package))
        by_hand = self.by_hand.format(package=package)
        remedy = f"see why with `{by_hand}`, or put the file at {put}"
        raise FathomError(f"{self.name} ended with status {done.returncode}", package, remedy)
