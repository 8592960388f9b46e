"""CTranslate2 finds what our search does, and is not used where it computes something else."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from fathom.config.schema.run import Decoding
from fathom.data.tensors import EOS
from fathom.decode.export.ctranslate2_exports import exports
from fathom.decode.export.ctranslate2_search import CHECKED, TOLERANCE, require_equal
from tests.support.refused import prose, refused
from tests.support.taught import sentences

pytestmark = pytest.mark.slow

# A split whose sources are all blank.
NOTHING = SimpleNamespace(source_lengths=np.ones(3), target_lengths=np.full(3, 4))
SENTENCES, DISTINCT, EQUAL = 400, 30, 0.995
SEARCHES = {
    "beam 5": {},
    "beam 1": {"beam": 1},
    "short hypotheses": {"length_penalty": 0.6},
    "a constant cap": {"cap_ratio": 0.0, "cap_constant": 12},
    "a cap that many reach": {"cap_ratio": 0.5, "cap_constant": 2},
}


def below_the_cap(settings, sources, *answers):
    """Return pairs of hypotheses of which neither reaches its sentence's cap."""
    caps = [settings.cap(len(source) - 1) for source in sources]
    rows = zip(caps, *answers, strict=True)
    return [(own, other) for cap, own, other in rows if max(len(own), len(other)) < cap]


@pytest.mark.parametrize("changes", SEARCHES.values(), ids=SEARCHES)
def test_hypotheses_below_the_cap_are_those_of_our_own_search(taught, search, changes):
    settings = Decoding.model_validate({"beam": 5, "cap_ratio": 1.5, "cap_constant": 4} | changes)
    sources = sentences(SENTENCES, seed=99)
    own = search(taught.network("plain").for_task(0), sources, settings=settings)
    other = exports(taught, "plain").of("bos").best(sources, settings)
    caps = [settings.cap(len(source) - 1) for source in sources]
    assert all(len(each) <= cap for each, cap in zip(other, caps, strict=True))
    compared = below_the_cap(settings, sources, own, other)
    assert len({tuple(each) for each, _ in compared}) >= DISTINCT
    assert sum(each == its for each, its in compared) >= EQUAL * len(compared)


def test_a_source_without_pieces_has_an_empty_hypothesis(taught):
    """CTranslate2 does not search it; ours does."""
    sources = [torch.tensor([EOS]), *sentences(3, seed=1)]
    best = exports(taught, "plain").of("bos").best(sources, taught.require_decoder())
    assert [bool(pieces) for pieces in best] == [False, True, True, True]


def test_forced_log_probabilities_are_ours_to_the_tolerance(taught):
    network, pairs = taught.network("plain"), taught.tensors.split("bos", "valid")
    assert len(pairs) > CHECKED
    require_equal(exports(taught, "plain").of("bos"), network, 0, pairs, "here")


@pytest.mark.parametrize("name", ["encoder.layers.1.fc1.bias", "decoder.layer_norm.weight"])
def test_other_weights_are_refused_in_one_line(taught, name):
    """A difference of a hundred thousandth in one tensor is noticed."""
    search, pairs = exports(taught, "plain").of("bos"), taught.tensors.split("bos", "valid")
    network = taught.network("plain")
    tensor = network.get_parameter(name)
    before = tensor.detach().clone()
    try:
        with torch.no_grad():
            tensor.add_(1e-3)
        with refused(
            "other log-probabilities", ..., TOLERANCE, where="here", remedy=prose("write fathom")
        ):
            require_equal(search, network, 0, pairs, "here")
    finally:
        with torch.no_grad():
            tensor.copy_(before)
    require_equal(search, network, 0, pairs, "here")


def test_no_number_is_no_agreement(taught, monkeypatch):
    search, pairs = exports(taught, "plain").of("bos"), taught.tensors.split("bos", "valid")
    none = torch.tensor(torch.nan)
    monkeypatch.setattr(search, "log_probabilities", lambda *given: none)
    with refused("other log-probabilities", "inf", where="here"):
        require_equal(search, taught.network("plain"), 0, pairs, "here")


def test_a_task_without_validation_text_cannot_be_checked(taught):
    search = exports(taught, "plain").of("bos")
    with refused("nothing to check with", where="here", remedy=prose("write fathom")):
        require_equal(search, taught.network("plain"), 0, NOTHING, "here")
