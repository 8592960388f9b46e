"""A run's network, method, training and decoding must go together."""

from typing import Any

import pytest

from fathom.errors import Findings
from fathom.project.load import load
from fathom.runs.compatibility import method_findings
from tests.runs.test_method_card import REFUSED, Given, card

RUNS = "config/papers/latent_depth/runs.yaml"
MASKING = "training: {masking: {chosen: 0.15, masked: 0.8, random: 0.1, language_exponent: 0.3}}"
MASKED = "architecture: masked_lm, decoder_layers: 0, output_bias: true"


@pytest.fixture
def told(project, edit):
    """Return the lines about a run whose own settings are these."""

    def lines(own: str) -> str:
        edit(RUNS, "  static_12_12: {}", f"  static_12_12: {{{own}}}")
        try:
            load(project)
        except Findings as error:
            return str(error)
        return ""

    return lines


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ("model: {heads: 3}", "model.width: 512 is no multiple of 3 heads"),
        (
            "model: {learned_positions: 9}",
            "'transformer' does not work with learned_positions 9; write null",
        ),
        ("model: {decoder_layers: 0}", "pieces are hidden from networks without a decoder"),
        (MASKING, "pieces are hidden from networks without a decoder"),
        (
            "model: {architecture: masked_lm}",
            "'masked_lm' does not work with decoder_layers 12; write 0",
        ),
        (
            f"model: {{{MASKED}}}, {MASKING}",
            "blocks of text have as many tokens as positions; write 512",
        ),
        (
            f"model: {{{MASKED}, learned_positions: 512}}, {MASKING}",
            "a sentence of 1024 pieces and two symbols is longer than a block; write 510 or less",
        ),
        (
            f"model: {{{MASKED}, learned_positions: 2000}}, {MASKING.replace('0.8', '0.95')}",
            "masking.random: shares over 1 in all",
        ),
        (
            f"model: {{{MASKED}, learned_positions: 2000}}, {MASKING},"
            " method: {name: layerdrop, sides: [encoder, decoder]}",
            "method.sides: the network has no decoder; nearest valid name: 'encoder'",
        ),
        (
            "model: {architecture: rnmt_plus}",
            "'rnmt_plus' does not work with share_embeddings target; write none",
        ),
        (
            "evaluation: {decoding: {average_of: 3}}, training: {keep_weights: 2}",
            "average_of: 3 weights are averaged, and 2 are kept; write training.keep_weights: 3",
        ),
        (
            "training: {start: {run: static_6_6, freeze: true}}",
            "start.run: 'static_6_6' has encoder_layers 6, and this run 12",
        ),
        (
            "model: {encoder_layers: 6, decoder_layers: 6, activation: gelu},"
            " training: {start: {run: static_6_6, freeze: true}}",
            "start.run: 'static_6_6' has activation relu, and this run gelu",
        ),
        (
            "model: {encoder_layers: 6, decoder_layers: 6}, data: {max_pieces: 99},"
            " training: {start: {run: static_6_6, freeze: true}}",
            "start.run: 'static_6_6' has other data",
        ),
        ("training: {start: {run: static_6_6}}", "freeze"),
        ("training: {start: {freeze: true}}", "run"),
    ],
)
def test_what_does_not_go_together_is_told_where_it_stands(told, own, message):
    # A width that no scale cuts down makes other findings, whose order is not of interest here.
    found = told(own)
    assert message in found, found
    assert all(line.startswith("config/") for line in found.split("\n"))


@pytest.mark.parametrize(
    "own",
    [
        f"model: {{{MASKED}, learned_positions: 2000}}, {MASKING}",
        f"model: {{{MASKED}, learned_positions: 2000}}, {MASKING},"
        " method: {name: layerdrop, sides: [encoder]}",
        "model: {architecture: rnmt_plus, share_embeddings: none}",
        "model: {encoder_layers: 6, decoder_layers: 6, dropout: 0.0},"
        " training: {start: {run: static_6_6, freeze: true}},"
        " method: {name: layerdrop, sides: [encoder]}",
        "evaluation: {decoding: {average_of: 3}}, training: {keep_weights: 3}",
    ],
)
def test_what_goes_together_is_not_refused(told, own):
    assert told(own) == ""


def surroundings(norm: str = "pre", gates: str = "soft", **changes: Any) -> list[str]:
    """Return the sentences about a run whose card is changed, with the card's defaults."""
    this = card(gates=True, **changes)
    given = {
        ("method", "settings", name): Given(value, "runs.yaml:3")
        for name, value in this.defaults.items()
    }
    given[("model", "norm")] = Given(norm, "runs.yaml:4: norm")
    given[("evaluation", "compared_gates")] = Given(gates, "runs.yaml:5: gates")
    return [str(each) for each in method_findings(this, given)]


def test_a_norm_that_a_card_does_not_name_is_refused():
    assert not surroundings(norm="lingvo")
    assert surroundings(norm="lingvo", norms=["none", "pre"]) == [
        "runs.yaml:4: norm: 'method' does not work with the norm 'lingvo'; valid names: none, pre"
    ]


def test_a_run_that_compares_refused_gates_is_told_why():
    refused = [REFUSED | {"settings": {"kind": "soft"}}]
    assert not surroundings(gates="soft", refused=refused)
    assert surroundings(gates="hard", refused=refused) == [
        "runs.yaml:5: gates: hard gates are refused: it saw no such net; write soft"
    ]
