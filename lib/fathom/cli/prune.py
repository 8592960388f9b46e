"""`fathom prune`: one task's layers of a trained run, as a checkpoint for fairseq."""

from typing import Annotated

import typer

from fathom.cli.options import Results, Run, Scale, Seed, report_of
from fathom.cli.run_options import OpenRun, open_run
from fathom.decode.ready import require_name, require_weights
from fathom.io.errors import FathomError

Task = Annotated[str, typer.Option(help="The task whose layers stay; the others' are left out.")]


def prune(
    run: Run, task: Task, scale: Scale = None, results: Results = None, seed: Seed = 1
) -> None:
    """Write one task's layers as a fairseq checkpoint.

    Layers that hard gates skip are removed, and the gates with them. What is
    left, in <run>/pruned/<task>/, is a plain Transformer of fairseq's.

    Example: fathom prune m2o_diverse_ll_d_12_24 --task fra
    """
    opened = open_run(run, scale, results)
    require_name(task, opened.spec.data.tasks, "task", f"run {run}")
    _require_hard_gates(opened)
    require_weights(opened.spec, seed, opened.paths)
    from fathom.decode.export.export import prune as write_pruned

    write_pruned(opened.trained(seed, "cpu"), task, report_of(opened.spec.folder))


def _require_hard_gates(opened: OpenRun) -> None:
    """Refuse a run that cannot be decoded with hard gates.

    Raises:
        FathomError: its method has no gates, or its card refuses hard ones with these settings.
    """
    if "hard" in opened.spec.gates:
        return
    method = opened.spec.method
    reason = opened.project.methods[method.name].refusal("hard", method.settings)
    what = f"hard gates are refused: {reason}" if reason else "its method has no gates"
    raise FathomError(what, opened.spec.name, "choose a run whose gates skip layers")
