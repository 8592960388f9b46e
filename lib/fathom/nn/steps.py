"""What a search asks of a decoder: one position after another, several hypotheses a sentence."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from fathom.nn.hooks import Method


class Steps(ABC):
    """The decoder of a batch of sentences, which has read their hypotheses up to some position.

    B sentences have K hypotheses each, one at first. The rows of a sentence follow each other:
    hypothesis k of sentence b is row b · K + k.

    Attributes:
        output: the projection of what `advance` returns to the vocabulary.
        tasks: (B,) the task of each sentence.
        hypotheses: of each sentence, K.
    """

    def __init__(self, method: Method, output: nn.Linear, tasks: Tensor):
        """Prepare the method for one row a sentence.

        Args:
            method: the decoder's.
            output: the decoder's projection to the vocabulary.
            tasks: (B,) the task of each sentence.
        """
        self.method, self.output, self.tasks, self.hypotheses = method, output, tasks, 1
        method.begin(tasks)

    @abstractmethod
    def advance(self, pieces: Tensor) -> Tensor:
        """Read one more piece of each hypothesis; return the rows that `output` turns into logits.

        Args:
            pieces: (B · K,).

        Returns:
            (B · K, units).
        """

    def select(self, sentences: Tensor, parents: Tensor) -> None:
        """Keep some sentences, and continue some of their hypotheses.

        The method is prepared again only when the number of rows changes, not at every position.

        Args:
            sentences: (B',) which of the B sentences is at each place from now on, as
                `gaps_closed` orders them.
            parents: (B', K') the hypothesis of that sentence that each new one continues.
        """
        self.reorder(sentences, parents)
        if parents.shape != (len(self.tasks), self.hypotheses):
            self.tasks, self.hypotheses = self.tasks[sentences], parents.size(1)
            self.method.begin(self.tasks.repeat_interleave(self.hypotheses))

    @abstractmethod
    def reorder(self, sentences: Tensor, parents: Tensor) -> None:
        """Do what `select` says with the state of earlier positions."""


def gaps_closed(dropped: Tensor) -> Tensor:
    """Return which sentence is at each place when some are dropped: the last ones fill the gaps.

    So what is stored by place moves for few sentences.

    Args:
        dropped: (B,) true for sentences that are dropped.
    """
    left = int((~dropped).sum())
    order = torch.arange(left, device=dropped.device)
    order[dropped[:left]] = (~dropped[left:]).nonzero().squeeze(1) + left
    return order


def moved(sentences: Tensor) -> tuple[Tensor, Tensor]:
    """Return the places that get another sentence and where these sentences were, (moved,) each.

    Args:
        sentences: (B,) which sentence is at each place from now on.
    """
    places = torch.arange(len(sentences), device=sentences.device)
    new = (sentences != places).nonzero().squeeze(1)
    return new, sentences[new]
