"""Which settings give a plain Transformer, before anything is trained."""

import pytest

from fathom.config.rules import beyond, findings, require_plain_gates
from tests.support.refused import prose, refused, says
from tests.support.specs import card, small_spec

WHERE = "runs.yaml:3: runs.small.decoding.decoder"
HARD = {"name": "latent_layers"}


def refusals(changes):
    """Return what keeps a run from CTranslate2."""
    spec = small_spec(changes)
    return list(findings(spec.model, spec.method, card(spec.method.name), WHERE))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"model": {"norm": "post", "activation": "gelu", "tie_embeddings": "none"}},
        {"method": {"name": "layerdrop"}},
        {"method": HARD},
    ],
)
def test_a_plain_transformer_and_the_layers_that_hard_gates_keep_are_not_refused(changes):
    assert refusals(changes) == []


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"norm": "lingvo"}, "the norm lingvo"),
        ({"norm": "none"}, "the norm none"),
        ({"residuals": ["encoder"]}, "a network without all residuals"),
        ({"output_bias": True}, "an output bias"),
    ],
)
def test_another_shape_is_refused_by_name(changes, what):
    expected = says("not fairseq's", what, where=WHERE, remedy=prose("write fathom"))
    expected.check(refusals({"model": changes}))
    assert list(beyond(small_spec({"model": changes}).model)) == [what]


@pytest.mark.parametrize(
    "name", ["adapters", "dlcl", "fixed_group_dropout", "group_dropout", "rezero", "transparent"]
)
def test_a_method_that_computes_more_than_layers_is_refused_by_name(name):
    expected = says("not plain", name, where=WHERE, remedy=prose("write fathom"))
    expected.check(refusals({"method": {"name": name}}))


def test_latent_layers_whose_hard_gates_are_refused_are_no_plain_transformer():
    says("not plain", "latent_layers").check(refusals({"method": HARD | {"sample": "noise_free"}}))


def test_soft_gates_are_refused_and_hard_ones_are_not():
    require_plain_gates(card("latent_layers"), "hard", "here", "do this")
    with refused("not plain with", "latent_layers", "soft", where="here", remedy="do this"):
        require_plain_gates(card("latent_layers"), "soft", "here", "do this")
