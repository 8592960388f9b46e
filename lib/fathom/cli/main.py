"""`fathom`: what a command ends with.

Little is imported here, so that signals are handled from the start.
"""

import io
import logging
import os
import sys
import traceback

from fathom.cli.faults import fault
from fathom.io.errors import FathomError, Findings, printed
from fathom.io.screen import say
from fathom.io.signals import Pending, Stopped, ignore_others, raised


def main() -> None:
    """Run a verb; a user's mistake ends in one message and exit code 1, a bug in 70.

    A signal that stops the command ends in one message and 128 and its number (143 for USR1). typer
    itself ends a wrong command line with 2, and a closed pipe with 1.
    """
    try:
        with raised() as signal:
            _run(signal)
    except Stopped as stopped:
        ignore_others()
        # What the signal left half built may complain when it is deleted.
        sys.unraisablehook = lambda _: None
        # Of several processes of one training the first one says it.
        if os.environ.get("RANK", "0") == "0":
            say(f"fathom: {stopped}")
        sys.exit(stopped.code)


def _run(signal: Pending) -> None:
    # fairseq notes at import which packages it could also use, and makes filelock print too.
    for package in ("fairseq", "filelock"):
        logging.getLogger(package).setLevel(logging.WARNING)
    # A terminal without a letter shows its code.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        from fathom.cli.verbs import build

        build(sys.argv[1:])()
    except FathomError as error:
        _refuse(error)
    except Exception as bug:
        if signal.number:
            raise Stopped(signal.number) from None
        if error := fault(bug):
            _refuse(error)
        _refuse_broken_config()
        say("".join(traceback.format_exception(bug)).removesuffix("\n"))
        say("fathom: this is a bug of fathom; please report it with the lines above")
        sys.exit(70)


def _refuse(error: FathomError) -> None:
    """Print a user's mistake and exit with 1; FATHOM_DEBUG=1 shows where it was found."""
    if os.environ.get("FATHOM_DEBUG") == "1":
        raise error
    say(printed(error))
    sys.exit(1)


def _refuse_broken_config() -> None:
    """Exit as for a user's mistake where config/ is wrong: a workflow's verbs do not check it."""
    from fathom.cli.options import open_project

    try:
        open_project(check=True)
    except Findings as error:
        _refuse(error)
    except Exception:
        # No project here, or the bug itself.
        return
