"""Held-out likelihood of a finished training, or the reason why there is none."""

from dataclasses import replace

import pytest
import torch
from tests.evaluation.small_run import training

from fathom.batches.encode import encode
from fathom.batches.tensors import EOS, load
from fathom.checkpoints.read import read_checkpoint
from fathom.errors import FathomError
from fathom.inference.likelihood import likelihood
from fathom.inference.translate import trained
from fathom.io.files import read_json, write_json
from fathom.runs.spec import Outcome
from fathom.subwords import train as subwords
from fathom.training.loop import TrainPaths
from fathom.training.train import train
from tests.inference.conftest import CPU
from tests.support.small_corpus import TASKS, silent, small_data, write_corpus
from tests.support.small_runs import LAUNCH, latent, masked, specification

# A few updates teach little; the runs shall count as finished all the same.
FINISHES = Outcome(exploded_above=50.0, exploded_for=3, failed_margin=-50.0)
# Logits of three tasks' gates, by which hard gates keep some layers of each.
ROWS = [[0.5, 0.1, -0.7], [-0.3, 0.2, 0.1], [0.4, -0.2, 0.6]]


PLAIN = specification(outcome=FINISHES)
PLAIN = replace(PLAIN, training=replace(PLAIN.training, keep_weights=2))
SOFT = replace(latent(), outcome=FINISHES)
RUNS = {
    "plain": PLAIN,
    "soft": SOFT,
    "masked": masked(outcome=FINISHES),
    "masked soft": masked("latent_layers", ("encoder",), outcome=FINISHES),
}


@pytest.fixture(scope="session")
def tensors(tmp_path_factory):
    """The folder of the small corpus's tensors."""
    folder, data = tmp_path_factory.mktemp("likelihood"), small_data()
    write_corpus(folder / "corpus")
    subwords.train(data, folder / "corpus", folder / "subwords", silent)
    encode(data, folder / "corpus", folder / "subwords", folder / "tensors", silent)
    return folder / "tensors"


@pytest.fixture(scope="session")
def ended(tensors, tmp_path_factory):
    """The folder of each run's training."""
    folders = {}
    for name, spec in RUNS.items():
        folders[name] = tmp_path_factory.mktemp("run")
        train(spec, 1, TrainPaths(tensors, folders[name]), LAUNCH, silent)
    return folders


@pytest.fixture
def own(ended, tmp_path):
    """A function that copies what is read of a training, with gates set by hand: rows of tasks."""

    def copy(name, alpha=None):
        checkpoint = read_checkpoint(ended[name] / "checkpoints" / "last.pt")
        if alpha:
            for parameter, tensor in checkpoint["model"].items():
                if parameter.endswith(".alpha"):
                    tensor.copy_(torch.tensor(alpha))
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        (folder / "checkpoints").mkdir(parents=True)
        torch.save({"model": checkpoint["model"]}, folder / "checkpoints" / "last.pt")
        write_json(folder / "training.json", read_json(ended[name] / "training.json"))
        return folder

    return copy


@pytest.mark.parametrize("name", RUNS)
def test_it_is_the_trainings_own_validation_nll(tensors, ended, name):
    spec, folder = RUNS[name], ended[name]
    gates = spec.evaluation.compared_gates
    found = likelihood(spec, tensors, folder, gates, "valid", CPU)
    said = read_json(folder / "training.json")["validation"]
    for task in TASKS:
        mean = found.nats[task] / found.tokens[task]
        assert mean == pytest.approx(said["by_task"][task], abs=1e-6)
    mean = sum(found.nats.values()) / sum(found.tokens.values())
    assert mean == pytest.approx(said["nll"], abs=1e-6)
    assert (found.outcome, found.reason, found.no_layer) == ("finished", "", ())
    assert found.updates == (6,)


@pytest.mark.parametrize("split", ["valid", "test"])
def test_pairs_count_every_target_token_and_blocks_their_hidden_pieces(tensors, ended, split):
    pairs = {each: load(tensors).split(each, split) for each in TASKS}
    found = likelihood(PLAIN, tensors, ended["plain"], "plain", split, CPU)
    assert found.tokens == {task: each.target_lengths.sum() for task, each in pairs.items()}
    hidden = likelihood(RUNS["masked"], tensors, ended["masked"], "plain", split, CPU)
    for task, each in pairs.items():
        assert 0.05 < hidden.tokens[task] / each.source_lengths.sum() < 0.2


