"""RNMT+ (Chen et al., 2018: The Best of Both Worlds), the recurrent translation model.

Bidirectional LSTM layers encode. The decoder's first layer attends to their output with additive
attention; all other layers and the output read its context. Cells, residuals and initialisation
follow the published code (lingvo) where the paper is silent.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from fathom.config.schema.run import Model
from fathom.io.errors import FathomError
from fathom.nn.hooks import Method, Stack
from fathom.nn.network import Batch, Network, Predicted, project
from fathom.nn.packing import Packing
from fathom.nn.rnmt_plus.stacks import RnmtDecoder, RnmtEncoder, RnmtPass
from fathom.nn.stack import DictionaryLike, Steps


class RnmtSteps(Steps):
    """The decoder at one position after another; the source is prepared once per sentence."""

    def __init__(self, decoder: RnmtDecoder, memory: Tensor, padding: Tensor, tasks: Tensor):
        super().__init__(decoder.method, decoder.output_projection, tasks)
        self.decoder, self.shared = decoder, decoder.start_pass(memory, padding)

    def advance(self, pieces: Tensor) -> Tensor:
        """Return the stack's output and the context, (B · K, 2c), of one more piece (B · K,)."""
        return self.decoder.run(pieces.unsqueeze(1), self.shared).squeeze(0)

    def reorder(self, sentences: Tensor, parents: Tensor) -> None:
        """Select cells and contexts by hypothesis, and the source by sentence."""
        rows = (sentences.unsqueeze(1) * self.hypotheses + parents).flatten()
        past = {name: state.index_select(0, rows) for name, state in self.shared.past.items()}
        source = self.shared.source
        if len(sentences) < len(self.tasks):
            # There is no mask: nothing is dropped out in evaluation mode.
            keys, values, blocked = (part.index_select(0, sentences) for part in source[:3])
            source = source._replace(keys=keys, values=values, blocked=blocked)
        self.shared = RnmtPass(source, past)


class RnmtPlus(Network):
    """An encoder and a decoder of LSTM layers; the width is a cell's and an embedding's, c."""

    encoder: RnmtEncoder
    decoder: RnmtDecoder

    def __init__(
        self,
        model: Model,
        source_dictionary: DictionaryLike,
        target_dictionary: DictionaryLike,
        methods: dict[str, Method],
    ):
        if model.tie_embeddings != "none":
            what = "the output of RNMT+ is wider than its embeddings, they cannot be tied"
            raise FathomError(what, "model.tie_embeddings", "write none")
        for name, method in methods.items():
            if method.overrides("initialise"):
                what = "the layers of RNMT+ do not have the hook 'initialise' of a method"
                remedy = "choose another method, or architecture: transformer"
                raise FathomError(what, f"{name}, {type(method).__name__}", remedy)
        super().__init__()
        self.encoder = RnmtEncoder(model, source_dictionary, methods["encoder"])
        self.decoder = RnmtDecoder(model, target_dictionary, methods["decoder"])

    def steps(self, source: Tensor, tasks: Tensor) -> RnmtSteps:
        """Encode a batch, and return its decoder position by position."""
        padding = source.eq(self.padding)
        return RnmtSteps(self.decoder, self.encoder(source, tasks), padding, tasks)

    def predict(self, batch: Batch) -> Predicted:
        """Return the logits of a batch's targets; no padding is projected."""
        padding = batch.source.eq(self.padding)
        memory = self.encoder(batch.source, batch.tasks)
        states = self.decoder(batch.previous_target, memory, padding, batch.tasks)
        packing = Packing.of(batch.target.eq(self.padding), lengths=batch.target_lengths)
        real = states.flatten(0, 1).index_select(0, packing.index)
        return Predicted.of(project(self.decoder.output_projection, real), batch, packing)

    def compile_layers(self, backend: str = "inductor") -> None:
        """Compile the step of each layer: a whole pass would need a graph for each length."""
        modules: list[Any] = [module for module in self.modules() if hasattr(module, "advance")]
        for module in modules:
            module.advance = torch.compile(module.advance, backend=backend)

    @staticmethod
    def describe_stacks(model: Model, tasks: int) -> dict[str, Stack]:
        """Return what a method knows of each stack, by name; `tasks` is N.

        The embeddings are not among the encoder's sources, because they have half its width. The
        first layers have no residuals.
        """
        stacks = Network.describe_stacks(model, tasks)
        encoder, decoder = (
            replace(stacks[name], memories=1, residuals=False) for name in ("encoder", "decoder")
        )
        encoder = replace(encoder, width=2 * model.width, sources=model.encoder_layers)
        return {"encoder": encoder, "decoder": decoder}
