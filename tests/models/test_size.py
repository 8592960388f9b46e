"""Parameter counts against the paper's printed numbers and against formulas."""

import pytest

from fathom.methods.build import count
from fathom.nn.network import count_parameters
from tests.support.small_networks import method, network, shape

RELATED, DIVERSE, EN_DE = 62_660, 67_850, 68_080
# The counts below are worked out to three digits after the point of a million.
RELATIVE = 1e-3


def millions(encoder, decoder, rows, name="static", sides=(), width=512, ffn=1024) -> float:
    model = shape(encoder_layers=encoder, decoder_layers=decoder, width=width, ffn=ffn)
    return count(model, method(name, sides), 8, rows - 8_000, 8_000)["total"] / 1e6


@pytest.mark.parametrize(
    ("encoder", "decoder", "rows", "expected"),
    [
        (6, 6, RELATED, 63.627),
        (12, 12, RELATED, 95.171),
        (12, 24, RELATED, 133.024),
        (24, 24, RELATED, 158.257),
        (6, 6, DIVERSE, 66.3),
        (12, 12, DIVERSE, 97.8),
        (24, 12, DIVERSE, 123.1),
        (24, 24, DIVERSE, 160.9),
        (36, 12, DIVERSE, 148.3),
        (12, 36, DIVERSE, 173.5),
        (12, 100, DIVERSE, 375.4),
    ],
)
def test_counts_are_those_worked_out_from_the_paper(encoder, decoder, rows, expected):
    assert millions(encoder, decoder, rows) == pytest.approx(expected, rel=RELATIVE)


def test_wide_and_big_shapes_count_as_printed():
    wide = millions(6, 6, RELATED, width=1024, ffn=2048)
    big = millions(6, 6, EN_DE, width=1024, ffn=4096)
    assert wide == pytest.approx(190.169, rel=RELATIVE)
    assert big == pytest.approx(246.075, rel=RELATIVE)


def test_gates_add_one_logit_for_each_task_and_layer():
    static = millions(12, 24, RELATED)
    latent = millions(12, 24, RELATED, "latent_layers", ("decoder",))
    assert round((latent - static) * 1e6) == 8 * 24


def test_the_parts_add_up_and_a_tied_tensor_counts_once():
    for tied in ("decoder", "none"):
        network_ = network(method("latent_layers"), shape(tie_embeddings=tied))
        found = count_parameters(network_)
        assert found["total"] == sum(p.numel() for p in set(network_.parameters()))
        assert found["total"] == found["encoder"] + found["decoder"] + found["embeddings"]
        assert found["embeddings"] == (2 if tied == "decoder" else 3) * 23 * 16
        assert found["trainable"] == found["total"]


def test_frozen_parameters_are_not_trainable():
    network_ = network(method("static", ()))
    network_.encoder.requires_grad_(False)
    found = count_parameters(network_)
    assert found["trainable"] == found["total"] - found["encoder"] - 23 * 16
