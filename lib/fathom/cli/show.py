"""`fathom show`: a run's settings, and where each value comes from."""

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from fathom.cli.columns import print_line
from fathom.cli.options import Json, Results, Run, Scale, open_paths, open_project, suggest

Changed = Annotated[bool, typer.Option("--changed", help="Only what the scale changes.")]


def show(
    run: Run,
    scale: Scale = None,
    changed: Changed = False,
    results: Results = None,
    as_json: Json = False,
) -> None:
    """Print a run's settings and where each value comes from.

    One line a setting: its value, file and line, the paper's value where the
    scale has another, and the source.

    Example: fathom show m2o_diverse_12_12 --scale tiny
    """
    from fathom.config.show import describe

    project = open_project()
    name, paths = open_paths(project, scale, results)
    spec = project.run_named(run, name)
    settings = [
        setting for setting in describe(project, spec.name, name) if setting.changed or not changed
    ]
    if as_json:
        described = {setting.path: _fields(asdict(setting)) for setting in settings}
        top = {"run": spec.name, "identity": spec.identity, "settings": described}
        print(json.dumps(top, indent=1, allow_nan=False))
        return
    print(f"{spec.name} at scale {name}: {paths.run(spec, 1).parent}")
    reason = project.not_built(spec.name, name)
    if reason:
        print_line(f"not built yet: {reason}")
    width = max((len(setting.path) for setting in settings), default=0)
    wide = min(40, max((len(_text(setting.value)) for setting in settings), default=0))
    for setting in settings:
        paper = f"paper: {_text(setting.paper)}" if setting.changed else ""
        notes = "; ".join(note for note in (paper, setting.source) if note)
        line = f"{setting.path:{width}}  {_text(setting.value):{wide}}  {setting.where}"
        print_line(f"{line}  {notes}".rstrip())
    suggest(f"fathom list runs --scale {name}" if reason else paths.command("train", spec.name))


def _fields(setting: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in setting.items() if key != "path"}


def _text(value: Any) -> str:
    """Return a value as YAML has it."""
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)
