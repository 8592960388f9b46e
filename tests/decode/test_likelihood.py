"""NLL and perplexity of held-out and of a user's text, by task and over all tokens."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from fathom.config.paths import Paths
from fathom.data.sides import sides
from fathom.data.tensors import EOS, PAD
from fathom.decode import likelihood as module
from fathom.decode.likelihood import Likelihood, bits, likelihood, mean, records
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import decode
from fathom.decode.user_text import encoder_states, nll_of_pairs
from fathom.nn.loss import token_nll
from fathom.train.batches.held_out import held_out, ordered
from tests.reference.padded.networks import padded_logits
from tests.support.refused import refused
from tests.support.small_corpus import TASKS, silent, small_data
from tests.support.trained import CPU, trained_spec, write_text, write_trained

METHOD = {"name": "latent_layers"}
BLOCKS = {"architecture": "masked_lm", "decoder_layers": 0, "block": 128}
PLAIN = trained_spec({"training": {"keep_weights": 2}})
AVERAGED = trained_spec({"training": {"keep_weights": 2}, "decoding": {"average_of": 2, "beam": 3}})
SOFT = trained_spec({"method": METHOD}, run="soft")
MASKED = trained_spec({"model": BLOCKS, "masking": {}}, run="masked")
LAYERS = {
    "encoder": {"bos": (0,), "bel": (1,), "kor": (0, 1)},
    "decoder": {"bos": (0, 1), "bel": (1,), "kor": (0,)},
}
NO_BEL = {"encoder": LAYERS["encoder"], "decoder": {"bos": (0, 1), "bel": (), "kor": (0,)}}


@pytest.mark.parametrize("split", ["valid", "test"])
def test_pairs_count_every_target_token_and_blocks_their_hidden_pieces(paths, split):
    run = write_trained(PLAIN, paths)
    pairs = {task: run.tensors.split(task, split) for task in TASKS}
    found = likelihood(run, split, "plain")
    assert found.tokens == {task: pair.target_lengths.sum() for task, pair in pairs.items()}
    assert found.no_layer == ()
    hidden = likelihood(write_trained(MASKED, paths), split, "plain")
    for task, pair in pairs.items():
        assert 0.05 < hidden.tokens[task] / pair.source_lengths.sum() < 0.25


def test_a_split_is_the_nll_of_each_of_its_sentences_alone(paths):
    run = write_trained(PLAIN, paths)
    network, pairs = run.network("plain"), run.tensors.split("bel", "test")
    nats = 0.0
    for number in range(len(pairs)):
        target = pairs.target(number).long()
        previous = torch.tensor([[EOS, *target[:-1]]])
        logits = padded_logits(
            network, pairs.source(number)[None].long(), previous, torch.tensor([pairs.task])
        )
        nats += torch.nn.functional.cross_entropy(logits[0], target, reduction="sum").item()
    found = likelihood(run, "test", "plain")
    # float32 sums in another order.
    assert found.nats["bel"] == pytest.approx(nats, rel=1e-5)
    assert found.nats["bel"] != pytest.approx(likelihood(run, "valid", "plain").nats["bel"])


class Products(TorchDispatchMode):
    """Notes for each matrix product whether torch allows TF32."""

    def __init__(self):
        super().__init__()
        self.in_tf32 = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket.__name__ in ("mm", "addmm", "bmm"):
            self.in_tf32.add(torch.backends.cuda.matmul.allow_tf32)
        return func(*args, **(kwargs or {}))


def test_likelihood_and_translation_are_exact_where_training_multiplies_in_tf32(paths, monkeypatch):
    """The choice is CUDA's; on a CPU torch's flag can be read and has no effect."""
    choose, cuda = module.choose_matmul_precision, torch.device("cuda")
    monkeypatch.setattr(module, "choose_matmul_precision", lambda _, *given: choose(cuda, *given))
    run = write_trained(PLAIN, paths)
    sources = run.tensors.split("bel", "test").source(0)
    for predict in (
        lambda: likelihood(run, "test", "plain"),
        lambda: decode(run, "plain", [sources], [0]),
    ):
        with Products() as products:
            predict()
        assert products.in_tf32 == {False}
        assert run.network("plain").matmul.precision == "highest"


def through(run, gates, own):
    """Return the NLL of each task's test text through the gates of one task."""
    network, nats = run.network(gates), torch.zeros(len(TASKS))
    for batch in held_out(run.tensors, "test", run.spec):
        tasks = torch.full_like(batch.tasks, own)
        logits = padded_logits(network, batch.source, batch.previous_target, tasks)
        by_token = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), batch.target, reduction="none", ignore_index=PAD
        )
        nats.index_add_(0, batch.tasks, by_token.sum(dim=1))
    return nats.tolist()


