"""`fathom table`: draw a table from measurements."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.options import Json, Results, Scale, Seeds, open_artefacts, report, suggest

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from fathom.artefacts.table.view import BlockView, TableView

Partial = Annotated[bool, typer.Option(help="Draw what exists; the rest says `not run`.")]


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

    console = Console(highlight=False)
    console.print(table.title, style="bold", markup=False)
    wide = console.options.update(max_width=1000)
    narrow = False
    for block in table.blocks:
        if block.heading:
            console.print(f"\n{block.heading}", style="bold", markup=False)
        grid = _grid(block, spreads=True)
        if console.measure(grid, options=wide).maximum > console.width:
            grid, narrow = _grid(block, spreads=False), True
        console.print(grid)
    for note in (table.caption, *table.notes):
        console.print(note, style="dim", markup=False)
    if narrow:
        console.print("The terminal is narrow: ± is in the files.", style="dim", markup=False)


def _grid(block: "BlockView", spreads: bool) -> "Grid":
    """Return a block for the terminal; columns wrap between words and never inside a number."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    rows = [
        [row.label, *(cell.full if spreads else cell.text for cell in row.cells)]
        for row in block.rows
    ]
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for at, title in enumerate(("", *block.columns)):
        words = [word for row in ([title] * (at + 1), *rows) for word in row[at].split()]
        longest = max(map(len, words), default=1)
        justify = "right" if at else "left"
        grid.add_column(Text(title), justify=justify, no_wrap=not at, min_width=longest)
    for row, texts in zip(block.rows, rows, strict=True):
        grid.add_row(*map(Text, texts), style="" if row.kind == "result" else "dim")
    return grid
