"""The verb that writes a study of a run with other values of some settings."""

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.new import finish, new_folder
from fathom.cli.options import Run, open_project
from fathom.cli.terminal import report
from fathom.config.load import load
from fathom.config.switches import layers
from fathom.config.yaml_values import Value, from_plain
from fathom.io.errors import FathomError, findings_in, refuse
from fathom.io.files import write_text

STUDY = """\
# A value that is added to a list is a further run; finished runs stay finished.
title: Sweep of {like}
{data}seeds: {seeds}
runs:
{runs}
tables:
  table1:
    against: unchanged  # adds difference, 95 % interval, p, and p with Holm's correction
    columns: [params, avg, tasks]
    rows: {rows}
figures:
  figure1: {{kind: lines, series: nll.valid, x: update, lines: {rows}}}
"""
MAP = """\
  figure2:
    {{kind: heat_map, table: table1, value: avg, rows: {0}, columns: {1}, numbers: true,
     cells: {{"<{0}>, <{1}>": {2}}}}}
"""


def sweep(
    run: Run,
    changes: Annotated[list[str], typer.Option("--set", metavar="KEY=VALUES", help="Repeatable.")],
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of all runs: 1 to this number.")] = 3,
    data: Annotated[str | None, typer.Option(help="The data set of all runs.")] = None,
    name: Annotated[str, typer.Option(help="The study, and its new folder.")] = "sweep",
) -> None:
    """Begin a study of a run with other values of some settings.

    --set names a setting and its values. NAME/study.yaml has a run for each
    combination of values, and a table that compares them with the unchanged
    run; for two settings also a heat map. Values that are added to the file
    later are trained alone.

    Example: fathom sweep m2o_diverse_ll_d_12_24 --set method.depth_weight=0.1,0.3,1
    """
    project = open_project()
    like = project.run_name(run)
    for key, _, values in (change.partition("=") for change in changes):
        if not values.strip():
            raise FathomError("no values", f"--set {key}", f"write {key}=0.1,0.3")
    file = new_folder(project, name) / "study.yaml"
    write_text(file, _study(like, changes, data, seeds))
    papers = [*project.switches.papers, name]
    given = [*layers(project.root, Path()), from_plain({"papers": papers}, "--config")]
    try:
        loaded = load(project.root, layers=given)
    except FathomError as error:
        shutil.rmtree(file.parent)
        at = str(file.absolute())
        refuse(FathomError(f.what, f.where.replace(at, name), f.remedy) for f in findings_in(error))
    scale = project.switches.scale
    for swept in loaded.runs_of(name):
        if (same := loaded.spec(swept, scale).name) != swept:
            report(f"{swept} is {same} at scale {scale}, and trained once")
    finish(project, name, "sweep:", [file], f" seeds={seeds}")


def _study(like: str, changes: list[str], data: str | None, seeds: int) -> str:
    """Return a study of the run `like` with `key=value,value` for some settings."""
    lists: list[tuple[str, str]] = []
    settings = Value({})
    for change in changes:
        key, _, values = change.partition("=")
        last = key.rpartition(".")[2]
        name = key.replace(".", "_") if last in dict(lists) else last
        settings = settings.put(tuple(key.split(".")), Value(f"<{name}>"))
        # YAML reads 1e-3 as text.
        lists.append((name, re.sub(r"(?<![\w.])(\d+)e-", r"\1.0e-", values)))
    # A run's name has 64 letters at most.
    pattern = "_".join(f"{name[: 48 // len(lists)]}_<{name}>" for name, _ in lists)
    label = ", ".join(f"{name} <{name}>" for name, _ in lists)
    values = ", ".join(f"{name}: [{values}]" for name, values in lists)
    changed = str(settings.plain)[1:-1].replace("'", "")
    runs = f"  {pattern}: {{for: {{{values}}}, like: {like}, {changed}}}"
    text, base = "", like
    # Of the same text, the run itself is compared, which may be trained already.
    if data is not None:
        text, base, runs = f"data: {data}\n", "unchanged", f"  unchanged: {{like: {like}}}\n{runs}"
    rows = f'{{unchanged: {base}, "{label}": {pattern}}}'
    study = STUDY.format(like=like, data=text, seeds=seeds, runs=runs, rows=rows)
    return study + (MAP.format(*dict(lists), pattern) if len(lists) == 2 else "")
