"""`fathom params`: every run's parameters, counted on the meta device."""

import json

from fathom.cli.options import Json, Scale, open_catalog, open_paths, report


def params(scale: Scale = None, as_json: Json = False) -> None:
    """Print each run's parameters; it needs the dictionaries of the scale's data.

    Example: fathom params --scale tiny
    """
    from fathom.batches.tensors import load
    from fathom.methods.loader import count

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    counts = {}
    for run in catalog.paper_of:
        spec = catalog.spec(run, name)
        folder = paths.tensors(spec.data)
        if not (folder / "tensors.json").exists():
            report(f"{run}: no dictionaries yet; run snakemake {folder}/tensors.json")
            continue
        tensors = load(folder)
        sizes = (len(tensors.source_dictionary), len(tensors.target_dictionary))
        counts[run] = count(spec.model, spec.method, len(tensors.tasks), *sizes)
    if as_json:
        print(json.dumps(counts, indent=1, allow_nan=False))
        return
    for run, parts in counts.items():
        print(f"{run}\t{parts['total']}\t{parts['total'] / 1e6:.3f} M")
