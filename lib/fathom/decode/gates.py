"""What methods of a trained network select: layers by gates, groups of units by masks."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from fathom.config.measurement_keys import UNDECIDED
from fathom.decode.trained_run import TrainedRun
from fathom.io.errors import FathomError
from fathom.methods.shared.group_masks import similarity
from fathom.results.measurements import Number, Record


def gate_records(run: TrainedRun) -> dict[str, Record]:
    """Return the records of each stack with gates, from the weights that are decoded.

    `gates` are the probabilities q(z = 1) by task and layer, `depth` the layers that hard gates
    select, `depth_probability` the sum of the probabilities, `abs_alpha` the mean of |alpha|, and
    `undecided` the share of gates with |alpha| < 0.1, whose hard choice means little.
    """
    run.require_finished()
    network = run.network(run.spec.gates[0])
    records: dict[str, Record] = {}
    for stack, method in network.methods.items():
        depth = method.depth()
        if depth is None:
            continue
        alpha = method.diagnostics()["alpha"].values.double().cpu()  # (N, L)
        probabilities = torch.sigmoid(alpha)
        by_task = {
            "depth": ("layers", torch.tensor(depth.by_task)),
            "depth_probability": ("layers", probabilities.sum(dim=1)),
            "abs_alpha": (None, alpha.abs().mean(dim=1)),
            "undecided": (None, (alpha.abs() < UNDECIDED).double().mean(dim=1)),
        }
        for name, (unit, values) in by_task.items():
            records[f"{name}.{stack}"] = Record(unit=unit, tasks=_by_task(run, values))
        layers = [str(layer + 1) for layer in range(alpha.size(1))]
        records[f"gates.{stack}"] = Record(
            axes=("task", "layer"),
            labels={"task": list(run.tasks), "layer": layers},
            values=probabilities.tolist(),
        )
    if not records:
        raise FathomError("its method has no gates", run.name, "choose a run of latent layers")
    return records


def gate_rows(run: TrainedRun) -> Iterator[tuple[str, str, int, float]]:
    """Yield stack, task, layer and probability of each gate."""
    for key, record in gate_records(run).items():
        if key.startswith("gates."):
            for task, values in zip(run.tasks, record.values or (), strict=True):
                for layer, value in enumerate(values, start=1):
                    yield key.removeprefix("gates."), task, layer, value


def sharing_records(run: TrainedRun) -> dict[str, Record]:
    """Return what the masks of groups are, from the weights that are decoded.

    `similarity` is the share of active groups that two tasks have in common, over the sites of all
    stacks together: the heat map of Pham, Yvon and Crego (2022), §4.3. `sharing` is its mean over
    all pairs of different tasks, and by task over the pairs with that task: the sharing rate of
    their §4.4, which prints 0.63 for 8 active groups of 16, where chance gives 0.5. `masks` are
    the masks themselves. `phi_size` is a task's mean of |Φ| over sites and groups, and `phi_least`
    the smallest of these: 0 if a task was in no update. `ties` counts the sites at which the k-th
    and the next Φ are equal, so that the order of the groups decides.

    [lamgd sharing_rate]
    """
    run.require_finished()
    masks: dict[str, Tensor] = {}  # of each stack, (N, sites, n) of 0 and 1
    logits: list[Tensor] = []  # Φ of each stack, as `masks`
    for stack, method in run.network(run.spec.gates[0]).methods.items():
        readings = method.diagnostics()
        if "masks" in readings:
            masks[stack] = readings["masks"].values.cpu()
            logits.append(readings["phi"].values.double().cpu())
    if not masks:
        remedy = "choose a run of group dropout"
        raise FathomError("its method has no masks of groups", run.name, remedy)
    names = list(run.tasks)
    if len(names) < 2:
        remedy = "choose a run of several tasks"
        raise FathomError("one task shares with no other", run.name, remedy)
    joined = torch.cat(list(masks.values()), dim=1)  # the sites of all stacks
    sites = [f"{stack} {site + 1}" for stack, mask in masks.items() for site in range(mask.size(1))]
    groups = [str(group + 1) for group in range(joined.size(2))]
    shared = similarity(joined)  # (N, N)
    # The diagonal, 1 for each task, is no pair.
    by_task = (shared.sum(dim=1) - shared.diagonal()) / (len(names) - 1)
    phi, active = torch.cat(logits, dim=1), joined > 0
    sizes = phi.abs().mean(dim=(1, 2))
    kth = phi.masked_fill(~active, math.inf).amin(dim=2)
    following = phi.masked_fill(active, -math.inf).amax(dim=2)
    ties = (kth == following).sum(dim=1)
    pairs = len(names) * (len(names) - 1) // 2
    return {
        "similarity": Record(axes=("task", "task"), labels={"task": names}, values=shared.tolist()),
        "sharing": Record(
            tasks=_by_task(run, by_task), all=Number(value=by_task.mean().item(), n=pairs)
        ),
        "phi_size": Record(tasks=_by_task(run, sizes)),
        "phi_least": Record(all=Number(value=sizes.min().item())),
        "ties": Record(tasks=_by_task(run, ties), all=Number(value=float(ties.sum()))),
        "masks": Record(
            axes=("task", "site", "group"),
            labels={"task": names, "site": sites, "group": groups},
            values=joined.tolist(),
        ),
    }


def _by_task(run: TrainedRun, values: Tensor) -> dict[str, Number]:
    pairs = zip(run.tasks, values.tolist(), strict=True)
    return {task: Number(value=float(value)) for task, value in pairs}
