"""The verbs that draw and judge: table, figure, compare, claims, test, page."""

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.artefacts.rendering import write_csv
from fathom.cli.options import (
    Gates,
    HeldOut,
    Json,
    Paper,
    Results,
    Scale,
    Seeds,
    check_artefacts,
    open_artefacts,
    papers_named,
)
from fathom.cli.terminal import answer, print_lines, report, suggest
from fathom.config import plugins
from fathom.config.measurement_keys import METRICS, ShownValue
from fathom.decode.ready import require_decoder, require_name
from fathom.io.errors import FathomError
from fathom.io.files import write_text
from fathom.io.screen import duration

if TYPE_CHECKING:
    from fathom.artefacts.artefacts import Artefacts
    from fathom.artefacts.claims.judged import Judged
    from fathom.artefacts.table.view import TableView

Partial = Annotated[bool, typer.Option(help="Draw what exists; the rest says `not run`.")]
_STYLES = {"result": "", "heading": "bold"}  # of lines; the others are dim


def table(
    target: Annotated[str, typer.Argument(help="A table, as <paper>_<table>.")],
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    partial: Partial = False,
    show: Annotated[bool, typer.Option(help="Print the table, and write no file.")] = False,
) -> None:
    """Draw a table as csv, md, tex and html.

    Our numbers are above the paper's. Another csv has the numbers of each seed.
    Trains nothing: the measurements of all its runs must exist, unless --partial is given.
    With --show it is printed, and no file is written.

    Example: fathom table latent_depth_table5 --partial --show
    """
    from fathom.artefacts.table import formats
    from fathom.artefacts.table.view import view

    artefacts = open_artefacts(scale, results, seeds)
    paper, drawn = artefacts.project.find(target, "table")
    if not partial:
        artefacts.require(paper, drawn)
    compared = artefacts.compared(paper, drawn)
    laid_out = view(compared, paper.about.reference)
    if gone := artefacts.decodings_gone:
        report(f"table: decodings of these cells that are gone: {gone}; their scores stay")
    if show:
        print_table(laid_out)
    else:
        stem = artefacts.stem(paper, drawn)
        formats.write(laid_out, compared, stem)
        report(f"table: {stem}.md, csv, tex, html")
    further = ["page", paper.name] if paper.is_study else ["compare", "--table", target]
    if all(not item.result.shown or item.result.words for item in compared.cells):
        further = ["run", target]
    suggest(artefacts.paths.fathom(*further, "--scale", artefacts.scale))


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


def figure(
    target: Annotated[str, typer.Argument(help="A figure or, with --curves, a table.")],
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    partial: Partial = False,
    curves: Annotated[
        bool, typer.Option("--curves", help="Draw the learning curves of a table's rows.")
    ] = False,
) -> None:
    """Draw a figure as csv, png and pdf.

    Trains nothing: the files of all its runs must exist, unless --partial is given.
    With --curves it draws training and validation NLL of a table's rows as svg and
    csv, and prints the last validation NLL of each. What was not started is left out.

    Example: fathom figure latent_depth_figure4 --partial
    """
    from fathom.artefacts.figures import kinds

    artefacts = open_artefacts(scale, results, seeds)
    if curves:
        _draw_curves(artefacts, target)
        return
    paper, spec = artefacts.project.find(target, "figure")
    check_artefacts(artefacts.project, paper.name)
    if not partial:
        artefacts.require(paper, spec)
    stem = artefacts.stem(paper, spec)
    inputs = artefacts.inputs(paper, spec)
    lost = kinds.draw(spec, inputs, stem)
    for note in lost:
        report(f"figure: left out: {note}")
    report(f"figure: {stem}.png, pdf, csv")


def _draw_curves(artefacts: "Artefacts", target: str) -> None:
    """Write the learning curves of a table's rows, and print how each of them ended."""
    from fathom.artefacts.curves import curve, run_labels, write

    paper, table = artefacts.project.find(target, "table")
    labels = run_labels(artefacts.cells(table))
    if not labels:
        remedy = f"draw it with `{artefacts.paths.command('table', target)}`"
        raise FathomError("the table shows no runs", target, remedy)
    of_runs = [curve(label, artefacts.source(run)) for run, label in labels.items()]
    started = [item for item in of_runs if item.seeds]
    lost = [note for item in of_runs for note in item.lost]
    if not started:
        what = "; ".join(lost) or f"no training of its runs in {artefacts.paths.searched}"
        command = artefacts.paths.run_command(target)
        raise FathomError(what, f"{target} at scale {artefacts.scale}", f"train with `{command}`")
    for note in lost:
        report(f"figure: left out: {note}")
    print_lines(f"{item.label}: {item.words}" for item in started)
    stem = artefacts.stem(paper, table)
    stem = stem.with_name(f"{stem.name}_curves")
    write(f"{target}, scale {artefacts.scale}", started, stem)
    report(f"figure: {stem}.svg, csv")


