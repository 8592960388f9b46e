"""The verbs of `fathom`: one for each stage and each question."""

import gc
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from fathom.io.commands import PROJECT_VARIABLE
from fathom.io.errors import FathomError, unknown
from fathom.io.retired import VERBS as RETIRED

# The file of this folder for each verb, in the data's order, under the headings of the help page.
VERBS = {
    "Ask": {
        **dict.fromkeys(("list", "show"), "ask"),
        **dict.fromkeys(("plan", "status"), "trainings"),
        **dict.fromkeys(("validate", "where", "params"), "ask"),
        **dict.fromkeys(("new", "adopt"), "new"),
    },
    "Data": dict.fromkeys(("fetch", "prepare", "subwords", "encode"), "text"),
    "Runs": {
        "run": "run",
        **dict.fromkeys(("train", "translate", "export"), "runs"),
    },
    "Measurements": dict.fromkeys(
        ("score", "likelihood", "best-window", "gates", "sharing"), "measure"
    ),
    "Results": {
        **dict.fromkeys(("table", "figure", "compare", "claims", "test", "page"), "draw"),
        **dict.fromkeys(("diff", "verify", "clean"), "files"),
    },
}

_VERSION = "--version"


def build(words: Sequence[str] = ()) -> typer.Typer:
    """Return the application with all verbs.

    If the first word of the command line is a verb, it has this one alone, and only its file is
    imported.
    """
    app = typer.Typer(
        name="fathom",
        help="Reproduce the tables and figures of papers on deep translation models.",
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    named = _verb(words)
    if named in VERBS["Ask"] | VERBS["Results"]:
        # What is read stays until the end; looking for garbage took a tenth of the time.
        gc.set_threshold(100_000)
    is_verb = any(named in verbs for verbs in VERBS.values())
    if named in RETIRED:
        raise FathomError(f"no verb '{named}' any more", "fathom", RETIRED[named])
    if named and not (is_verb or named.startswith("-")):
        raise unknown("verb", named, "fathom", [each for verbs in VERBS.values() for each in verbs])
    for heading, verbs in VERBS.items():
        for verb, file in verbs.items():
            if verb == named or not (is_verb or named == _VERSION):
                function = getattr(import_module(f"fathom.cli.{file}"), verb.replace("-", "_"))
                app.command(name=verb, rich_help_panel=heading)(function)
    app.callback()(top)
    return app


def _verb(words: Sequence[str]) -> str:
    """Return the word after the options of `fathom` itself, if there is one."""
    while words and words[0].startswith("--project"):
        words = words[1 if "=" in words[0] else 2 :]
    return words[0] if words else ""


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version as installed_version

        print(installed_version("fathom"))
        raise typer.Exit


def top(
    print_version: Annotated[
        bool,
        typer.Option(_VERSION, help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
    project: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="The project, where it is not here."),
    ] = None,
) -> None:
    """Reproduce the tables and figures of papers on deep translation models."""
    if project is not None:
        os.environ[PROJECT_VARIABLE] = project
