"""`fathom show`: a run's resolved specification, and where each value comes from."""

import json
from typing import Any

from fathom.cli.options import Json, Run, Scale, open_catalog, open_paths


def show(run: Run, scale: Scale = None, as_json: Json = False) -> None:
    """Print a run's settings, and whence each comes.

    A line each: its value, the file and line that it comes from, the paper's
    own where the scale has another, and where the paper says so.

    Example: fathom show ll_d_12_24 --scale tiny
    """
    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    spec = catalog.run_named(run, name)
    settings = {
        ".".join(leaf): each for leaf, each in sorted(catalog.settings(spec.run, name).items())
    }
    if as_json:
        told = {
            setting: {
                "value": each.value,
                "where": each.where,
                "paper": each.paper_value,
                "source": each.note,
            }
            for setting, each in settings.items()
        }
        whole = {"run": spec.run, "identity": spec.identity, "settings": told}
        print(json.dumps(whole, indent=1, allow_nan=False))
        return
    print(f"{spec.run} at scale {name}: {paths.run(spec, 1).parent}")
    width = max(map(len, settings))
    wide = max(len(_text(each.value)) for each in settings.values())
    for setting, each in settings.items():
        paper = "" if each.paper_value is None else f"instead of {_text(each.paper_value)}"
        notes = "; ".join(note for note in (paper, each.note) if note)
        place = each.where.split(": ")[0]
        print(f"{setting:{width}}  {_text(each.value):{wide}}  {place}  {notes}".rstrip())


def _text(value: Any) -> str:
    """Return a value as YAML has it."""
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)
