"""A decoder of 100 layers with gates trains."""

import math

import pytest

from fathom.io.metrics import read
from tests.support.small_runs import encoded, latent, switched, train_run

pytestmark = pytest.mark.slow

UPDATES = 20
DEEP = {
    "model": {"encoder_layers": 2, "decoder_layers": 100},
    "training": {"updates": UPDATES, "validate_every": UPDATES},
}


def test_a_hundred_gated_layers_train_twenty_updates_with_finite_loss(tmp_path):
    spec = latent(DEEP | {"method": {"stacks": ("decoder",)}}, target_depth=50)
    ended = train_run(spec, encoded(tmp_path / "text"), tmp_path, switched(log_every=1))
    rows = read(tmp_path / "metrics.tsv")
    assert ended["outcome"]["kind"] != "diverged"
    assert [row["update"] for row in rows] == list(range(1, UPDATES + 1))
    assert all(math.isfinite(row["loss"]) for row in rows)
    assert rows[-1]["nll"] < rows[0]["nll"] - 0.5
