"""The precision of float32 products; faster linear layers and dropout on a CPU.

By default torch sends float32 products on a CPU to MKL. With the precision "medium" it sends them
to oneDNN, about twice as fast on some machines, which may also round to bfloat16. Whether it does
depends on the machine, so `choose_matmul_precision` measures it. The setting belongs to the
process, and oneDNN is slow on products of many small or changing shapes, such as attention's, so
it is set around the products of a linear layer alone.

The mask of dropout comes from 16-bit random words, four draws from each 64-bit word. The
probability is a multiple of 1 / 65,536, off by at most 1 / 131,072; values are scaled by what this
multiple leaves, so the expectation is exact. The draws follow from the state of torch's generator.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

# oneDNN makes code for each shape and caches 1,024 of them, so numbers of rows must repeat.
ONEDNN_ROWS = 128
# Errors of two libraries that add in float32 differ by less; rounding to bfloat16 is 1,000 times.
AS_GOOD = 2.0


@dataclass(frozen=True)
class MatmulPrecision:
    """The precision of linear layers, and why it was chosen."""

    # As torch.set_float32_matmul_precision names it: "highest", "high" (TF32 on CUDA) or "medium".
    precision: str
    # By precision, the largest error relative to the largest value; empty if none was measured.
    errors: dict[str, float]

    @property
    def multiple(self) -> int:
        """What numbers of rows are rounded up to a multiple of."""
        return ONEDNN_ROWS if self.precision == "medium" else 1

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Allow TF32 in CUDA's products within the block if "high", and forbid it otherwise."""
        # The newer fp32_precision makes torch.get_float32_matmul_precision, which the compiler
        # reads, raise an error; torch.set_float32_matmul_precision is also that of oneDNN.
        cublas = torch.backends.cuda.matmul
        before = cublas.allow_tf32
        cublas.allow_tf32 = self.precision == "high"
        try:
            yield
        finally:
            cublas.allow_tf32 = before


def choose_matmul_precision(device: torch.device, tf32: bool = False) -> MatmulPrecision:
    """Return the precision of a device's linear layers; with `tf32`, "high" on CUDA.

    On a CPU "medium" is chosen if its errors are as small as those of "highest"; elsewhere "medium"
    would round. torch before 2.9 cannot switch oneDNN alone, and keeps "highest". Nothing is drawn
    from torch's own generator. Time decides nothing: the two differ in bits, and a training that is
    resumed must choose again what it chose before.
    """
    if device.type == "cuda" and tf32:
        return MatmulPrecision("high", {})
    onednn = torch.backends.mkldnn
    if device.type != "cpu" or not onednn.is_available() or not hasattr(onednn, "matmul"):
        return MatmulPrecision("highest", {})
    errors = {precision: _error(precision) for precision in ("highest", "medium")}
    as_good = errors["medium"] <= AS_GOOD * errors["highest"]
    return MatmulPrecision("medium" if as_good else "highest", errors)


def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, precision: str = "highest"
) -> Tensor:
    """Return x Wᵀ + b, (…, out), for x (…, in), W (out, in) and b (out,).

    The precision is that of this product and of both products of its gradient. With "medium", in
    float32 on a CPU and without autocast, it is differentiable once.
    """
    here = x.device.type
    exact = x.dtype == torch.float32 and not torch.is_autocast_enabled(here)
    if precision == "medium" and here == "cpu" and exact:
        return _Linear.apply(x, weight, bias)
    # At the highest precision torch's layer is faster than a function of ours.
    return F.linear(x, weight, bias)


class _Linear(torch.autograd.Function):
    """F.linear by oneDNN, in the passes forward and backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        rows = x.reshape(-1, x.size(-1))
        y = _product(rows, weight.t())
        if bias is not None:
            y.add_(bias)
        return y.view(*x.shape[:-1], len(weight))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        rows, upstream = x.reshape(-1, x.size(-1)), upstream.reshape(-1, len(weight))
        # The bias's sum by a product: torch's own takes three times as long.
        ones = upstream.new_ones(1, len(upstream))
        return (
            _product(upstream, weight).view_as(x) if of_x else None,
            _product(upstream.t(), rows) if of_weight else None,
            ones.mm(upstream).squeeze(0) if of_bias else None,
        )


def _product(left: Tensor, right: Tensor) -> Tensor:
    """Return left · right by oneDNN; the setting is afterwards as it was before."""
    # The narrowest switch; torch.set_float32_matmul_precision is also that of CUDA. Types omit it.
    setting = cast(Any, torch.backends.mkldnn).matmul
    before = setting.fp32_precision
    setting.fp32_precision = "bf16"
    try:
        return left.mm(right)
    finally:
        setting.fp32_precision = before


def _error(precision: str) -> float:
    """Return the largest error of a layer's value and gradients against float64, relative."""
    draws = torch.Generator().manual_seed(1)
    x, weight, upstream = (
        torch.randn(shape, generator=draws) for shape in ((256, 512), (384, 512), (256, 384))
    )

    def products(dtype: torch.dtype) -> list[Tensor]:
        inputs = [x.to(dtype).requires_grad_(), weight.to(dtype).requires_grad_()]
        y = linear(*inputs, precision=precision)
        # Of a sum: for a gradient that is given, torch imports sympy, which takes a second.
        return [y, *torch.autograd.grad((y * upstream.to(dtype)).sum(), inputs)]

    pairs = zip(products(torch.float32), products(torch.float64), strict=True)
    return max(((ours - exact).abs().max() / exact.abs().max()).item() for ours, exact in pairs)


WORDS = 2**16


def dropout(x: Tensor, p: float, training: bool = True) -> Tensor:
    """Return x with each value set to zero with probability p, the others scaled by 1 / (1 − p).

    On a CPU p is rounded to a multiple of 1 / 65,536.
    """
    if not training or p == 0:
        return x
    if x.device.type != "cpu" or p == 1:
        return F.dropout(x, p)
    return x * keep_mask(x, p)


def keep_mask(x: Tensor, p: float) -> Tensor:
    """Return what dropout multiplies x by, of its shape and type: 0 or 1 / (1 − p), with p < 1."""
    dropped = min(round(p * WORDS), WORDS - 1)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    draws = words.view(torch.int16)[: x.numel()].view(x.shape)  # uniform, −32,768 … 32,767
    mask = torch.empty(x.shape, dtype=x.dtype)
    # Written as 0 and 1 of the type of x at once, without a mask of truth values.
    torch.ge(draws, dropped - WORDS // 2, out=mask)
    return mask.mul_(WORDS / (WORDS - dropped))
