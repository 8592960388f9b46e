"""fairseq's example of latent depth, in the two settings of it that run.

These are a latent encoder in many-to-one translation, and a latent decoder in one-to-many. Its
model is for one language pair a pass, whose gates are set before; its task adds the KL loss of that
language. Its logits are uninitialised memory there and zeros here.
"""

from argparse import Namespace
from collections.abc import Sequence

import torch
from fairseq.examples.latent_depth.latent_depth_src.loss.latent_depth import LatentLayersKLLoss
from fairseq.examples.latent_depth.latent_depth_src.models.latent_transformer import (
    LatentTransformerDecoder,
    LatentTransformerEncoder,
)
from fairseq.models import FairseqEncoderDecoderModel
from fairseq.models.transformer import TransformerDecoder, TransformerEncoder, TransformerModel
from torch import Tensor

from benchmarks.peer.stock import Stock, settings
from fathom.config.spec import Spec
from fathom.data.tensors import Tensors
from fathom.nn.network import Batch

# The cost of an update does not depend on these sizes.
SETTINGS = {
    "soft_select": False,
    "sampling_tau": 5.0,
    "prior": "uniform",
    "sparsity_weight": 0.1,
    "soft_update": 0,
    "anneal_updates": 1000,
}


class LatentExample(Stock):
    """The example's network and losses, with fairseq's Adam."""

    def __init__(self, spec: Spec, tensors: Tensors, device: torch.device):
        """Build the network.

        Args:
            spec: the run, whose shape and optimisation are repeated; the method is on one stack.
            tensors: the encoded text.
            device: where the network is.
        """
        values = Namespace(**vars(settings(spec.model)), **SETTINGS)
        sides = tensors.source_dictionary, tensors.target_dictionary
        width, languages = spec.model.width, len(tensors.tasks)
        tables = [TransformerModel.build_embedding(values, side, width) for side in sides]
        if spec.method.stacks == ("encoder",):
            encoder = LatentTransformerEncoder(values, sides[0], tables[0], num_logits=languages)
            decoder = TransformerDecoder(values, sides[1], tables[1])
        else:
            encoder = TransformerEncoder(values, sides[0], tables[0])
            decoder = LatentTransformerDecoder(values, sides[1], tables[1], num_logits=languages)
        self.latent = decoder if isinstance(decoder, LatentTransformerDecoder) else encoder
        torch.nn.init.zeros_(self.latent.layer_select.layer_logits)
        super().__init__(FairseqEncoderDecoderModel(encoder, decoder).to(device), spec)
        self.kl = LatentLayersKLLoss(values)
        self.updates = 0

    def gradients(self, batches: Sequence[Batch]) -> None:
        """Add up the gradients of all languages of an update."""
        self.updates += 1
        super().gradients(batches)

    def loss(self, batch: Batch) -> Tensor:
        """Return the losses of one language's sentences."""
        task = int(batch.tasks[0])
        self.latent.set_lang_idx(task)
        loss = super().loss(batch)
        samples = self.latent.layer_select.layer_samples
        return loss + self.kl(samples, task, self.updates, batch.tokens)
