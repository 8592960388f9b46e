"""How many groups of units the masks of two tasks have in common."""

import torch
from torch import Tensor

from fathom.decode.trained_run import TrainedRun
from fathom.io.errors import FathomError
from fathom.methods.shared.group_masks import similarity
from fathom.results.measurements import Number, Record


def sharing_records(run: TrainedRun) -> dict[str, Record]:
    """Return the records `similarity`, `sharing` and `masks`, from the weights that are decoded.

    `similarity` is the share of active groups that two tasks have in common, over the sites of all
    stacks together: the heat map of Pham, Yvon and Crego (2022), §4.3. `sharing` is its mean over
    all pairs of different tasks, and by task over the pairs with that task: the sharing rate of
    their §4.4, which prints 0.63 for 8 active groups of 16, where chance gives 0.5.

    Args:
        run: a finished training.

    Raises:
        FathomError: the training did not finish, or its method has no masks.
    """
    run.require_finished()
    masks = _masks(run)
    names = list(run.tasks)
    if len(names) < 2:
        remedy = "choose a run of several tasks"
        raise FathomError("one task shares with no other", run.name, remedy)
    shared = similarity(torch.cat(list(masks.values()), dim=1))  # (N, N)
    # The diagonal, 1 for each task, is no pair.
    by_task = (shared.sum(dim=1) - shared.diagonal()) / (len(names) - 1)
    numbers = zip(names, by_task.tolist(), strict=True)
    pairs = len(names) * (len(names) - 1) // 2
    return {
        "similarity": Record(axes=("task", "task"), labels={"task": names}, values=shared.tolist()),
        "sharing": Record(
            tasks={task: Number(value=value) for task, value in numbers},
            all=Number(value=by_task.mean().item(), n=pairs),
        ),
        "masks": _record(masks, names),
    }


def _masks(run: TrainedRun) -> dict[str, Tensor]:
    """Return the masks of each stack that has any, (N, sites, n) of 0 and 1, on the CPU."""
    methods = run.network(run.spec.gates[0]).methods
    readings = {stack: method.diagnostics() for stack, method in methods.items()}
    masks = {
        stack: reading["masks"].values.cpu()
        for stack, reading in readings.items()
        if "masks" in reading
    }
    if not masks:
        remedy = "choose a run of group dropout"
        raise FathomError("its method has no masks of groups", run.name, remedy)
    return masks


def _record(masks: dict[str, Tensor], tasks: list[str]) -> Record:
    """Return the record of the masks, the sites of all stacks one after another."""
    joined = torch.cat(list(masks.values()), dim=1)
    sites = [f"{stack} {site + 1}" for stack, mask in masks.items() for site in range(mask.size(1))]
    groups = [str(group + 1) for group in range(joined.size(2))]
    return Record(
        axes=("task", "site", "group"),
        labels={"task": tasks, "site": sites, "group": groups},
        values=joined.tolist(),
    )
