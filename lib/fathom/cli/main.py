"""`fathom`: what a command ends with.

Little is imported here, so that signals are handled from the start.
"""

import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise

from fathom.io.errors import FathomError, printed
from fathom.io.machine import fault_of_machine
from fathom.io.retired import OPTIONS
from fathom.io.screen import say
from fathom.io.signals import Pending, Stopped, ignore_others, raised

# The pages that print the test of what a plugin's module promises.
_PAGES = {"methods": "docs/adding_a_method.md", "metrics": "docs/adding_a_metric.md"}
# matplotlib reads these when it is imported, and ends in a traceback if a user's own are wrong.
_DRAWING = {"MPLBACKEND": "agg", "MATPLOTLIBRC": os.devnull}


def main() -> None:
    """Run a verb; a user's mistake ends in one message and exit code 1, a bug in 70.

    A signal that stops the command ends in one message and 128 and its number (143 for a
    scheduler's warning). A closed pipe ends it with 1.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
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
    os.environ.update(_DRAWING)
    # A terminal without a letter shows its code.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        # Of programs that observe pydantic: it would look for them among all packages.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from fathom.cli.verbs import build

        words = sys.argv[1:] or ["--help"]
        _refuse_empty(words)
        try:
            code = build(words)(words, standalone_mode=False)
        finally:
            _flush()
        sys.exit(code or 0)
    except FathomError as error:
        _refuse(error)
    except Exception as bug:
        if signal.number:
            raise Stopped(signal.number) from None
        if isinstance(bug, FileNotFoundError | IsADirectoryError | NotADirectoryError):
            _refuse_plugin(bug)
        if error := fault_of_machine(bug):
            _refuse(error)
        _refuse_mistyped(bug)
        _refuse_plugin(bug)
        say("".join(traceback.format_exception(bug)).removesuffix("\n"))
        report = "please report it with the lines above, as CONTRIBUTING.md says"
        say(f"fathom: this is a bug of fathom{_of_plugins()}; {report}")
        sys.exit(70)


def _flush() -> None:
    """Write what is left of the answer here, where a refusal can still be said.

    The stream is then given up, so that the interpreter does not try again.
    """
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError as refusal:
        sys.stdout = None
        if refusal.errno == errno.EPIPE:
            sys.exit(1)
        refusal.filename = "standard output"
        raise


def _refuse_empty(words: Sequence[str]) -> None:
    """Refuse an option without text, such as one with a variable of the shell that is not set."""
    for option, value in pairwise([*words, "-"]):
        name, sign, rest = option.partition("=")
        if name.startswith("--") and (value == "" or (sign and not rest)):
            raise FathomError("no text is given", name, "write a value, or leave the option out")


def _refuse(error: FathomError) -> None:
    """Print a user's mistake and exit with 1; FATHOM_DEBUG=1 shows where it was found."""
    if os.environ.get("FATHOM_DEBUG") == "1":
        raise error
    say(printed(error))
    sys.exit(1)


def _refuse_mistyped(error: Exception) -> None:
    """Exit as for a user's mistake where typer finds one in the command line."""
    from typer.exceptions import TyperException

    if not isinstance(error, TyperException):
        return
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "fathom"
    what, remedy = error.format_message(), f"see `{command} --help`"
    verb = command.rpartition(" ")[2]
    if instead := OPTIONS.get(f"{verb} {getattr(error, 'option_name', '')}"):
        what, remedy = error.message, instead
    elif near := getattr(error, "possibilities", None):
        what, remedy = error.message, f"nearest valid name: '{near[0]}'"
    elif param := getattr(error, "param", None):
        remedy = f"help: {param.help}"
    what = f"{what[0].lower()}{what[1:]}".replace("Input should", "it should").rstrip(".")
    _refuse(FathomError(what, verb, remedy))


def _refuse_plugin(error: Exception) -> None:
    """Exit as for a user's mistake where it is in the code of a method, metric or reader."""
    from fathom.config.plugins import fault_of

    if fault := fault_of(error):
        _refuse(fault)


def _of_plugins() -> str:
    """Return which modules of plugins may have the bug, since they ran; nothing without any."""
    from fathom.config.plugins import imported

    return "".join(
        f", or of {file}" + (f" (test its contracts: {_PAGES[kind]})" if kind in _PAGES else "")
        for (kind, _), file in imported().items()
    )
