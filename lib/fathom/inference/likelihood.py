"""How well a finished training predicts held-out text: NLL in nats and tokens, by task.

A network with a decoder predicts the target sentences of pairs, a masked language model the hidden
pieces of blocks. A training that did not finish predicts nothing, and neither does a task that hard
gates leave without any layer: both are results.
"""

from dataclasses import dataclass
from pathlib import Path

import torch

from fathom.batches import tensors
from fathom.batches.held_out import held_out
from fathom.batches.tensors import PAD
from fathom.checkpoints.average import kept
from fathom.inference.translate import trained, without_layers
from fathom.io.files import read_json
from fathom.models import nll
from fathom.provenance.manifest import FINISHED
from fathom.runs.spec import Spec


@dataclass(frozen=True)
class Likelihood:
    """What a training predicts of a split.

    Attributes:
        outcome: how the training ended.
        reason: why, where it did not finish.
        updates: after which updates the weights stood whose mean was taken; none without weights.
        nats: summed NLL of each task's predicted tokens.
        tokens: how many they are, by task.
        no_layer: the tasks without any layer, which stand in neither.
    """

    outcome: str
    reason: str
    updates: tuple[int, ...]
    nats: dict[str, float]
    tokens: dict[str, int]
    no_layer: tuple[str, ...]


def likelihood(
    spec: Spec, tensors_folder: Path, run: Path, gates: str, split: str, device: torch.device
) -> Likelihood:
    """Return what a training predicts of a split, every text of it.

    Args:
        spec: the run.
        tensors_folder: the encoded text.
        run: the folder of the training.
        gates: "plain", "soft" or "hard".
        split: "valid" or "test".
        device: where the network runs.

    Raises:
        FathomError: the training, its checkpoint, the encoded text or the split is missing.
    """
    ending = read_json(run / "training.json")["outcome"]
    if ending["kind"] != FINISHED:
        return Likelihood(ending["kind"], ending["reason"], (), {}, {}, ())
    data = tensors.load(tensors_folder)
    batches = held_out(data, split, spec)
    network = trained(spec, data, run, gates, device)
    bare = {
        task for number, task in enumerate(data.tasks) if without_layers(network, number, device)
    }
    found = nll.by_task(network, batches, len(data.tasks), PAD)
    summed = zip(data.tasks, found.nats.tolist(), found.tokens.tolist(), strict=True)
    measured = {task: (nats, int(tokens)) for task, nats, tokens in summed if task not in bare}
    average_of = spec.evaluation.decoding.average_of
    last = (ending["update"],) if average_of == 1 else tuple(kept(run / "checkpoints"))
    return Likelihood(
        outcome=FINISHED,
        reason="",
        updates=last[-average_of:],
        nats={task: nats for task, (nats, _) in measured.items()},
        tokens={task: tokens for task, (_, tokens) in measured.items()},
        no_layer=tuple(task for task in data.tasks if task in bare),
    )
