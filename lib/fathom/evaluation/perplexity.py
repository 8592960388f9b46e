"""Perplexity of held-out text, from summed negative log-likelihoods in nats.

A perplexity has no unit, but the loss beside it has: fairseq prints bits and 2^bits, others nats
and e^nats. Both are written, so that a printed number can be compared with either.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fathom.errors import FathomError


@dataclass(frozen=True)
class Perplexity:
    """How well held-out tokens are predicted.

    Attributes:
        tokens: how many were predicted.
        nats: NLL a token in nats.
        bits: NLL a token in bits.
        value: the perplexity, e^nats = 2^bits; infinite where that is too large a number.
    """

    tokens: int
    nats: float
    bits: float
    value: float


def bits(nats: float) -> float:
    """Return nats in bits."""
    return nats / math.log(2)


def of_nats(nats: float) -> float:
    """Return e^nats, infinite where that is too large a number."""
    with np.errstate(over="ignore"):
        return float(np.exp(np.float64(nats)))


def measure(nats: float, tokens: int, where: str) -> Perplexity:
    """Return the perplexity of some tokens.

    Args:
        nats: their summed NLL; where training diverged it may not be finite.
        tokens: how many there are.
        where: what an error names.

    Raises:
        FathomError: there are none.
    """
    if tokens < 1:
        raise FathomError("no token was predicted", where, "hold more text out")
    mean = nats / tokens
    return Perplexity(tokens, mean, bits(mean), of_nats(mean))


def by_task(nats: Mapping[str, float], tokens: Mapping[str, int]) -> dict[str, Perplexity]:
    """Return the perplexity of each task, in the order of `nats`.

    Args:
        nats: summed NLL of each task's predicted tokens.
        tokens: how many they are.

    Raises:
        FathomError: a task has none.
    """
    return {task: measure(summed, tokens[task], task) for task, summed in nats.items()}


def in_all(nats: Mapping[str, float], tokens: Mapping[str, int]) -> Perplexity:
    """Return the perplexity of all tasks' tokens together, each token counting once.

    Args:
        nats: summed NLL of each task's predicted tokens.
        tokens: how many they are.

    Raises:
        FathomError: no task has any.
    """
    return measure(math.fsum(nats.values()), sum(tokens[task] for task in nats), "all tasks")
