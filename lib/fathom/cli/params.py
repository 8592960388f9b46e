"""`fathom params`: every run's parameters, counted on the meta device."""

import json
from pathlib import Path

from fathom.catalog.paths import Paths
from fathom.cli.options import Json, Scale, open_catalog, open_paths, report


def params(scale: Scale = None, as_json: Json = False) -> None:
    """Count every run's parameters.

    No network is made, but the dictionaries of its data must be there.

    Example: fathom params --scale tiny
    """
    from fathom.batches.tensors import load
    from fathom.methods.loader import count

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    # Snakemake knows its files from the project's folder on.
    known = Paths(Path(catalog.config["results"]), name)
    counts, missing = {}, {}
    for run in catalog.paper_of:
        spec = catalog.spec(run, name)
        folder = paths.tensors(spec.data)
        if not (folder / "tensors.json").exists():
            wanted = known.tensors(spec.data) / "tensors.json"
            missing[wanted] = missing.get(wanted, 0) + 1
            continue
        tensors = load(folder)
        sizes = (len(tensors.source_dictionary), len(tensors.target_dictionary))
        counts[run] = count(spec.model, spec.method, len(tensors.tasks), *sizes)
    for wanted, runs in missing.items():
        command = f"snakemake {wanted} --config scale={name}"
        report(f"no dictionaries yet for {runs} runs; make them with `{command}`")
    if as_json:
        print(json.dumps(counts, indent=1, allow_nan=False))
        return
    for run, parts in counts.items():
        print(f"{run}\t{parts['total']}\t{parts['total'] / 1e6:.3f} M")
