"""How well a training predicts held-out text: NLL in nats and tokens, by task.

A network with a decoder predicts the target sentences of pairs, a masked language model the hidden
pieces of blocks. A task whose gates leave a stack without a layer predicts nothing.
"""

from dataclasses import dataclass

from fathom.decode.trained_run import TrainedRun
from fathom.nn.loss import nll_by_task
from fathom.nn.network import choose_backend
from fathom.train.batches.held_out import held_out


@dataclass(frozen=True)
class Likelihood:
    """What a training predicts of a split.

    Attributes:
        nats: summed NLL of each task's predicted tokens.
        tokens: how many they are, by task.
        no_layer: the tasks without any layer, which are in neither.
    """

    nats: dict[str, float]
    tokens: dict[str, int]
    no_layer: tuple[str, ...]


def likelihood(run: TrainedRun, split: str, gates: str) -> Likelihood:
    """Return what a finished training predicts of a split; every text is predicted once.

    Args:
        run: the training.
        split: "valid" or "test".
        gates: "plain", "soft" or "hard".

    Raises:
        FathomError: the training did not finish, or its weights, the encoded text or the split is
            missing.
    """
    run.require_finished()
    batches = held_out(run.tensors, split, run.spec)
    no_layer = run.tasks_without_layers(gates)
    network = run.network(gates).set_backend(choose_backend(run.kernels, run.device))
    sums = nll_by_task(network, batches, len(run.tasks))
    summed = zip(run.tasks, sums.nats.tolist(), sums.tokens.tolist(), strict=True)
    by_task = {task: (nats, int(tokens)) for task, nats, tokens in summed if task not in no_layer}
    return Likelihood(
        nats={task: nats for task, (nats, _) in by_task.items()},
        tokens={task: tokens for task, (_, tokens) in by_task.items()},
        no_layer=no_layer,
    )
