"""The verbs of `fathom`: one for each stage and each question."""

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from fathom.cli.options import PROJECT_VARIABLE

# In the data's order; each is a file of this folder with a function of the same name.
VERBS = (
    ("Ask", ("list", "show", "plan", "status", "validate", "where", "params")),
    ("Data", ("fetch", "prepare", "statistics", "subwords", "encode")),
    ("Runs", ("train", "translate", "prune", "export", "check-learning")),
    ("Measurements", ("score", "likelihood", "best-window", "gates", "sharing")),
    (
        "Results",
        (
            "table",
            "figure",
            "curves",
            "compare",
            "claims",
            "page",
            "diff",
            "verify",
            "pack",
            "unpack",
            "clean",
        ),
    ),
)


def build(words: Sequence[str] = ()) -> typer.Typer:
    """Return the application with all verbs, or with the one that is asked for.

    Args:
        words: of the command line. If the first is a verb, no other verb is imported.
    """
    app = typer.Typer(
        name="fathom",
        help="Reproduce the tables and figures of papers on deep translation models.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    names = {verb for _, verbs in VERBS for verb in verbs}
    asked = names.intersection(_verb(words)) or names
    for panel, verbs in VERBS:
        for verb in filter(asked.__contains__, verbs):
            name = verb.replace("-", "_")
            module = import_module(f"fathom.cli.{name}")
            app.command(name=verb, rich_help_panel=panel)(getattr(module, name))
    app.callback()(top)
    return app


def _verb(words: Sequence[str]) -> Sequence[str]:
    """Return the word after the options of `fathom` itself, if there is one."""
    while words and words[0].startswith("--project"):
        words = words[1 if "=" in words[0] else 2 :]
    return words[:1]


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version as installed_version

        print(installed_version("fathom"))
        raise typer.Exit


def top(
    print_version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
    project: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="The project. Default: here, or the package's own."),
    ] = None,
) -> None:
    """Reproduce the tables and figures of papers on deep translation models."""
    if project is not None:
        os.environ[PROJECT_VARIABLE] = project
