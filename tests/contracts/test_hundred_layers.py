"""A decoder of 100 layers: with gates it trains; what becomes of it without is on record."""

import math

import pytest

from fathom.io.metrics import read
from tests.support.small_runs import encoded, latent, specification, switched, train_run

pytestmark = pytest.mark.slow

EVERY_UPDATE = switched(log_every=1)
UPDATES = 20
DEEP = {
    "model": {"encoder_layers": 2, "decoder_layers": 100},
    "training": {"updates": UPDATES, "validate_every": UPDATES},
}


@pytest.fixture(scope="module")
def tensors(tmp_path_factory):
    return encoded(tmp_path_factory.mktemp("tensors"))


def trained(spec, tensors, folder):
    """Train a run; return how it ended, and every update's row."""
    return train_run(spec, tensors, folder, EVERY_UPDATE), read(folder / "metrics.tsv")


def test_a_hundred_gated_layers_train_twenty_updates_with_finite_loss(tensors, tmp_path):
    spec = latent(DEEP | {"method": {"stacks": ("decoder",)}}, target_depth=50)
    ended, rows = trained(spec, tensors, tmp_path)
    assert ended["outcome"]["kind"] != "diverged"
    assert [row["update"] for row in rows] == list(range(1, UPDATES + 1))
    assert all(math.isfinite(row["loss"]) for row in rows)
    assert rows[-1]["nll"] < rows[0]["nll"] - 0.5


def test_the_same_stack_without_gates_ends_with_an_outcome_on_record(
    tensors, tmp_path, record_property
):
    ended, rows = trained(specification(changes=DEEP), tensors, tmp_path)
    outcome = ended["outcome"]
    assert outcome["kind"] in ("finished", "failed_to_train", "diverged")
    assert outcome["reason"]
    assert len(rows) == outcome["update"]
    record_property("outcome", f"{outcome['kind']}: {outcome['reason']}")
