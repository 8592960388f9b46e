"""The verbs of folders of results: diff, verify, clean."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import Results, Scale, open_scale
from fathom.cli.terminal import print_lines, report, suggest
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.io.errors import FathomError, nearest
from fathom.results.clean import KINDS

First = Annotated[Path, typer.Argument(metavar="A", help="A folder of results.")]
Second = Annotated[Path, typer.Argument(metavar="B", help="Another.")]
Table = Annotated[
    str | None, typer.Option(help="Compare only this table or figure, <paper>_<table>.")
]
ScaleOfBoth = Annotated[
    str | None,
    typer.Option(help="Compare only tables, figures, claims and verdicts of this scale."),
]
Tolerance = Annotated[
    float,
    typer.Option(
        min=0, metavar="NUMBER", help="How far two numbers may be apart, in their own unit."
    ),
]


def diff(
    first: First,
    second: Second,
    table: Table = None,
    scale: ScaleOfBoth = None,
    tolerance: Tolerance = 0.0,
) -> None:
    """Compare two folders of results.

    Prints a line for each cell, claim, verdict, training and measurement that differs,
    with both values, and how many lines there are; exit code 1 if there is any.

    Example: fathom diff results ../other/results --tolerance 0.01
    """
    from fathom.results.diff import compare

    found = compare(first, second, tolerance, table=table or "", scale=scale or "")
    for heading, lines in found.items():
        print_lines([f"{heading} ({len(lines)})", *(f"  {line}" for line in lines)])
    if not found:
        print("equal")
        return
    print(f"differences: {sum(map(len, found.values()))}")
    raise typer.Exit(1)


RunOrAll = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="A run, with its text. Default: all results.")
]


def verify(run: RunOrAll = None, scale: Scale = None, results: Results = None) -> None:
    """Hash every file of the results again.

    Prints a line for each file that is not the one that was recorded, each table and
    page that is older than what it shows, and each run that was trained on other text
    than is there, with the command that makes it again; exit code 1 if there is any.
    Of a run that is named, also trainings with other settings or of another recipe.
    The series of a training cannot be made again. What an earlier version recorded as
    lost is printed, but does not count.

    Example: fathom verify m2o_diverse_12_12
    """
    from fathom.results.verify import verify

    project, paths = open_scale(scale, results, of_results=True)
    folders = _folders(project, run, paths) if run else [paths.results]
    verified = verify(folders, recipe=run is not None)
    findings = [verified.findings[path] for path in verified.in_order()]
    if run is None:
        findings += _outdated(project, paths)
    if not (verified.files or findings):
        raise FathomError("no records", str(paths.results), "name a folder with runs by --results")
    lost = sorted(verified.lost.items())
    print_lines(f"{path}: known to be lost: {reason}" for path, reason in lost)
    print_lines(map(str, findings))
    print(f"{len(verified.files)} files compared, {len(findings)} do not fit")
    if findings:
        raise typer.Exit(1)


def _outdated(project: Project, paths: Paths) -> Iterator[FathomError]:
    """Yield the tables, figures, lists and pages of all scales that are older than results.

    A mistake in config, which says what they show, is one of the findings.
    """
    from fathom.workflow.targets import Targets

    for scale in project.scales:
        of_scale = Paths(paths.results, scale)
        if of_scale.top.is_dir():
            try:
                yield from Targets(project, scale, of_scale).outdated()
            except FathomError as error:
                yield error


def _folders(project: Project, run: str, paths: Paths) -> list[Path]:
    """Return the folders of a run, all seeds, and of its text."""
    spec = project.run_named(run, paths.scale)
    trained = paths.run(spec, 0).parent
    if not trained.is_dir():
        remedy = f"train it with `{paths.run_command(spec.name)}`"
        if others := sorted(trained.parent.glob(f"{trained.name[:-8]}{'?' * 8}")):
            named = ", ".join(each.name for each in others)
            what = f"{named} has other settings than the run at scale {paths.scale}"
            remedy = f"give --scale, use the config it was trained with, or {remedy}"
            raise FathomError(what, str(trained.parent), remedy)
        raise FathomError("no training of this run", str(trained), remedy)
    data = (paths.corpus, paths.pieces_corpus, paths.subwords, paths.tensors)
    return [trained, *dict.fromkeys(folder(spec.data) for folder in data)]


Kinds = Annotated[
    list[str] | None, typer.Argument(metavar="[KIND]...", help=f"Of {', '.join(KINDS)}.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Delete. Without it, only list.")]


def _require_all_studies(project: Project, paths: Paths) -> None:
    """Refuse to delete what is unused while a start runs, or a study here is not in use."""
    from fathom.workflow import starts

    if live := starts.trainings_of_all(paths.cluster):
        what = f"a start makes {len(live)} trainings here, which may be of a study that it names"
        raise FathomError(what, str(paths.results), "wait until it has ended, or stop it")
    for study in sorted({*Path().glob("*/study.yaml"), *project.root.glob("*/study.yaml")}):
        if study.parent.name not in project.papers:
            what = "not in use, so its runs would be deleted"
            remedy = "add it to `papers` in config/config.yaml, or move it away"
            raise FathomError(what, str(study.parent), remedy)


def clean(kinds: Kinds = None, yes: Yes = False, results: Results = None) -> None:
    """List what can be deleted, and delete it with --yes.

    states: checkpoints of ended trainings from which they would resume. unused: runs
    and text that no run of config has at any scale, what killed processes left, and
    damaged files that were set aside.

    Example: fathom clean states --yes
    """
    from fathom.results.clean import delete, size

    for kind in kinds or ():
        if kind not in KINDS:
            raise FathomError(f"no kind '{kind}'", "clean", nearest(kind, KINDS))
    if yes and not kinds:
        raise FathomError("no kind is named", "clean --yes", f"name some of {', '.join(KINDS)}")
    # All of config is checked: what a mistake hides would count as unused.
    project, paths = open_scale(None, results, check=True, of_results=True)
    deletables = []
    if yes and "unused" in (kinds or ()):
        _require_all_studies(project, paths)
    for kind in kinds or KINDS:
        sizes = {path: size(path) for path in KINDS[kind](project, paths.results)}
        for path, of_path in sizes.items():
            if kinds:
                print(f"{path}\t{of_path / 1e6:.1f} MB")
            if yes:
                delete(path)
        total = sum(sizes.values()) / 1e6
        deletables += [kind] if sizes else []
        verb = "deleted" if yes else "can be deleted"
        report(f"{kind}: {len(sizes)} files or folders, {total:,.1f} MB {verb}")
    if deletables and not yes:
        suggest(paths.fathom("clean", deletables[0], "--yes"))
