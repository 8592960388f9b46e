"""RNMT+ (Chen et al., 2018: The Best of Both Worlds), the recurrent translation model.

Bidirectional LSTM layers encode; the decoder's first layer queries what they leave with an additive
attention, and all other layers and the output read its context. Cells, residuals and
initialisation follow the published code (lingvo), where the paper does not say.
"""

from fairseq.models import FairseqEncoderDecoderModel
from torch import Tensor

from fathom.errors import FathomError
from fathom.models.hooks import Method, Stack
from fathom.models.layers import Vocabulary
from fathom.models.network import Network
from fathom.models.rnmt_decoder import RnmtDecoder
from fathom.models.rnmt_encoder import RnmtEncoder
from fathom.runs.spec import Model


class RnmtPlus(Network, FairseqEncoderDecoderModel):
    """An encoder and a decoder of LSTM layers; the width is a cell's and an embedding's, c."""

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
            target_dictionary: the target side's.
            methods: what is done to the layers of each side.

        Raises:
            FathomError: embeddings are to be shared with the output, which is twice as wide.
        """
        if model.share_embeddings != "none":
            raise FathomError(
                f"RNMT+ cannot share '{model.share_embeddings}' embeddings: its output is wider",
                "model.share_embeddings",
                "set it to none",
            )
        super().__init__(
            RnmtEncoder(model, source_dictionary, methods["encoder"]),
            RnmtDecoder(model, target_dictionary, methods["decoder"]),
        )

    @staticmethod
    def stacks(model: Model, tasks: int) -> dict[str, Stack]:
        """Return what a method is told of each stack, by side; `tasks` is N.

        The embeddings are not counted among the encoder's sources, having half its width; the first
        layers have no residuals.
        """
        encoder = Stack(
            side="encoder",
            layers=model.encoder_layers,
            tasks=tasks,
            width=2 * model.width,
            norm=model.norm,
            sources=model.encoder_layers,
            readers=1,
            residuals=False,
        )
        decoder = Stack(
            side="decoder",
            layers=model.decoder_layers,
            tasks=tasks,
            width=model.width,
            norm=model.norm,
            sources=model.decoder_layers + 1,
            readers=1,
            residuals=False,
        )
        return {"encoder": encoder, "decoder": decoder}

    def forward(self, source: Tensor, previous_target: Tensor, tasks: Tensor) -> Tensor:
        """Return the logits of every target position, (B, T, V).

        Args:
            source: (B, S) right-padded.
            previous_target: (B, T) the target shifted by one, right-padded.
            tasks: (B,) the task of each sentence.
        """
        memory = self.encoder(source, tasks=tasks)
        return self.decoder(previous_target, encoder_out=memory, tasks=tasks)[0]
