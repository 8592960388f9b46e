"""`fathom prune`: one task's layers of a trained run, as a checkpoint for fairseq."""

from typing import Annotated

import typer

from fathom.cli.options import Run, Scale, Seed, open_catalog, open_paths, report_of
from fathom.errors import FathomError, nearest
from fathom.project.project import Catalog
from fathom.runs.spec import Spec

Task = Annotated[str, typer.Option(help="The task whose layers stay; the others' are left out.")]


def prune(run: Run, task: Task, scale: Scale = None, seed: Seed = 1) -> None:
    """Write one task's layers as a fairseq checkpoint.

    Layers that hard gates skip are removed, and the gates with them. What is
    left, in <run>/pruned/<task>/, is a plain Transformer of fairseq's.

    Example: fathom prune ll_d_12_24 --task fra
    """
    catalog = open_catalog(check=False)
    name, paths = open_paths(catalog, scale)
    spec = catalog.run_named(run, name)
    if task not in spec.data.tasks:
        raise FathomError(f"no task '{task}'", f"run {run}", nearest(task, spec.data.tasks))
    require_hard_gates(catalog, spec)
    # Only now: torch takes seconds, and a mistyped name need not wait for it.
    from fathom.inference.prune import prune as write_pruned

    folder = paths.run(spec, seed)
    tensors = paths.tensors(spec.data)
    tell = report_of(spec.folder)
    write_pruned(spec, tensors, folder, task, paths.pruned(spec, seed, task), tell)


def require_hard_gates(catalog: Catalog, spec: Spec) -> None:
    """Refuse a run that is not decoded with hard gates.

    Raises:
        FathomError: its method has no gates, or its card refuses hard ones with these settings.
    """
    if "hard" in catalog.gates(spec):
        return
    reason = catalog.methods[spec.method.name].refusal("hard", spec.method.settings)
    what = f"hard gates are refused: {reason}" if reason else "no method with gates"
    raise FathomError(what, f"run {spec.run}", "choose a run whose gates skip layers")
