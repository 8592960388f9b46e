"""Networks computed by fairseq's modules on padded states: the reference of `Network.predict`.

The weights are those of the network. fairseq's generator searches with what `padded` returns.
"""

from typing import Any

from fairseq.models import BaseFairseqModel, FairseqEncoderDecoderModel
from torch import Tensor

from fathom.nn.masked_lm.network import MaskedLm
from fathom.nn.network import Batch, Network, Predicted
from fathom.nn.rnmt_plus.network import RnmtPlus
from tests.reference.padded import rnmt_plus, transformer


class PaddedModel(FairseqEncoderDecoderModel):
    """A network with an encoder and a decoder, as fairseq's generator calls it."""

    def forward(self, source: Tensor, previous_target: Tensor, tasks: Tensor) -> Tensor:
        """Return the logits of every target position, (B, T, V)."""
        memory = self.encoder(source, tasks=tasks)
        return self.decoder(previous_target, encoder_out=memory, tasks=tasks)[0]


class PaddedMaskedLm(BaseFairseqModel):
    """A masked language model."""

    def __init__(self, network: MaskedLm):
        super().__init__()
        self.encoder, self.head = transformer.PaddedEncoder(network.encoder), network.encoder.head

    def forward(self, source: Tensor, previous_target: Any, tasks: Tensor) -> Tensor:
        """Return the logits of every position of (B, S), (B, S, V), V with the mask symbol."""
        (x,) = self.encoder(source, tasks=tasks)["encoder_out"]  # (S, B, D)
        return self.head(x.transpose(0, 1))


def padded(network: Network, task: int | None = None) -> Any:
    """Return a network's reference; `task` is that of all sentences whose caller gives none."""
    if isinstance(network, MaskedLm):
        return PaddedMaskedLm(network)
    kind: Any = rnmt_plus if isinstance(network, RnmtPlus) else transformer
    stacks = kind.PaddedEncoder(network.encoder, task), kind.PaddedDecoder(network.decoder, task)
    return PaddedModel(*stacks)


def padded_logits(
    network: Network, source: Tensor, previous_target: Tensor | None, tasks: Tensor
) -> Tensor:
    """Return the logits of every target position, (B, T, V)."""
    return padded(network)(source, previous_target, tasks)


def padded_predict(network: Network, batch: Batch) -> Predicted:
    """Return the logits of a batch's targets, as `Network.predict` does."""
    rows = padded_logits(network, batch.source, batch.previous_target, batch.tasks)
    real = batch.target.ne(network.padding)
    tasks = batch.tasks.unsqueeze(1).expand_as(real)
    return Predicted(rows[real], batch.target[real], tasks[real])
