"""A task's endless stream of sentences: one permutation after another, measured in tokens."""

import numpy as np


def permutation(size: int, *where: int) -> np.ndarray:
    """Return a permutation of 0 … size − 1, (size,), a pure function of its arguments.

    It uses only the raw bits of the generator: numpy guarantees their sequence, but not that of its
    own shuffling.

    Args:
        size: length of the permutation.
        where: the seed and the words that identify the draw, integers of at least 0.
    """
    bits = np.random.PCG64(np.random.SeedSequence(where)).random_raw(size)
    return np.argsort(bits, kind="stable")


class Stream:
    """One task's sentences, pass after pass, each pass in a different order.

    A sentence's place is the number of tokens before it in all passes. Which sentences are between
    two places depends on the places alone.
    """

    def __init__(self, lengths: np.ndarray, *where: int):
        """Measure a task.

        Args:
            lengths: (sentences,) tokens of each sentence, at least 1.
            where: the seed and the task; each pass adds its number.
        """
        self.lengths, self.where = lengths, where
        self.tokens = int(lengths.sum())
        self._latest = (-1, lengths, lengths)

    def between(self, begin: int, end: int) -> np.ndarray:
        """Return the sentences whose first token is in [begin, end), in the stream's order.

        Args:
            begin: tokens before the stretch, counted from the start of the first pass.
            end: tokens before the end of the stretch.
        """
        stretches = []
        for number in range(begin // self.tokens, (end - 1) // self.tokens + 1):
            order, places = self._pass(number)
            before = number * self.tokens
            first, last = np.searchsorted(places, (begin - before, end - before))
            stretches.append(order[first:last])
        return np.concatenate(stretches)

    def _pass(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a pass's order of sentences and the tokens before each; the latest is cached."""
        if self._latest[0] != number:
            order = permutation(len(self.lengths), *self.where, number)
            lengths = self.lengths[order]
            self._latest = (number, order, np.cumsum(lengths) - lengths)
        return self._latest[1], self._latest[2]