@pytest.mark.parametrize("gates", ["soft", "hard"])
def test_every_task_is_predicted_through_its_own_gates_and_no_others(paths, gates):
    run = write_trained(SOFT, paths, layers=LAYERS)
    found = likelihood(run, "test", gates)
    every = [through(run, gates, own) for own in range(len(TASKS))]
    for task in TASKS:
        row = TASKS.index(task)
        same = [nats[row] == pytest.approx(found.nats[task], rel=1e-5) for nats in every]
        assert same == [other == task for other in TASKS]


def test_hard_gates_have_a_likelihood_of_their_own(paths):
    run = write_trained(SOFT, paths)
    with torch.no_grad():
        for method in run.network("soft").methods.values():
            method.alpha.copy_(torch.tensor([[0.5, -0.7], [0.2, 0.1], [-0.2, 0.6]]))
    soft, hard = (likelihood(run, "valid", gates) for gates in ("soft", "hard"))
    assert soft.tokens == hard.tokens
    assert all(abs(soft.nats[task] - hard.nats[task]) > 1e-3 for task in TASKS)


def test_a_task_without_any_layer_has_none_and_leaves_the_others_alone(paths):
    before = likelihood(write_trained(SOFT, paths, layers=LAYERS), "test", "hard")
    run = write_trained(SOFT, paths, layers=NO_BEL)
    hard = likelihood(run, "test", "hard")
    assert hard.no_layer == ("bel",)
    assert list(hard.nats) == list(hard.tokens) == ["bos", "kor"]
    for task in ("bos", "kor"):
        assert hard.nats[task] == pytest.approx(before.nats[task], rel=1e-6)
    assert list(likelihood(run, "test", "soft").nats) == list(TASKS)
    none = {stack: dict.fromkeys(TASKS, ()) for stack in ("encoder", "decoder")}
    empty = likelihood(write_trained(SOFT, paths, layers=none), "valid", "hard")
    assert (empty.no_layer, empty.nats, empty.tokens) == (TASKS, {}, {})


def test_saved_weights_are_averaged_as_for_translation(paths):
    write_trained(PLAIN, paths, updates=(3, 6))
    run = TrainedRun(AVERAGED, 1, paths, CPU)
    assert run.folder == paths.run(PLAIN, 1)
    found, last = (likelihood(one, "valid", "plain") for one in (run, write_trained(PLAIN, paths)))
    assert run.averaged_updates == (3, 6)
    assert all(abs(found.nats[task] - last.nats[task]) > 1e-3 for task in TASKS)


def test_what_is_missing_is_named(paths, tmp_path):
    with refused("no such file", where="training.json"):
        likelihood(TrainedRun(PLAIN, 2, paths, CPU), "valid", "plain")
    with refused("diverged ("):
        likelihood(write_trained(PLAIN, paths, "diverged"), "valid", "plain")
    run = write_trained(PLAIN, paths)
    (run.checkpoints / "last.pt").unlink()
    with refused("no such file"):
        likelihood(TrainedRun(PLAIN, 1, paths, CPU), "valid", "plain")


NATS, TOKENS = {"kor": 30.0, "eng": 10.0}, {"kor": 10, "eng": 10}


