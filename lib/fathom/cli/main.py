"""`fathom`: one command, one verb for each stage and each question."""

import errno
import logging
import sys
import traceback
from importlib import import_module

import typer

from fathom.cli.options import debug, open_catalog, report
from fathom.errors import FathomError, Findings

# In the data's order; each is a file beside this one with a function of the same name.
VERBS = (
    ("Ask", ("show", "list", "validate", "where")),
    ("Data", ("fetch", "prepare", "subwords", "encode")),
    (
        "Runs",
        ("train", "translate", "prune", "likelihood", "score", "window", "conclude", "anchor"),
    ),
    ("Results", ("table", "figure", "compare", "params")),
)

# What a disk refuses is no bug: stages write whole files, so that nothing half-written is trusted.
NOT_WRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS)
NOT_WRITABLE_REMEDY = "make room or give the right to write there, and start again"


def build() -> typer.Typer:
    """Return the application with all verbs."""
    app = typer.Typer(
        name="fathom",
        help="Reproduce papers on deep and latent-depth translation models, cell by cell.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    for panel, verbs in VERBS:
        for verb in verbs:
            module = import_module(f"fathom.cli.{verb}")
            app.command(name=verb, rich_help_panel=panel)(getattr(module, verb))
    return app


def main() -> None:
    """Run a verb; a user's mistake ends in one message and exit code 1, a bug in 70.

    What ends otherwise ends in typer: a wrong command line in 2, an interruption in 130, a reader
    who has gone in 1.
    """
    # At import it notes at level INFO which packages it could also use.
    logging.getLogger("fairseq").setLevel(logging.WARNING)
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
    """Tell a user's mistake and end with exit code 1."""
    if debug():
        raise error
    report(f"fathom: {error}" if "\n" not in str(error) else str(error))
    sys.exit(1)


def _refuse_broken_config() -> None:
    """End as for a user's mistake where config/ is wrong: a workflow's verbs do not check it."""
    try:
        open_catalog()
    except Findings as error:
        _refuse(error)
    except Exception:
        # No project here, or the bug itself: there is nothing to refuse.
        return
