"""What the padded stacks of all networks share."""

from typing import Any

import torch
from fairseq.models import FairseqEncoder
from torch import Tensor

from fathom.nn.stack import apply_once

# What an encoder returns: "encoder_out" and "encoder_padding_mask".
Memory = dict[str, list[Tensor]]
# What fairseq keeps between two steps of decoding.
State = dict[str, dict[str, Tensor | None]]


def tasks_of(tokens: Tensor, tasks: Tensor | None, task: int | None) -> Tensor:
    """Return the task of each sentence of tokens (B, T), as (B,): `tasks`, or else `task`."""
    if tasks is not None:
        return tasks
    if task is None:
        raise RuntimeError("give the tasks of the sentences, or one task for all")
    return tokens.new_full((tokens.size(0),), task)


def future_mask(tokens: Tensor) -> Tensor:
    """Return (T, T), true where the column is later than the row, for tokens (B, T)."""
    length = tokens.size(1)
    return torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)


class Encoder(FairseqEncoder):
    """An encoder as fairseq's generator calls it; `task` is that of all sentences without any."""

    def __init__(self, stack: Any, task: int | None = None):
        super().__init__(stack.dictionary)
        self.stack, self.task = stack, task

    def reorder_encoder_out(self, encoder_out: Memory, new_order: Tensor) -> Memory:
        """Return the sentences of an encoded batch whose indices are in `new_order`."""
        memories, paddings = encoder_out["encoder_out"], encoder_out["encoder_padding_mask"]
        return {
            "encoder_out": apply_once(lambda memory: memory.index_select(1, new_order), memories),
            "encoder_padding_mask": [padding.index_select(0, new_order) for padding in paddings],
        }
