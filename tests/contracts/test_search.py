"""The own beam search gives the hypotheses of fairseq's generator, for every method and network.

Sentences of all tasks are searched together, in batches of a few; fairseq's generator searches them
task by task.
"""

import itertools

import pytest
import torch

from fathom.config import plugins
from fathom.config.schema.run import Decoding
from fathom.decode.beam import Beam
from fathom.decode.contracts import sources, stir
from fathom.decode.translate import hypotheses
from fathom.nn.network import Network
from tests.contracts.test_methods import choices, example
from tests.contracts.test_networks import built
from tests.reference.padded.beam import FairseqBeam
from tests.support.small_networks import ENTRIES, Dictionary, network

CPU = torch.device("cpu")
BEAMS_PENALTIES = ((1, 1.0), (2, 0.6), (5, 1.0))
LENGTHS = (3, 9, 0, 5, 2, 7, 1, 6, 0, 4)


def assert_equal(model: Network, tasks: int, kinds: tuple[str, ...]) -> None:
    """Compare both searches with three widths; sentences of all tasks share batches."""
    stir(model)
    texts = sources([length + 1 for length in LENGTHS])
    own_tasks = [number % tasks for number in range(len(LENGTHS))]
    for kind, (beam, penalty) in itertools.product(kinds, BEAMS_PENALTIES):
        settings = Decoding(beam=beam, length_penalty=penalty, cap_ratio=0.5, cap_constant=4)
        own, stock = (
            search(model.use_gates(kind), Dictionary(ENTRIES), settings)
            for search in (Beam, FairseqBeam)
        )
        expected = hypotheses(stock, texts, own_tasks, CPU)
        assert hypotheses(own, texts, own_tasks, CPU, sentences=7) == expected
        assert len({tuple(pieces) for pieces in expected}) > 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changes"),
    [*(pytest.param(name, {}, id=name) for name in plugins.names("methods")), *choices()],
)
def test_every_method_is_searched_as_by_fairseqs_generator(name, changes):
    this = example(name, **changes)
    assert_equal(this.network(), this.tasks, this.gates)


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["pre", "post", "lingvo", "none"])
@pytest.mark.parametrize("name", ["static", "latent_layers"])
def test_every_norm_is_searched_as_by_fairseqs_generator(name, norm):
    this = example(name)
    model = this.model.model_copy(update={"norm": norm})
    assert_equal(network(this.method, model, this.tasks), this.tasks, this.gates)


@pytest.mark.slow
@pytest.mark.parametrize("name", plugins.names("methods"))
def test_recurrent_networks_are_searched_as_by_fairseqs_generator(name):
    if name == "rezero":
        pytest.skip("its only change is at joints, of which the first recurrent layers have none")
    assert_equal(built("rnmt_plus", name), 2, example(name).gates)
