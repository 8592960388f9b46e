"""`fathom table`: draw a table from manifests."""

from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.options import Scale, open_catalog, open_paths, report

if TYPE_CHECKING:
    from fathom.tables.layout import Grid, Sheet

Partial = Annotated[bool, typer.Option(help="Draw what is there; the rest says `not run`.")]


def table(
    target: Annotated[str, typer.Argument(help="A table, as <paper>_<artefact>.")],
    scale: Scale = None,
    partial: Partial = False,
    show: Annotated[bool, typer.Option(help="Print the table as well.")] = False,
) -> None:
    """Draw a table as csv, md, tex and html.

    Nothing is trained: it needs the manifest of each of its runs, or --partial.

    Example: fathom table latent_depth_table5 --partial --show
    """
    from fathom.papers.paper import find_artefact
    from fathom.tables.formats import draw
    from fathom.tables.manifests import require, rows_of

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    paper, artefact = find_artefact(catalog.papers, target, "table")
    rows = rows_of(artefact, catalog, paths)
    if not partial:
        require(rows, target, "table", name)
    path = paths.artefact(paper.name, artefact.name, "md")
    sheet = draw(artefact, rows, name, path.with_suffix(""))
    report(f"table: {path}, and csv, tex, html beside it")
    if show:
        print_sheet(sheet)


def print_sheet(sheet: "Sheet") -> None:
    """Print a table; where the terminal is too narrow, without the intervals."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"[bold]{sheet.title}[/bold]")
    narrow = False
    for grid in sheet.grids:
        if grid.heading:
            console.print(f"\n[bold]{grid.heading}[/bold]")
        wide = console.options.update(max_width=1000)
        for spreads, tight in ((True, False), (False, False), (False, True)):
            drawn = _rich(grid, spreads, tight)
            if console.measure(drawn, options=wide).maximum <= console.width:
                break
        narrow = narrow or not spreads
        console.print(drawn)
        if grid.note:
            console.print(grid.note, markup=False, style="dim")
    for note in sheet.notes:
        console.print(note, markup=False, style="dim")
    if narrow:
        console.print("The terminal is narrow: intervals (±) stand in the files.", style="dim")


def _rich(grid: "Grid", spreads: bool, tight: bool) -> object:
    """Return a grid as a rich table; a tight one has columns as wide as their longest word."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(
        box=box.SIMPLE_HEAD, padding=(0, int(not tight), 0, 0), pad_edge=False, show_edge=False
    )
    texts = [[cell.whole if spreads else cell.text for cell in row] for row in grid.body]
    for position, title in enumerate(grid.header):
        left = position in grid.texts
        # Outcomes may be broken between words, numbers never.
        words = [word for row in (grid.header, *texts) for word in row[position].split()]
        drawn.add_column(
            Text(title),
            justify="left" if left else "right",
            no_wrap=left,
            **{"width" if tight and not left else "min_width": max(map(len, words), default=1)},
        )
    for row in texts:
        drawn.add_row(*map(Text, row))
    if grid.footer:
        drawn.add_section()
        drawn.add_row(*(Text(cell.text) for cell in grid.footer), style="dim")
    return drawn
