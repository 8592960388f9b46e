"""The translation model: an encoder and a decoder, each with its method."""

from fairseq.models import FairseqEncoderDecoderModel
from torch import Tensor

from fathom.models.decoder import Decoder
from fathom.models.encoder import Encoder
from fathom.models.hooks import Method, Stack
from fathom.models.layers import Vocabulary
from fathom.models.network import Network
from fathom.runs.spec import Model


class Transformer(Network, FairseqEncoderDecoderModel):
    """A Transformer as fairseq builds it."""

    def __init__(
        self,
        model: Model,
        source_dictionary: Vocabulary,
        target_dictionary: Vocabulary,
        methods: dict[str, Method],
    ):
        """Build the network.

        Args:
            model: its shape.
            source_dictionary: the source side's.
            target_dictionary: the target side's; the same where all embeddings are one.
            methods: what is done to the layers of each side.
        """
        super().__init__(
            Encoder(model, source_dictionary, methods["encoder"]),
            Decoder(model, target_dictionary, methods["decoder"]),
        )
        if model.share_embeddings == "all":
            self.encoder.embed_tokens = self.decoder.embed_tokens

    @staticmethod
    def stacks(model: Model, tasks: int) -> dict[str, Stack]:
        """Return what a method is told of each stack, by side; `tasks` is N."""
        layers = {"encoder": model.encoder_layers, "decoder": model.decoder_layers}
        return {
            side: Stack(
                side=side,
                layers=count,
                tasks=tasks,
                width=model.width,
                norm=model.norm,
                sources=count + 1,
                readers=model.decoder_layers,
                residuals=side in model.residuals,
            )
            for side, count in layers.items()
        }

    def forward(self, source: Tensor, previous_target: Tensor, tasks: Tensor) -> Tensor:
        """Return the logits of every target position, (B, T, V).

        Args:
            source: (B, S) right-padded.
            previous_target: (B, T) the target shifted by one, right-padded.
            tasks: (B,) the task of each sentence.
        """
        memory = self.encoder(source, tasks=tasks)
        return self.decoder(previous_target, encoder_out=memory, tasks=tasks)[0]
