"""`fathom table`: draw a table from measurements."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.options import Json, Results, Scale, Seeds, open_artefacts, report, suggest

if TYPE_CHECKING:
    from fathom.artefacts.table.view import TableView

Partial = Annotated[bool, typer.Option(help="Draw what exists; the rest says `not run`.")]
_STYLES = {"result": "", "heading": "bold"}  # of lines; the others are dim


def table(
    target: Annotated[str, typer.Argument(help="A table, as <paper>_<table>.")],
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    partial: Partial = False,
    show: Annotated[bool, typer.Option(help="Print the table too.")] = False,
    as_json: Json = False,
) -> None:
    """Draw a table as csv, md, tex and html.

    Our numbers are above the paper's.
    Trains nothing: the measurements of all its runs must exist, unless --partial is given.

    Example: fathom table latent_depth_table5 --partial --show
    """
    from fathom.artefacts.table import formats
    from fathom.artefacts.table.notes import warnings_of
    from fathom.artefacts.table.view import view
    from fathom.config.paper import find

    artefacts = open_artefacts(scale, results, seeds)
    paper, drawn = find(artefacts.project.papers, target, "table")
    if not partial:
        artefacts.require(paper, drawn)
    compared = artefacts.compared(paper, drawn)
    laid_out = view(compared, paper.about.reference)
    stem = artefacts.stem(paper, drawn)
    numbers = formats.numbers(compared)
    formats.write(laid_out, numbers, stem)
    for note in warnings_of(compared):
        report(f"table: {note}")
    report(f"table: {stem}.md, csv, tex, html")
    if as_json:
        # Unknown numbers become null, and not NaN.
        records = json.loads(str(numbers.to_json(orient="records")))
        print(json.dumps(records, indent=1, allow_nan=False))
        return
    if show:
        print_table(laid_out)
    suggest(f"fathom compare --table {target} --scale {artefacts.scale}")


def print_table(table: "TableView") -> None:
    """Print a table; where the terminal is too narrow, without ±."""
    from rich.console import Console

    from fathom.artefacts.table.formats import terminal

    console = Console(highlight=False)
    console.print(table.title, style="bold", markup=False)
    narrow = False
    for block in table.blocks:
        if block.heading:
            console.print(f"\n{block.heading}", style="bold", markup=False)
        lines, without_spreads = terminal(block, console.width)
        narrow = narrow or without_spreads
        for line, kind in lines:
            style = _STYLES.get(kind, "dim")
            console.print(line, style=style, markup=False, no_wrap=True, overflow="ignore")
        console.print()
    for note in (table.caption, *table.notes):
        console.print(note, style="dim", markup=False)
    if narrow:
        console.print("The terminal is narrow: ± is in the files.", style="dim", markup=False)
