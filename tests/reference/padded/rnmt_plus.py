"""RNMT+ as fairseq's generator calls it, with the state of earlier steps kept in fairseq's way."""

from fairseq.models import FairseqIncrementalDecoder
from torch import Tensor

from fathom.nn.rnmt_plus.cells import PreparedSource
from fathom.nn.rnmt_plus.stacks import LONGEST, RnmtDecoder, RnmtEncoder, RnmtPass
from tests.reference.padded.stacks import Encoder, Memory, State, tasks_of

# The key of the state of earlier steps.
PAST = "past"


class PaddedEncoder(Encoder):
    """The encoder of RNMT+."""

    stack: RnmtEncoder

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None = None,
        tasks: Tensor | None = None,
    ) -> Memory:
        """Encode a batch; fairseq's generator passes the first two arguments by name."""
        memory = self.stack(src_tokens, tasks_of(src_tokens, tasks, self.task))
        padding = src_tokens.eq(self.dictionary.pad())
        return {"encoder_out": [memory], "encoder_padding_mask": [padding]}

    def max_positions(self) -> int:
        """Return a length that is longer than any source (pieces)."""
        return LONGEST


class PaddedDecoder(FairseqIncrementalDecoder):
    """The decoder of RNMT+; `task` is that of all sentences where a call gives none."""

    def __init__(self, stack: RnmtDecoder, task: int | None = None):
        super().__init__(None)
        self.stack, self.task = stack, task

    def forward(
        self,
        previous_target: Tensor,
        encoder_out: Memory,
        incremental_state: State | None = None,
        tasks: Tensor | None = None,
    ) -> tuple[Tensor, dict[str, list[None]]]:
        """Return the logits of all positions, or incrementally those of the last, (B, 1, V)."""
        tokens = previous_target if incremental_state is None else previous_target[:, -1:]
        shared = self.start_pass(encoder_out, incremental_state)
        self.stack.method.begin(tasks_of(previous_target, tasks, self.task))
        states = self.stack.run(tokens, shared).transpose(0, 1)  # (B, T, 2c)
        source = shared.source._asdict().items()
        past = shared.past | {name: tensor for name, tensor in source if tensor is not None}
        self.set_incremental_state(incremental_state, PAST, past)
        return self.stack.output_projection(states), {"attn": [None]}

    def start_pass(self, encoder_out: Memory, incremental_state: State | None) -> RnmtPass:
        """Return what the layers share, with the source prepared now or at an earlier step."""
        past = dict(self.get_incremental_state(incremental_state, PAST) or {})
        if past:
            source = PreparedSource(past["keys"], past["values"], past["blocked"], past.get("mask"))
            return RnmtPass(source, past)
        (memory,), (padding,) = encoder_out["encoder_out"], encoder_out["encoder_padding_mask"]
        return self.stack.start_pass(memory, padding)

    def reorder_incremental_state(self, incremental_state: State, new_order: Tensor) -> None:
        """Select the sentences whose indices are in `new_order`, in the state of earlier steps."""
        past = self.get_incremental_state(incremental_state, PAST)
        if past is not None:
            selected = {name: past[name].index_select(0, new_order) for name in past}
            self.set_incremental_state(incremental_state, PAST, selected)

    def max_positions(self) -> int:
        """Return a length that is longer than any target (pieces)."""
        return LONGEST
