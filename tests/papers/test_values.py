"""Values are a measurement, qualifiers in any order, and a unit; anything else is refused."""

import math

import pytest

from fathom.config.vocabulary import ShownValue, parse
from fathom.io.errors import FathomError
from tests.support.refused import prose, says

KNOWN = ("bleu", "nll", "depth", "tokens", "parameters", "sharing", "pairs")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("bleu", ShownValue("bleu")),
        ("bleu.valid.soft", ShownValue("bleu", split="valid", gates="soft")),
        ("bleu.soft.valid", ShownValue("bleu", split="valid", gates="soft")),
        ("bleu.window", ShownValue("bleu", window=True)),
        ("nll.valid in bits", ShownValue("nll", split="valid", unit="bits")),
        ("depth.decoder", ShownValue("depth", stack="decoder")),
        (
            "tokens.train.en in millions",
            ShownValue("tokens", split="train", language="en", unit="millions"),
        ),
        ("tokens.fr.train", ShownValue("tokens", split="train", language="fr")),
        ("sharing", ShownValue("sharing")),
    ],
)
def test_qualifiers_may_have_any_order(text, value):
    assert parse(text, KNOWN) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("blue.valid", says("unknown", "measurement", "blue", where="blue.valid", nearest="bleu")),
        ("bleu.vaild", says("qualifier", "bleu", "vaild", where="bleu.vaild", nearest="valid")),
        ("bleu.soft.hard", says("qualifier", "bleu", "hard", where="bleu.soft.hard")),
        ("depth.soft", says("qualifier", "depth", "soft", where="depth.soft")),
        ("nll in bit", says("unknown", "unit", "bit", where="nll in bit", nearest="bits")),
        (
            "depth",
            says(
                "needs a qualifier",
                "depth",
                "stack",
                where="depth",
                remedy="depth.encoder or depth.decoder",
            ),
        ),
        (
            "tokens.train",
            says(
                "needs a qualifier",
                "tokens",
                "language",
                where="tokens.train",
                remedy="tokens.train.en",
            ),
        ),
        (
            "mean(bleu.*)",
            says("no value of this form", "mean(bleu.*)", remedy=prose("write a value")),
        ),
        ("", says("no value of this form", "")),
    ],
)
def test_what_is_no_value_is_refused_with_the_nearest_name(text, message):
    with pytest.raises(FathomError) as raised:
        parse(text, KNOWN)
    message.check(raised.value)


@pytest.mark.parametrize(
    ("text", "gates", "key"),
    [
        ("bleu", "soft", "bleu.test.soft.13a"),
        ("bleu.valid.hard", "soft", "bleu.valid.hard.13a"),
        ("bleu.window", "plain", "bleu.test.plain.window.13a"),
        ("nll.valid in bits", "plain", "nll.valid.plain"),
        ("depth.decoder", "", "depth.decoder"),
        ("tokens.train.en", "", "tokens.train.en"),
        ("pairs.valid", "", "pairs.valid"),
        ("parameters in millions", "soft", "parameters"),
    ],
)
def test_the_table_chooses_gates_and_metric_where_the_value_does_not(text, gates, key):
    assert parse(text, KNOWN).key(gates, "13a") == key


def test_a_unit_is_a_factor():
    assert parse("nll.valid in bits", KNOWN).factor == pytest.approx(1 / math.log(2))
    assert parse("parameters in millions", KNOWN).factor == 1e-6
    assert parse("bleu", KNOWN).factor == 1.0
