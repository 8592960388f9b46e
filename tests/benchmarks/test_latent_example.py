"""fairseq's example of latent depth makes our updates: each language moves its own gates."""

import pytest
import torch

from benchmarks.peer.latent_example import LatentExample
from benchmarks.peer.stock import languages
from fathom.data.tensors import load
from fathom.train.batches.collate import collate
from tests.support.small_runs import specification


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_the_languages_of_an_update_move_their_own_gates_and_no_others(tensors, stack):
    text = load(tensors)
    spec = specification("latent_layers", (stack,))
    peer = LatentExample(spec, text, torch.device("cpu"))
    batch = collate(text.splits("train"), [(0, 0), (0, 1), (2, 0)])
    before = peer.latent.layer_select.layer_logits.detach().clone()
    peer.update(1, languages(batch), batch.tokens)
    moved = (peer.latent.layer_select.layer_logits != before).all(dim=1)
    assert moved.tolist() == [True, False, True]
