"""`fathom`: one command, one verb for each stage and each question."""

import errno
import logging
import sys
import traceback
from importlib import import_module
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from fathom.cli.options import debug, open_project, report
from fathom.errors import FathomError, Findings

# In the data's order; each is a file of this folder with a function of the same name.
VERBS = (
    ("Ask", ("list", "show", "validate", "where", "params")),
    ("Data", ("fetch", "prepare", "statistics", "subwords", "encode")),
    ("Runs", ("train", "translate", "prune", "check-learning")),
    ("Measurements", ("score", "likelihood", "best-window", "gates", "sharing", "summarise")),
    ("Results", ("table", "figure", "compare", "verify")),
)

# What a disk refuses is no bug: files are replaced at once, so nothing half-written is trusted.
NOT_WRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS)
NOT_WRITABLE_REMEDY = "make room or give the right to write there, and start again"


def build() -> typer.Typer:
    """Return the application with all verbs."""
    app = typer.Typer(
        name="fathom",
        help="Reproduce the tables and figures of papers on deep translation models.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for panel, verbs in VERBS:
        for verb in verbs:
            name = verb.replace("-", "_")
            module = import_module(f"fathom.cli.{name}")
            app.command(name=verb, rich_help_panel=panel)(getattr(module, name))
    app.callback()(version)
    return app


def _print_version(asked: bool) -> None:
    if asked:
        print(installed_version("fathom"))
        raise typer.Exit


def version(
    print_version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Reproduce the tables and figures of papers on deep translation models."""


def main() -> None:
    """Run a verb; a user's mistake ends in one message and exit code 1, a bug in 70.

    typer itself ends a wrong command line with 2, an interruption with 130, and a closed pipe
    with 1.
    """
    # fairseq notes at import which packages it could also use, and makes filelock print too.
    for package in ("fairseq", "filelock"):
        logging.getLogger(package).setLevel(logging.WARNING)
    try:
        build()()
    except FathomError as error:
        _refuse(error)
    except Exception as bug:
        if isinstance(bug, OSError) and bug.errno in NOT_WRITABLE:
            _refuse(
                FathomError(str(bug.strerror), str(bug.filename or "disk"), NOT_WRITABLE_REMEDY)
            )
        _refuse_broken_config()
        traceback.print_exception(bug)
        report("fathom: this is a bug of fathom; please report it with the lines above")
        sys.exit(70)


def _refuse(error: FathomError) -> None:
    """Print a user's mistake and exit with 1."""
    if debug():
        raise error
    report(f"fathom: {error}" if "\n" not in str(error) else str(error))
    sys.exit(1)


def _refuse_broken_config() -> None:
    """Exit as for a user's mistake where config/ is wrong: a workflow's verbs do not check it."""
    try:
        open_project()
    except Findings as error:
        _refuse(error)
    except Exception:
        # No project here, or the bug itself.
        return
