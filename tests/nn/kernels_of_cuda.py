"""torch's attention of sentences of any lengths, which has kernels on CUDA alone, as CPU loops."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import torch

# What the calls forward got besides tensors: p, and whether later keys are hidden.
CALLS: list[tuple[float, bool]] = []


@contextmanager
def on_cpu() -> Iterator[list[tuple[float, bool]]]:
    """Let the kernels run on a CPU; give the list of what they get."""
    library = torch.library.Library("aten", "IMPL")
    library.impl("_efficient_attention_forward", efficient, "CPU")
    library.impl("_efficient_attention_backward", efficient_backward, "CPU")
    library.impl("_flash_attention_forward", flash, "CPU")
    library.impl("_flash_attention_backward", flash_backward, "CPU")
    CALLS.clear()
    yield CALLS
    library._destroy()


def sentences(q, k, v, q_offsets, k_offsets, causal, *upstream):
    """Yield each sentence's weights (h, n, m), q, k, v and what else is by query, (h, n, d)."""
    ends = (pairwise(offsets.tolist()) for offsets in (q_offsets, k_offsets))
    for (start, end), (first, last) in zip(*ends, strict=True):
        queries = [x[start:end].transpose(0, 1) for x in (q, *upstream)]
        keys, values = (x[first:last].transpose(0, 1) for x in (k, v))
        hidden = torch.ones(end - start, last - first, dtype=torch.bool).triu(1) & causal
        scores = queries[0] @ keys.mT / q.size(-1) ** 0.5
        yield scores.masked_fill(hidden, -torch.inf).softmax(-1), keys, values, *queries


def attended(*given):
    parts = [weights @ values for weights, _, values, _ in sentences(*given)]
    return torch.cat(parts, dim=1).transpose(0, 1).contiguous()


def backward(gradient, *given):
    parts = []
    for weights, keys, values, queries, upstream in sentences(*given, gradient):
        of_weights = upstream @ values.mT
        inner = (of_weights * weights).sum(-1, keepdim=True)
        of_scores = weights * (of_weights - inner) / queries.size(-1) ** 0.5
        parts.append((of_scores @ keys, of_scores.mT @ queries, weights.mT @ upstream))
    return [torch.cat(part, dim=1).transpose(0, 1) for part in zip(*parts, strict=True)]


def noted(q_offsets, k_offsets, longest_q, longest_k, p, causal):
    assert q_offsets.dtype == k_offsets.dtype == torch.int32
    longest = [int(offsets.diff().max()) for offsets in (q_offsets, k_offsets)]
    assert [longest_q, longest_k] == longest
    CALLS.append((p, bool(causal)))


def efficient(q, k, v, bias, of_q, of_k, longest_q, longest_k, p, mask, with_sums=False):
    assert bias is None
    assert with_sums == torch.is_grad_enabled()
    noted(of_q, of_k, longest_q, longest_k, p, mask)
    y = attended(q[0], k[0], v[0], of_q, of_k, bool(mask))
    none = torch.zeros((), dtype=torch.long)
    return y[None], y.new_zeros(1), none, none.clone(), longest_q, longest_k


def efficient_backward(
    gradient, q, k, v, bias, out, of_q, of_k, long_q, long_k, sums, p, seed, offset, mask, *_
):
    parts = backward(gradient[0], q[0], k[0], v[0], of_q, of_k, bool(mask))
    return *(part[None] for part in parts), q.new_zeros(0)


def flash(q, k, v, of_q, of_k, longest_q, longest_k, p, causal, with_mask):
    assert not with_mask
    noted(of_q, of_k, longest_q, longest_k, p, causal)
    y = attended(q, k, v, of_q, of_k, causal)
    none = torch.zeros(2, dtype=torch.long)
    return y, y.new_zeros(1), none, none.clone(), y.new_zeros(0)


def flash_backward(
    gradient, q, k, v, out, sums, of_q, of_k, long_q, long_k, p, causal, state, unused
):
    return (*backward(gradient, q, k, v, of_q, of_k, causal),)
