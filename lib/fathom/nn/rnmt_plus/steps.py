"""The decoder of RNMT+, position by position: cells and context of each hypothesis."""

from typing import cast

from torch import Tensor

from fathom.nn.rnmt_plus.decoder import Pass, QueryLayer, RnmtDecoder
from fathom.nn.stack import Memory
from fathom.nn.steps import Steps


class RnmtSteps(Steps):
    """The decoder at one position after another; the source is prepared once a sentence."""

    def __init__(self, decoder: RnmtDecoder, memory: Memory, tasks: Tensor):
        """Prepare the source.

        Args:
            decoder: in evaluation mode.
            memory: what the encoder returned.
            tasks: (B,) the task of each sentence.
        """
        super().__init__(decoder.method, decoder.output_projection, tasks)
        self.decoder = decoder
        (states,), (padding,) = memory["encoder_out"], memory["encoder_padding_mask"]
        attention = cast(QueryLayer, decoder.layers[0]).attention
        self.shared = Pass(attention.prepare(states, padding), {})

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
        self.shared = Pass(source, past)
