"""The share of translations that are the reference."""

import numpy as np

from fathom.scoring.metrics import Metric


class Verbatim(Metric):
    name, unit, better, columns = "verbatim", "% verbatim", "higher", ("equal", "sentences")

    def signature(self):
        return "case:mixed"

    def count(self, hypotheses, references, sources, language):
        pairs = zip(hypotheses, references, strict=True)
        return np.array([[hypothesis == reference, 1] for hypothesis, reference in pairs], int)

    def score(self, sums):
        return 100 * sums[0] / sums[1]


METRIC = Verbatim()