OneTable = Annotated[
    str | None, typer.Option(help="Print only this table, as <paper>_<table>. Default: all.")
]


def compare(
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    table: OneTable = None,
    as_json: Json = False,
) -> None:
    """Compare every reported cell with ours.

    Trains nothing: a cell of a run without measurements says `not run`. Writes
    compare.csv and deviations.md of all tables; --table chooses what is printed.

    Example: fathom compare --table latent_depth_table5 --json
    """
    from fathom.artefacts import deviations
    from fathom.artefacts.table.comparison import COLUMNS, counts, lines
    from fathom.artefacts.table.formats import average_lines

    artefacts = open_artefacts(scale, results, seeds)
    papers, path = artefacts.project.papers, artefacts.paths.compare
    shown = [artefacts.compared(*artefacts.project.find(table, "table"))] if table else []
    if shown and artefacts.project.files.is_study(shown[0].table.paper):
        remedy = f"draw it with `{artefacts.paths.command('table', str(table))}`"
        raise FathomError("a study has no printed cells", str(table), remedy)
    with _of_all_papers(path, required=table is None):
        papers = {name: paper for name, paper in papers.items() if not paper.is_study}
        every = [
            artefacts.compared(paper, table)
            for paper in papers.values()
            for table in paper.tables.values()
        ]
        chosen = deviations.page(papers)
        write_csv(path, COLUMNS, lines(every))
        write_text(path.with_name("deviations.md"), chosen)
        shown = shown or every
    answer(as_json, lines(shown), average_lines(shown))
    summary = ", ".join(f"{count} {words}" for words, count in counts(shown).items())
    report(f"compare: {path}: {summary}")
    suggest(artefacts.paths.fathom("page", "--scale", artefacts.scale))


@contextmanager
def _of_all_papers(path: Path, required: bool) -> Iterator[None]:
    """Write files that have all papers inside the block.

    Where the user names one paper, a mistake in another leaves the files as they are.
    """
    try:
        yield
    except FathomError as error:
        if required:
            raise
        report(f"{path} stays as it is, since it has all papers: {error}")


OfTable = Annotated[
    str | None, typer.Option(help="Print only the claims that use this table, <paper>_<table>.")
]
Counts = Annotated[bool, typer.Option("--counts", help="Print only how many have each answer.")]


def claims(
    paper: Paper = None,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    table: OfTable = None,
    counts: Counts = False,
) -> None:
    """Check the papers' claims against our results and against their own numbers.

    Trains nothing: a claim that needs a run without measurements says `not run`,
    and is printed where PAPER or --table is given. Writes claims.csv of all papers.

    Example: fathom claims latent_depth --table latent_depth_table5
    """
    from fathom.artefacts.claims.judged import judged
    from fathom.artefacts.claims.view import COLUMNS, lines, not_run, printed, summary
    from fathom.artefacts.table.sources import NOT_RUN

    artefacts = open_artefacts(scale, results, seeds)
    papers, path = artefacts.project.papers, artefacts.paths.claims
    named = papers_named(artefacts.project, paper, "claims")
    if table:
        of_table, _ = artefacts.project.find(table, "table")
        named = [name for name in named if name == of_table.name]

    def judge(name: str) -> "tuple[Judged, ...]":
        check_artefacts(artefacts.project, name)
        return judged(artefacts, papers[name])

    answers = {name: judge(name) for name in named}
    if paper and not answers[paper]:
        folder = artefacts.project.files.name_of(papers[paper].folder)
        place = "`claims:` in {}/study.yaml" if papers[paper].is_study else "{}/claims.yaml"
        raise FathomError("no claims", paper, f"write {place.format(folder)} (docs/claims.md)")
    with _of_all_papers(path, required=len(named) == len(papers)):
        of_all = [claim for name in papers for claim in answers.get(name) or judge(name)]
        write_csv(path, COLUMNS, lines(of_all))
    shown = [
        claim
        for of_paper in answers.values()
        for claim in of_paper
        if table is None or table in [f"{claim.paper}_{name}" for name in claim.artefacts]
    ]
    brief = paper is None and table is None
    ran = [claim for claim in shown if not brief or claim.answer != NOT_RUN]
    if not counts:
        print_lines(printed(ran))
        print_lines(not_run(shown) if brief else ())
    print_lines(summary(shown))
    report(f"claims: {path}")


