"""What a network says of a user's text: the NLL of each pair, and the states of its encoder."""

import numpy as np
import pytest
import torch

from fathom.decode.user_text import encoder_states, nll_of_pairs
from fathom.nn.loss import token_nll
from fathom.train.batches.held_out import ordered
from tests.support.small_corpus import silent
from tests.support.trained import trained_spec, write_trained

RNMT = {"architecture": "rnmt_plus", "tie_embeddings": "none", "norm": "pre"}
SPECS = [trained_spec(), trained_spec({"model": RNMT}, run="recurrent")]


def held_out_lines(run, task, side):
    folder, language = run.paths.corpus(run.spec.data), {"source": task, "target": "eng"}[side]
    return (folder / task / f"test.{language}").read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model.architecture)
def test_pairs_and_states_are_those_of_a_batch_of_all_sentences(paths, spec):
    run, task = write_trained(spec, paths), "bel"
    # In float32 a recurrent network with large weights magnifies how sums are rounded.
    network, split = run.network("plain").double(), run.tensors.split("bel", "test")
    sides = [held_out_lines(run, task, side) for side in ("source", "target")]
    found = nll_of_pairs(run, "plain", task, zip(*sides, strict=True), silent)
    assert [each.tokens for each in found] == [*split.target_lengths]
    together = dict.fromkeys(range(len(split)), 0.0)
    with torch.no_grad():
        for batch in ordered([split]):
            rows = batch.sentences.repeat_interleave(torch.tensor(batch.target_lengths)).tolist()
            for row, nats in zip(rows, token_nll(network.predict(batch)).tolist(), strict=True):
                together[row] += nats
    assert [each.nats for each in found] == pytest.approx([*together.values()], rel=1e-9)
    states = encoder_states(run, "plain", task, sides[0], silent)
    width = spec.model.width * (2 if spec.model.architecture == "rnmt_plus" else 1)
    assert [each.shape for each in states] == [(3, n, width) for n in split.source_lengths]
    assert all(np.isfinite(each).all() for each in states)
