"""`fathom diff`: what differs between two trees of results."""

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import Json

First = Annotated[
    Path, typer.Argument(metavar="A", help="A folder of results, or `fathom pack`'s file of all.")
]
Second = Annotated[Path, typer.Argument(metavar="B", help="Another.")]
Table = Annotated[
    str | None, typer.Option(help="Compare this table or figure alone, as <paper>_<table>.")
]
Scale = Annotated[
    str | None,
    typer.Option(help="Compare tables, figures, claims and verdicts of this scale alone."),
]


def size(text: str) -> float:
    """Read how far two numbers may be apart.

    Raises:
        typer.BadParameter: If it is not a number, below 0, or infinite.
    """
    try:
        value = float(text)
    except ValueError:
        raise typer.BadParameter(f"'{text}' is not a number") from None
    if not 0 <= value < math.inf:
        raise typer.BadParameter(f"{text} is not at least 0 and finite")
    return value


Tolerance = Annotated[
    float,
    typer.Option(
        parser=size,
        metavar="NUMBER",
        help="How far two numbers may be apart, in their own unit, also inside a text.",
    ),
]
Costs = Annotated[bool, typer.Option("--costs", help="Count other times as differences.")]


def diff(
    first: First,
    second: Second,
    table: Table = None,
    scale: Scale = None,
    tolerance: Tolerance = 0.0,
    costs: Costs = False,
    as_json: Json = False,
) -> None:
    """Compare two trees of results.

    Prints a line for each cell, claim, outcome, setting and run that differs; exit
    code 1 if there is any. A number that a table and compare.csv both have is named
    once. Times, code and devices are named apart.

    Example: fathom diff results-tiny.tar.gz results --tolerance 0.01
    """
    from fathom.results.archive import opened_tree
    from fathom.results.diff import compare

    with opened_tree(first) as own, opened_tree(second) as other:
        compared = compare(own, other, tolerance, table=table or "", scale=scale or "", costs=costs)
    if as_json:
        shown = {"a": str(first), "b": str(second)} | compared.as_json()
        print(json.dumps(shown, indent=1, allow_nan=False))
    else:
        for line in compared.lines():
            print(line)
    if not compared.equal:
        raise typer.Exit(1)
