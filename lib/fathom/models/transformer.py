"""The translation model: an encoder and a decoder, each with its method."""

from typing import Self

from fairseq.models import FairseqEncoderDecoderModel
from torch import Tensor

from fathom.catalog.spec import Model
from fathom.models.decoder import Decoder
from fathom.models.encoder import Encoder
from fathom.models.hooks import Method
from fathom.models.layers import Vocabulary


class Transformer(FairseqEncoderDecoderModel):
    """A Transformer with separate source and target embeddings, as fairseq builds it."""

    def __init__(
        self,
        model: Model,
        source_dictionary: Vocabulary,
        target_dictionary: Vocabulary,
        encoder_method: Method,
        decoder_method: Method,
    ):
        """Build the network.

        Args:
            model: its shape.
            source_dictionary: the source side's.
            target_dictionary: the target side's.
            encoder_method: what is done to the encoder's layers.
            decoder_method: what is done to the decoder's layers.
        """
        super().__init__(
            Encoder(model, source_dictionary, encoder_method),
            Decoder(model, target_dictionary, decoder_method),
        )

    @property
    def methods(self) -> dict[str, Method]:
        """The method of each side."""
        return {"encoder": self.encoder.method, "decoder": self.decoder.method}

    def forward(self, source: Tensor, previous_target: Tensor, tasks: Tensor) -> Tensor:
        """Return the logits of every target position, (B, T, V).

        Args:
            source: (B, S) right-padded.
            previous_target: (B, T) the target shifted by one, right-padded.
            tasks: (B,) the task of each sentence.
        """
        memory = self.encoder(source, tasks=tasks)
        return self.decoder(previous_target, encoder_out=memory, tasks=tasks)[0]

    def start_update(self, seed: int, update: int) -> None:
        """Draw what is random in an update's gates, on both sides; updates count from 1."""
        for method in self.methods.values():
            method.start_update(seed, update)

    def for_task(self, task: int) -> Self:
        """Make `task` the task of every sentence whose caller does not say, and return the model.

        fairseq's generator does not pass tasks on, so it translates one task at a time.
        """
        self.encoder.task = self.decoder.task = task
        return self

    def use_gates(self, gates: str) -> Self:
        """Choose "plain", "soft" or "hard" gates for inference, and return the model."""
        for method in self.methods.values():
            method.inference = gates
        return self