def test_a_guess_among_equals_has_as_many_as_its_perplexity():
    found = records(Likelihood({"kor": 10 * math.log(8)}, {"kor": 10}, ()), "valid", "plain")
    assert found["perplexity.valid.plain"].tasks["kor"].value == pytest.approx(8.0, abs=1e-12)
    assert bits(found["nll.valid.plain"].all.value) == pytest.approx(3.0, abs=1e-12)
    assert found["nll.valid.plain"].all.n == 10
    assert found["nll.valid.plain"].unit == "nats"


def test_over_all_tasks_each_token_counts_once():
    found = records(Likelihood(NATS, TOKENS, ()), "test", "soft")
    nll, perplexity = found["nll.test.soft"], found["perplexity.test.soft"]
    assert {task: number.value for task, number in nll.tasks.items()} == {"kor": 3.0, "eng": 1.0}
    assert (nll.all.value, nll.all.n) == (2.0, 20)
    assert perplexity.all.value == pytest.approx(math.exp(2.0))
    uneven = Likelihood(NATS, {"kor": 30, "eng": 5}, ())
    uneven = records(uneven, "test", "soft")["perplexity.test.soft"]
    # Not the mean of the tasks' means, which is 1.5, nor of their perplexities.
    assert uneven.all.value == pytest.approx(math.exp(40 / 35))


def test_a_task_without_layers_is_missing_and_so_is_the_number_over_all():
    for record in records(Likelihood(NATS, TOKENS, ("bos",)), "test", "hard").values():
        assert list(record.tasks) == ["kor", "eng"]
        assert record.all is None
        assert record.missing == {"bos": "no layer is left with hard gates"}


def test_numbers_without_a_perplexity_are_refused_with_the_task():
    for nats in (math.nan, math.inf, 1e6):
        with refused("nats per token has no perplexity", where="kor"):
            mean(nats, 10, "kor")
    with refused("no token was predicted", where="kor"):
        records(Likelihood({"kor": 0.0}, {"kor": 0}, ()), "test", "plain")


# A user's text

RNMT = {"architecture": "rnmt_plus", "tie_embeddings": "none", "norm": "pre"}
SPECS = [trained_spec(), trained_spec({"model": RNMT}, run="recurrent")]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model.architecture)
def test_pairs_and_states_are_those_of_a_batch_of_all_sentences(paths, spec):
    run, task = write_trained(spec, paths), "bel"
    # In float32 a recurrent network with large weights magnifies how sums are rounded.
    network, split = run.network("plain").double(), run.tensors.split("bel", "test")
    corpus = run.paths.corpus(spec.data)
    texts = [side.sentences(corpus, task, "test") for side in sides(spec.data)]
    found = nll_of_pairs(run, "plain", task, zip(*texts, strict=True), silent)
    assert [each.tokens for each in found] == [*split.target_lengths]
    together = dict.fromkeys(range(len(split)), 0.0)
    with torch.no_grad():
        for batch in ordered([split]):
            rows = batch.sentences.repeat_interleave(torch.tensor(batch.target_lengths)).tolist()
            for row, nats in zip(rows, token_nll(network.predict(batch)).tolist(), strict=True):
                together[row] += nats
    assert [each.nats for each in found] == pytest.approx([*together.values()], rel=1e-9)
    states = encoder_states(run, "plain", task, texts[0], silent)
    width = spec.model.width * (2 if spec.model.architecture == "rnmt_plus" else 1)
    assert [each.shape for each in states] == [(3, n, width) for n in split.source_lengths]
    assert all(np.isfinite(each).all() for each in states)


def test_a_users_pairs_begin_with_the_token_of_their_own_target_language(tmp_path):
    data = small_data(direction="one_to_many", target_token="decoder")
    spec, paths = replace(PLAIN, data=data), Paths(tmp_path, "tiny")
    write_text(paths, data)
    run = write_trained(spec, paths)
    found = dict.fromkeys(TASKS, 0.0)
    for task in TASKS:
        texts = (side.sentences(paths.corpus(data), task, "test") for side in sides(data))
        pairs = zip(*texts, strict=True)
        found[task] = sum(each.nats for each in nll_of_pairs(run, "plain", task, pairs, silent))
    assert found == pytest.approx(dict(likelihood(run, "test", "plain").nats), rel=1e-5)
