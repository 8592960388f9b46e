"""The peer: fairseq's own Transformer, loss, clipping and Adam, on our batches.

An update's sentences go through the network in one pass, in two halves sorted by length, or in one
pass for each language, as in fairseq's multilingual_translation. The gradients of all passes are
summed, so the three compute the same, apart from dropout.
"""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

import torch
from fairseq import utils
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.models import FairseqEncoderDecoderModel
from fairseq.models.transformer import TransformerModel, base_architecture
from fairseq.optim.adam import Adam
from torch import Tensor

from fathom.config import schedules
from fathom.config.schema.run import Model
from fathom.config.spec import Spec
from fathom.data.tensors import PAD, Tensors
from fathom.decode.export.fairseq_checkpoint import fairseq_settings
from fathom.nn.network import Batch
from fathom.train.update_batches import MicroBatches

# fairseq's default for --max-source-positions and --max-target-positions.
POSITIONS = 1024


def settings(model: Model) -> Namespace:
    """Return a shape as fairseq's command line gives it; all else as fairseq has it by default."""
    every = {"encoder": range(model.encoder_layers), "decoder": range(model.decoder_layers)}
    filled = Namespace(**fairseq_settings(model, every, POSITIONS))
    base_architecture(filled)
    return filled


def transformer(model: Model, tensors: Tensors, weights: Mapping[str, Tensor]) -> TransformerModel:
    """Return fairseq's own Transformer of a shape, with the weights of ours.

    Args:
        model: the shape.
        tensors: the encoded text, whose dictionaries are used.
        weights: of one of our networks of that shape without a method's own parameters.
    """
    network = TransformerModel.build_model(settings(model), tensors)
    own = {name: value for name, value in weights.items() if ".method." not in name}
    # fairseq drops the final norms of weights that come without this number.
    version = {f"{stack}.version": torch.tensor([3.0]) for stack in ("encoder", "decoder")}
    missing, unexpected = network.load_state_dict(own | version, strict=False)
    if missing or set(unexpected) - set(version):
        raise ValueError(f"not fairseq's Transformer: {missing}, {unexpected}")
    return network


def selected(batch: Batch, rows: Sequence[int]) -> Batch:
    """Return some sentences of a batch, without the padding that only the others need."""
    chosen = torch.tensor(rows, device=batch.source.device)
    source, target = batch.source[chosen], batch.target[chosen]
    longest = [int(side.ne(PAD).sum(dim=1).max()) for side in (source, target)]
    return Batch(
        source=source[:, : longest[0]].contiguous(),
        previous_target=batch.previous_target[chosen][:, : longest[1]].contiguous(),
        target=target[:, : longest[1]].contiguous(),
        tasks=batch.tasks[chosen],
        sentences=batch.sentences[chosen],
        tokens=int(target.ne(PAD).sum()),
    )


def one_pass(batch: Batch) -> list[Batch]:
    """Return the batch."""
    return [batch]


def halves(batch: Batch) -> list[Batch]:
    """Return the shorter and the longer half of a batch, by the tokens of both sides."""
    length = batch.source.ne(PAD).sum(dim=1) + batch.target.ne(PAD).sum(dim=1)
    order = length.argsort(stable=True).tolist()
    cut = len(order) // 2
    return [selected(batch, rows) for rows in (order[:cut], order[cut:]) if rows]


def languages(batch: Batch) -> list[Batch]:
    """Return the sentences of each language, as in fairseq's multilingual_translation."""
    tasks = batch.tasks.tolist()
    rows = {
        task: [row for row, own in enumerate(tasks) if own == task] for task in sorted({*tasks})
    }
    return [selected(batch, chosen) for chosen in rows.values()]


Cut = Callable[[Batch], list[Batch]]
CUTS: dict[str, Cut] = {"one pass": one_pass, "halves": halves, "languages": languages}


def cut_all(micro_batches: MicroBatches, cut: Cut) -> list[Batch]:
    """Return the batches of the passes of an update."""
    return [part for batch in micro_batches.batches for part in cut(batch)]


class Stock:
    """fairseq's network with its loss and optimiser.

    Attributes:
        network: the network.
        training: the settings of the run.
    """

    def __init__(self, network: FairseqEncoderDecoderModel, spec: Spec):
        """Build loss and optimiser.

        Args:
            network: on its device.
            spec: the run, whose optimisation is repeated.
        """
        self.network, self.training = network.train(), spec.training
        task = SimpleNamespace(target_dictionary=network.decoder.dictionary)
        self.criterion = LabelSmoothedCrossEntropyCriterion(
            task, sentence_avg=False, label_smoothing=spec.training.label_smoothing
        )
        self.parameters = [p for p in network.parameters() if p.requires_grad]
        self.adam = self._optimiser()
        updates = spec.training.updates
        self.rate = schedules.learning_rate(spec.training.schedule, spec.model.width, int(updates))

    def _optimiser(self) -> torch.optim.Optimizer:
        """Return fairseq's Adam; on CUDA torch's fused one, as apex gives fairseq."""
        adam, decay = self.training.adam, self.training.weight_decay
        if self.parameters[0].is_cuda:
            return torch.optim.AdamW(
                self.parameters, betas=adam.betas, eps=adam.eps, weight_decay=decay, fused=True
            )
        return Adam(self.parameters, betas=adam.betas, eps=adam.eps, weight_decay=decay)

    def loss(self, batch: Batch) -> Tensor:
        """Return the sum of the label-smoothed losses of a batch's target tokens, in nats."""
        lengths = batch.source.ne(PAD).sum(dim=1)
        inputs = {
            "src_tokens": batch.source,
            "src_lengths": lengths,
            "prev_output_tokens": batch.previous_target,
        }
        sample = {"net_input": inputs, "target": batch.target, "ntokens": batch.tokens}
        return self.criterion(self.network, sample)[0]

    def gradients(self, batches: Sequence[Batch]) -> None:
        """Add up the gradients of all passes of an update."""
        low = self.training.precision == "bf16"
        for batch in batches:
            with torch.autocast(batch.source.device.type, torch.bfloat16, enabled=low):
                loss = self.loss(batch)
            loss.backward()

    def update(self, number: int, batches: Sequence[Batch], tokens: int) -> None:
        """Make one update.

        Args:
            number: of the update, from 1.
            batches: of its passes.
            tokens: target tokens of the update, by which the gradients are divided.
        """
        self.gradients(batches)
        self.divide(tokens)
        utils.clip_grad_norm_(self.parameters, self.training.clip)
        for group in self.adam.param_groups:
            group["lr"] = self.rate(number)
        self.adam.step()
        self.network.zero_grad(set_to_none=True)

    def divide(self, tokens: int) -> None:
        """Divide the gradients, as fairseq's optimiser does after the backward pass."""
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter.grad.mul_(1 / tokens)
