"""The Transformer: an encoder and a decoder, each with its method."""

from fairseq.models import FairseqEncoderDecoderModel
from torch import Tensor

from fathom.errors import FathomError
from fathom.models.hooks import Method, Stack
from fathom.models.network import Network
from fathom.models.stack import Vocabulary
from fathom.models.transformer.decoder import Decoder
from fathom.models.transformer.encoder import Encoder
from fathom.models.transformer.steps import TransformerSteps
from fathom.runs.settings import Model


class Transformer(Network, FairseqEncoderDecoderModel):
    """A Transformer as fairseq builds it."""

    encoder: Encoder
    decoder: Decoder

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
            source_dictionary: of the source.
            target_dictionary: of the target; the same one if all embeddings are tied.
            methods: what changes the layers, by stack.

        Raises:
            FathomError: all embeddings shall be tied, and the dictionaries differ.
        """
        if model.tie_embeddings == "all" and source_dictionary != target_dictionary:
            raise FathomError(
                "source and target have different dictionaries",
                "model.tie_embeddings: all",
                "write data.subwords.joint, or tie_embeddings: decoder",
            )
        super().__init__(
            Encoder(model, source_dictionary, methods["encoder"]),
            Decoder(model, target_dictionary, methods["decoder"]),
        )
        if model.tie_embeddings == "all":
            self.encoder.embed_tokens = self.decoder.embed_tokens

    def steps(self, source: Tensor, tasks: Tensor) -> TransformerSteps:
        """Encode a batch, and return its decoder position by position."""
        return TransformerSteps(self.decoder, self.encoder(source, tasks=tasks), tasks)

    @staticmethod
    def describe_stacks(model: Model, tasks: int) -> dict[str, Stack]:
        """Return what a method knows of each stack, by name; `tasks` is N."""
        layers = {"encoder": model.encoder_layers, "decoder": model.decoder_layers}
        return {
            name: Stack(
                name=name,
                layers=count,
                tasks=tasks,
                width=model.width,
                norm=model.norm,
                sources=count + 1,
                memories=model.decoder_layers,
                residuals=name in model.residuals,
            )
            for name, count in layers.items()
        }
