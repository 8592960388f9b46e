import math

import pytest
import torch

from fathom.config.schema.run import Outcome
from fathom.train.outcomes import DivergenceWatch, MadeStep, PendingMetrics
from fathom.train.two_level import Result

LIMITS = Outcome(exploded_above=20.0, exploded_for=3, failed_margin=0.0)
# NLL and gradient norm of each update.
SERIES = {
    "finite": [(4.0, 1.0)] * 8,
    "loss": [(4.0, 1.0)] * 5 + [(math.nan, 1.0), (4.0, 1.0), (math.inf, 1.0)],
    "gradient": [(4.0, 1.0)] * 2 + [(4.0, math.inf)] * 6,
    "exploding": [(25.0, 1.0)] * 2 + [(3.0, 1.0)] + [(25.0, 1.0)] * 5,
    "at the end": [(4.0, 1.0)] * 7 + [(math.nan, math.nan)],
}


def made(number, nll, norm):
    nll, norm = torch.tensor(nll, dtype=torch.float64), torch.tensor(norm)
    return MadeStep(number, 100 * number, Result(nll, 1e-3, norm, nll, None, {}))


def read_every(updates, every):
    """Return where a run of these updates ends if every n-th update is read."""
    unread = PendingMetrics(DivergenceWatch(LIMITS))
    for number, (nll, norm) in enumerate(updates, start=1):
        unread.add(made(number, nll, norm))
        if number % every == 0:
            last, ended = unread.read()
            if ended:
                return last.update, last.tokens, ended, unread.nll
    return last.update, last.tokens, None, unread.nll


@pytest.mark.parametrize("updates", SERIES.values(), ids=SERIES)
@pytest.mark.parametrize("every", [2, 4, 8])
def test_a_run_diverges_at_the_same_update_however_rarely_it_is_read(updates, every):
    # As text: NaN is not equal to itself.
    assert str(read_every(updates, every)) == str(read_every(updates, 1))


def test_only_the_run_that_stays_finite_ends_at_its_last_update():
    ends = {name: read_every(updates, 4)[0] for name, updates in SERIES.items()}
    assert ends == {"finite": 8, "loss": 6, "gradient": 3, "exploding": 6, "at the end": 8}
