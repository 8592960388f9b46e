"""The verb that begins a study: new."""

from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import open_project
from fathom.cli.terminal import report, suggest
from fathom.config.merge import NAME, NAME_RULE
from fathom.io.errors import FathomError, unknown
from fathom.io.files import write_text

STUDY = """\
# A study: runs that are compared with each other, without printed numbers.
title: {title}

# The text of all runs: a card in datasets/ here, or one of `fathom list datasets`.
# {{dataset: …, subwords: …}} says more.
data: {data}

# Seeds of each run, at every scale. With several, p says whether other trainings would agree.
seeds: 3

# Recipes of papers. What a line adds changes the recipe; `fathom show {first}` lists all settings.
# A run for each value, called by its n:
#   tuned_<n>:
#     for: [{{n: low, p: 0.1}}, {{n: high, p: 0.2}}]
#     like: {first}
#     model: {{dropout: <p>}}
runs:
{runs}

tables:
  table1:
    against: {against}  # adds difference, 95 % interval, p, and p with Holm's correction
    columns: [params, avg, tasks]
    rows: {{{rows}}}

# Further sections, as in the files of a paper: families, figures, claims, scales.
"""
Like = Annotated[
    list[str] | None,
    typer.Option(metavar="RUN", help="A run whose recipe is compared. May be given repeatedly."),
]


def new(
    name: Annotated[str, typer.Argument(help="The study, and its new folder.")],
    like: Like = None,
    data: Annotated[str | None, typer.Option(help="The data set of all runs.")] = None,
) -> None:
    """Begin a study: write NAME/study.yaml with comments.

    Without --like it has the run that shows whether a scale works at all.
    A file that is there is never overwritten.

    Example: fathom new my_study --like m2o_diverse_12_12 --like m2o_diverse_ll_d_12_24
    """
    project, path = open_project(), Path(name) / "study.yaml"
    if not NAME.fullmatch(name):
        raise FathomError(f"'{name}': {NAME_RULE}", "new", "choose another name")
    if name in project.files.papers:
        place = project.files.name_of(project.files.folders[name])
        raise FathomError(f"the name '{name}' is taken by {place}", "new", "choose another name")
    if path.parent.exists():
        raise FathomError("the folder is there already", str(path.parent), "choose another name")
    if data is not None and data not in project.datasets:
        raise unknown("data set", data, "--data", project.datasets)
    watched = project.scale(project.switches.scale).check_learning
    lent = [project.run_name(each) for each in like or ([watched.run] if watched else [])]
    if not lent:
        raise FathomError("no run to begin with", "new", "add --like <paper>/<run>")
    # Two papers may have a run of one name.
    runs = {each.rpartition("/")[2]: each for each in lent}
    if len(runs) < len({*lent}):
        runs = {each.replace("/", "_"): each for each in lent}
    lines = [f"  {run}: {{like: {each}}}" for run, each in runs.items()]
    text = STUDY.format(
        title=name.replace("_", " ").capitalize(),
        data=data or "my_text",
        first=lent[0],
        runs="\n".join(lines),
        against=next(iter(runs)),
        rows=", ".join(f"{run}: {run}" for run in runs),
    )
    write_text(path, text)
    report(f"new: {path}")
    suggest(f"snakemake {name} --config papers={name}")
