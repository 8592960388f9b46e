"""The recurrent layer of RNMT+: LSTM cells with normalised gates, in one or two directions.

As in the published code of RNMT+, lingvo's LayerNormalizedLSTMCellSimple.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

# The bound of a cell's state, and the epsilon of its layer norm.
CLIP, EPSILON = 10.0, 1e-8
# Matrices are initialised uniformly in ±INIT.
INIT = 0.04
GATES = 4

Carried = tuple[Tensor, Tensor]


def step(a: Tensor, c: Tensor, scale: Tensor, bias: Tensor) -> Carried:
    """Return one step of the cell: its output m and its state c, (…, cell) each.

        i, g, f, o = LN(a), each gate over its own units
        c = σ(f) c_before + σ(g) tanh(i), clipped to ±10
        m = σ(o) c

    There is no tanh on the output, so |m| can exceed 1.

    Args:
        a: (…, 4 · cell) [x; m_before] W: candidate, input gate, forget gate, output gate.
        c: (…, cell) the state of the previous step.
        scale: (…, 4, cell) of the norm.
        bias: (…, 4, cell) added after the norm; there is no other bias.
    """
    normal = functional.layer_norm(a.unflatten(-1, (GATES, -1)), scale.shape[-1:], eps=EPSILON)
    gates = normal * scale + bias
    candidate = torch.tanh(gates[..., 0, :])
    input_gate, forget_gate, output_gate = torch.sigmoid(gates[..., 1:, :]).unbind(-2)
    c = torch.clamp(forget_gate * c + input_gate * candidate, -CLIP, CLIP)
    return output_gate * c, c


def flip_backward(directions: Sequence[Tensor]) -> list[Tensor]:
    """Return time-first tensors, all but the first with their steps in reverse order."""
    return [steps.flip(0) if number else steps for number, steps in enumerate(directions)]


class LstmLayer(nn.Module):
    """One LSTM over a sentence, or two, of which the second starts at its end.

    Attributes:
        weight: (directions, inputs + cell, 4 · cell) the matrix of [x; m_before].
        scale: (directions, 4, cell) of each gate's norm.
        bias: (directions, 4, cell).
    """

    def __init__(self, inputs: int, cell: int, directions: int):
        """Build the layer.

        Args:
            inputs: units of its input.
            cell: units of each direction.
            directions: 1, or 2 with one that reads backwards.
        """
        super().__init__()
        self.inputs, self.cell, self.directions = inputs, cell, directions
        self.weight = nn.Parameter(torch.empty(directions, inputs + cell, GATES * cell))
        self.scale = nn.Parameter(torch.ones(directions, GATES, cell))
        self.bias = nn.Parameter(torch.zeros(directions, GATES, cell))
        nn.init.uniform_(self.weight, -INIT, INIT)

    def forward(
        self, x: Tensor, padding: Tensor | None = None, before: Carried | None = None
    ) -> tuple[Tensor, Carried]:
        """Return the outputs, (T, B, directions · cell), and the state after the last step.

        Padding does not change the state, so the direction that reads backwards starts at each
        sentence's last real position.

        Args:
            x: (T, B, inputs).
            padding: (T, B) true at padding; None if padding comes last in the reading order.
            before: m and c of an earlier step, (directions, B, cell) each; None for zeros.
        """
        # One product gives the input's part of all steps; only the recurrent part is sequential.
        steps = torch.stack(
            flip_backward([x @ weight[: self.inputs] for weight in self.weight]), dim=1
        )
        recurrent = self.weight[:, self.inputs :].to(steps.dtype)
        scale, bias = self.scale[:, None], self.bias[:, None]
        zeros = x.new_zeros(self.directions, x.size(1), self.cell)
        m, c = before or (zeros, zeros)
        stops: Sequence[Tensor | None] = [None] * len(steps)
        if padding is not None:
            stops = torch.stack(flip_backward([padding] * self.directions), dim=1)[
                ..., None
            ].unbind()
        outputs = []
        for a, stop in zip(steps.unbind(), stops, strict=True):
            new_m, new_c = step(torch.baddbmm(a, m.to(a.dtype), recurrent), c, scale, bias)
            if stop is None:
                m, c = new_m, new_c
            else:
                m, c = torch.where(stop, m, new_m), torch.where(stop, c, new_c)
            outputs.append(m)
        return torch.cat(flip_backward(torch.stack(outputs).unbind(1)), dim=-1), (m, c)
