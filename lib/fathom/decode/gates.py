"""Which layers the gates of a trained network select, by task and layer."""

import torch

from fathom.decode.trained_run import TrainedRun
from fathom.io.errors import FathomError
from fathom.results.measurements import Number, Record

# With a smaller |alpha| a gate's p is within 0.025 of ½, and its hard choice means little.
UNDECIDED = 0.1


def gate_records(run: TrainedRun) -> dict[str, Record]:
    """Return the records of each stack with gates, from the weights that are decoded.

    `gates` are the probabilities q(z = 1) by task and layer, `depth` the layers that hard gates
    select, `depth_probability` the sum of the probabilities, `abs_alpha` the mean of |alpha|, and
    `undecided` the share of gates with |alpha| < 0.1, whose hard choice means little.

    Args:
        run: a finished training.

    Raises:
        FathomError: the training did not finish, or no stack has gates.
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
            numbers = zip(run.tasks, values.tolist(), strict=True)
            tasks = {task: Number(value=float(value)) for task, value in numbers}
            records[f"{name}.{stack}"] = Record(unit=unit, tasks=tasks)
        layers = [str(layer + 1) for layer in range(alpha.size(1))]
        records[f"gates.{stack}"] = Record(
            axes=("task", "layer"),
            labels={"task": list(run.tasks), "layer": layers},
            values=probabilities.tolist(),
        )
    if not records:
        raise FathomError("its method has no gates", run.name, "choose a run of latent layers")
    return records
