"""Two systems that are scored on the same draws."""

from statistics import fmean

import numpy as np

from fathom.scoring.bootstrap import SEED, Paired, drawn_scores


def paired_bootstrap(first, second, samples=None, seed=SEED, share=1.0):
    """Draw the test sets of two systems, each a list of trainings for each test set."""
    root = np.random.SeedSequence(seed)
    streams = [root] if len(first) == 1 else root.spawn(len(first))
    drawn = [drawn_scores(system, samples, streams, share) for system in (first, second)]
    value, other = (
        fmean(fmean(training.value for training in trainings) for trainings in system)
        for system in (first, second)
    )
    return Paired(value - other, drawn[0] - drawn[1])