def test_the_test_split_is_the_nll_of_each_of_its_sentences_alone(tensors, ended):
    data = load(tensors)
    network = trained(PLAIN, data, ended["plain"], "plain", CPU)
    pairs = data.split("bel", "test")
    nats = 0.0
    for number in range(len(pairs)):
        target = pairs.target(number).long()
        previous = torch.tensor([[EOS, *target[:-1]]])
        logits = network(pairs.source(number)[None].long(), previous, torch.tensor([pairs.task]))
        nats += torch.nn.functional.cross_entropy(logits[0], target, reduction="sum").item()
    found = likelihood(PLAIN, tensors, ended["plain"], "plain", "test", CPU)
    # float32 sums in another order.
    assert found.nats["bel"] == pytest.approx(nats, rel=1e-5)
    valid = likelihood(PLAIN, tensors, ended["plain"], "plain", "valid", CPU)
    assert valid.nats["bel"] / valid.tokens["bel"] != pytest.approx(
        found.nats["bel"] / found.tokens["bel"], abs=1e-6
    )


def test_hard_gates_have_a_likelihood_of_their_own(tensors, own):
    folder = own("soft", ROWS)
    soft, hard = (likelihood(SOFT, tensors, folder, g, "valid", CPU) for g in ("soft", "hard"))
    assert soft.tokens == hard.tokens
    assert all(abs(soft.nats[task] - hard.nats[task]) > 1e-3 for task in TASKS)


def test_a_task_without_any_layer_has_no_likelihood_and_leaves_the_others_alone(tensors, own):
    before = likelihood(SOFT, tensors, own("soft", ROWS), "hard", "test", CPU)
    folder = own("soft", [ROWS[0], [-0.1, -0.2, -0.3], ROWS[2]])
    hard = likelihood(SOFT, tensors, folder, "hard", "test", CPU)
    assert hard.no_layer == ("bel",)
    assert list(hard.nats) == list(hard.tokens) == ["bos", "kor"]
    for task in ("bos", "kor"):
        assert hard.nats[task] == pytest.approx(before.nats[task], rel=1e-6)
    soft = likelihood(SOFT, tensors, folder, "soft", "test", CPU)
    assert soft.no_layer == ()
    assert list(soft.nats) == list(TASKS)


@pytest.mark.parametrize("name", ["soft", "masked soft"])
def test_hard_gates_may_leave_no_task_a_layer(tensors, own, name):
    run = RUNS[name]
    folder = own(name, torch.full((len(TASKS), run.model.encoder_layers), -0.1).tolist())
    found = likelihood(run, tensors, folder, "hard", "valid", CPU)
    assert found.no_layer == TASKS
    assert (found.outcome, found.nats, found.tokens) == ("finished", {}, {})


def test_kept_weights_are_averaged_as_for_translation(tensors, ended):
    decoding = replace(PLAIN.evaluation.decoding, average_of=2)
    spec = replace(PLAIN, evaluation=replace(PLAIN.evaluation, decoding=decoding))
    found = likelihood(spec, tensors, ended["plain"], "plain", "valid", CPU)
    assert found.updates == (3, 6)
    last = likelihood(PLAIN, tensors, ended["plain"], "plain", "valid", CPU)
    assert all(abs(found.nats[task] - last.nats[task]) > 1e-3 for task in TASKS)


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_that_did_not_finish_has_none_and_needs_no_checkpoint(tmp_path, kind):
    write_json(tmp_path / "training.json", training(kind))
    found = likelihood(PLAIN, tmp_path / "none", tmp_path, "plain", "valid", CPU)
    assert (found.outcome, found.reason) == (kind, f"it has {kind}")
    assert (found.updates, found.nats, found.tokens, found.no_layer) == ((), {}, {}, ())


def test_what_is_missing_is_told(tensors, own, tmp_path):
    with pytest.raises(FathomError, match=r"training\.json: no such file"):
        likelihood(PLAIN, tensors, tmp_path / "none", "plain", "valid", CPU)
    folder = own("plain")
    with pytest.raises(FathomError, match="nearest valid name: 'valid'"):
        likelihood(PLAIN, tensors, folder, "plain", "valdi", CPU)
    (folder / "checkpoints" / "last.pt").unlink()
    with pytest.raises(FathomError, match="no such checkpoint"):
        likelihood(PLAIN, tensors, folder, "plain", "valid", CPU)
