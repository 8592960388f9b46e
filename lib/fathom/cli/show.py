"""`fathom show`: a run's resolved specification, and where each value comes from."""

import json

from fathom.cli.options import Json, Run, Scale, open_catalog, open_paths


def show(run: Run, scale: Scale = None, as_json: Json = False) -> None:
    """Print every setting of a run, where its value comes from, and the paper's where it differs.

    Example: fathom show ll_d_12_24 --scale tiny
    """
    from rich.console import Console
    from rich.table import Table

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    spec = catalog.run_named(run, name)
    settings = catalog.settings(spec.run, name)
    if as_json:
        value = {
            ".".join(leaf): {
                "value": each.value,
                "where": each.where,
                "paper": each.paper_value,
                "source": each.note,
            }
            for leaf, each in settings.items()
        }
        print(json.dumps({"run": spec.run, "identity": spec.identity, "settings": value}, indent=1, allow_nan=False))
        return
    table = Table(title=f"{spec.run} at scale {name}: {paths.run(spec, 1).parent}", box=None)
    for column in ("setting", "value", "paper", "from", "source"):
        table.add_column(column, overflow="fold")
    for leaf, each in sorted(settings.items()):
        paper = "" if each.paper_value is None else str(each.paper_value)
        place = each.where.split(": ")[0]
        table.add_row(".".join(leaf), str(each.value), paper, place, each.note)
    Console(width=None).print(table)