def test(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Two runs or more, or rows ('<paper>_<table>: <row>'); the last is subtracted."
        ),
    ],
    metric: Annotated[str, typer.Option(help=f"{', '.join(METRICS)}.")] = "bleu",
    task: Annotated[str | None, typer.Option(help="One task in place of the mean.")] = None,
    each_task: Annotated[bool, typer.Option("--each-task", help="Each task by itself.")] = False,
    split: HeldOut = "test",
    gates: Gates = None,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    as_json: Json = False,
) -> None:
    """Test whether runs differ by more than chance.

    For each run, compared with the last one, two lines: Student's t over
    trainings (in pairs of equal seeds, else Welch's), and the paired bootstrap
    over test sentences. Each has its 95 % interval, p, and p corrected for all
    comparisons (Holm). Trains nothing.

    Example: fathom test m2o_diverse_ll_d_12_24 m2o_diverse_12_12 --each-task
    """
    from fathom.artefacts.significance import compare_runs, lines, with_gates

    if task is not None and each_task:
        raise FathomError("--task is one task, and --each-task all", "test", "leave one out")
    artefacts = open_artefacts(scale, results, seeds)
    require_name(metric, plugins.names("metrics"), "metric", "--metric")
    names = [artefacts.project.run_name(run) for run in runs]
    if len(names) < 2:
        raise FathomError("one run is compared with nothing", names[0], "name another run")
    specs = [artefacts.project.spec(name, artefacts.scale) for name in names]
    for number, spec in enumerate(specs):
        # Also under two names: a run of a study may be trained as another.
        if spec.identity in [each.identity for each in specs[:number]]:
            raise FathomError("the same trainings are named twice", spec.name, "name other runs")
        require_decoder(spec)
    tasks = specs[-1].data.tasks if each_task else (task,)
    value = ShownValue(metric, split=split)
    compared = compare_runs(artefacts, with_gates(specs, gates), value, tasks)
    answer(as_json, [asdict(each) for each in compared], lines(compared))


Open = Annotated[bool, typer.Option("--open", help="Show the page in a browser.")]


def page(
    paper: Paper = None,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    is_shown: Open = False,
) -> None:
    """Write one HTML page for each paper, made of what exists.

    Trains nothing: a cell of a run without measurements says `not run`. The
    page needs no network; its links lead to the files of the results.

    Example: fathom page latent_depth --scale tiny
    """
    from fathom.artefacts.claims.judged import judged
    from fathom.artefacts.judged import judged_today
    from fathom.artefacts.page.page import page

    artefacts = open_artefacts(scale, results, seeds)
    for name in papers_named(artefacts.project, paper, "page"):
        shown = artefacts.project.papers[name]
        check_artefacts(artefacts.project, name)
        tables = {key: artefacts.compared(shown, table) for key, table in shown.tables.items()}
        path = artefacts.paths.page(name)
        today, making = judged_today(artefacts, [name]), _making(artefacts, name)
        write_text(path, page(artefacts, shown, tables, judged(artefacts, shown), today, making))
        report(f"page: {path}")
        if is_shown and not webbrowser.open(path.absolute().as_uri()):
            report("no browser was found here; open this file in one")


def _making(artefacts: "Artefacts", paper: str) -> dict[str, str]:
    """Return which trainings are left of each table and figure of a paper, and for how long."""
    from fathom.workflow.plan import DEFAULT, Plan
    from fathom.workflow.targets import Targets

    targets = Targets(artefacts.project, artefacts.scale, artefacts.paths, papers=(paper,))
    plan, making = Plan(targets, None), {}
    of = "from other trainings here" if plan.measured else f"for one {DEFAULT}"
    for title, names in plan.groups(paper, by_table=True).items():
        left = [each.job for each in plan.trainings(names).values() if each.job.left]
        hours = [sum(ends) for ends in zip(*(job.hours_left for job in left), strict=True)]
        if left:
            # What is measured has no range.
            basis = "as measured here" if len({*hours}) == 1 else f"as estimated {of}"
            time = " to ".join(duration(each * 3600, days=False) for each in dict.fromkeys(hours))
            words = f"{len(left)} training{'s' if len(left) > 1 else ''} left, {time} {basis}"
            making[title.removeprefix(f"{paper}_")] = words
    return making
