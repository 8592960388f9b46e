"""What is recorded of a training: right, and at the right updates."""

from math import isnan

import pytest
import torch

from fathom.io.series import read
from fathom.train.diagnostics import Diagnostics, layer_gradient_norms
from fathom.train.ranks import Ranks
from tests.reference.padded.networks import padded_logits
from tests.support.processes import join, start_together
from tests.support.small_networks import PAD, batch, method, network, nll, shape
from tests.support.small_runs import (
    SWITCHES,
    Run,
    latent,
    specification,
    switched,
    train_run,
    without_dropout,
)
from tests.support.states import require_equal, state

ALONE = Ranks(0, 1)
TASKS = ("bos", "nan")
SENTENCES = [(7, 5), (3, 6), (5, 2), (4, 4), (6, 3), (2, 7), (5, 5), (3, 3)]
RECURRENT = shape(architecture="rnmt_plus", tie_embeddings="none", norm="none")
EVERY_UPDATE = switched(diagnose_every=1)


def looked_at(model, folder, parts=1):
    """Look at one update of a network; its sentences come in micro-batches."""
    diagnostics = Diagnostics(model, TASKS, folder, 1, 0)
    source, previous, target = batch(SENTENCES)
    tasks = torch.arange(len(SENTENCES)) % 2
    model.zero_grad()
    model.start_update(1, 1)
    diagnostics.start_update(1)
    for rows in torch.arange(len(SENTENCES)).chunk(parts):
        nll(
            padded_logits(model, source[rows], previous[rows], tasks[rows]), target[rows]
        ).backward()
    diagnostics.end_update(1, ALONE)
    diagnostics.write()
    return diagnostics


def seen(folder):
    """Return the columns of every table by name."""
    return {path.name.split(".")[0]: read(path) for path in sorted(folder.glob("*"))}


def ratio(folder):
    return read(folder / "encoder_gradient_ratio.tsv.gz")["value"]


def ratio_by_hand(model, sentences=SENTENCES):
    """Return r_t at real positions from torch.autograd.grad, in one batch."""
    source, previous, target = batch(sentences)
    outputs = []
    model.start_update(1, 1)
    model.encoder.observer = outputs.extend
    loss = nll(padded_logits(model, source, previous, torch.arange(len(sentences)) % 2), target)
    model.encoder.observer = None
    gradients = torch.autograd.grad(loss, (outputs[1], outputs[-1]))
    real = source.ne(PAD).t()
    first, last = (each[real].double().square().sum().sqrt().item() for each in gradients)
    return first / last


# Kinds of networks, norms and methods that change what h¹ and h^N reach.
NETWORKS = {
    "pre": (method("static", ()), shape()),
    "post": (method("static", ()), shape(norm="post")),
    "gates": (method("latent_layers"), shape()),
    "mixed": (method("transparent", ("encoder",)), shape()),
    "recurrent": (method("static", ()), RECURRENT),
}


@pytest.fixture(params=NETWORKS)
def model(request):
    """Return one network of each kind, in turn."""
    return network(*NETWORKS[request.param])


def test_r_is_the_ratio_of_both_gradients_at_real_positions(model, tmp_path):
    """[transparent_attention r_t]"""
    expected = ratio_by_hand(model)
    for parts in (1, 4):
        looked_at(model, tmp_path / str(parts), parts=parts)
        assert ratio(tmp_path / str(parts)) == [pytest.approx(expected, rel=1e-5)]
    assert expected != pytest.approx(1.0, abs=1e-3)
    # The mean of the parts' own ratios is another number: squares must be summed apart.
    quarters = [SENTENCES[place : place + 2] for place in range(0, 8, 2)]
    apart = sum(ratio_by_hand(model, quarter) for quarter in quarters) / 4
    assert expected != pytest.approx(apart, rel=1e-5)


def test_r_has_no_value_where_it_means_nothing(tmp_path):
    single = network(method("static", ()), shape(encoder_layers=1))
    looked_at(single, tmp_path / "one_layer")
    assert not (tmp_path / "one_layer" / "encoder_gradient_ratio.tsv.gz").exists()
    frozen = network(method("static", ()))
    frozen.encoder.requires_grad_(False)
    looked_at(frozen, tmp_path / "frozen")
    assert ratio(tmp_path / "frozen") == [None]
    assert read(tmp_path / "frozen" / "encoder_gradient_norm.tsv.gz")["value"] == [None] * 3


def test_norms_by_layer_are_those_that_torch_clips_by():
    model = network(method("latent_layers"))
    source, previous, target = batch(SENTENCES)
    model.start_update(1, 1)
    nll(padded_logits(model, source, previous, torch.arange(8) % 2), target).backward()
    for stack in (model.encoder, model.decoder):
        found = layer_gradient_norms(stack.layers)
        flat = [
            torch.cat([each.grad.flatten() for each in layer.parameters()])
            for layer in stack.layers
        ]
        torch.testing.assert_close(found, torch.stack([each.norm() for each in flat]))
        for norm, layer in zip(found, stack.layers, strict=True):
            assert torch.equal(norm, torch.nn.utils.clip_grad_norm_(layer.parameters(), 1e9))
        assert len({round(norm, 5) for norm in found.tolist()}) == 3


def test_a_layer_without_gradients_has_no_norm():
    model = network(method("static", ()))
    for parameter in model.decoder.layers[1].parameters():
        parameter.requires_grad = False
    source, previous, target = batch(SENTENCES)
    nll(padded_logits(model, source, previous, torch.zeros(8, dtype=torch.long)), target).backward()
    assert [isnan(norm) for norm in layer_gradient_norms(model.decoder.layers).tolist()] == [
        False,
        True,
        False,
    ]


def test_norms_are_those_before_clipping(tensors, tmp_path):
    for clip in (0.0, 1.0e-3):
        spec = without_dropout(latent({"training": {"clip": clip}}))
        run = Run(spec, tensors)
        diagnostics = Diagnostics(run.network, run.tensors.tasks, tmp_path / str(clip), 1, 0)
        run.two_level.diagnostics = diagnostics
        assert run.update(1).gradient_norm > 1.0e-2
        diagnostics.write()
    assert seen(tmp_path / "0.0") == seen(tmp_path / "0.001")


def test_two_processes_see_what_one_sees(tensors, tmp_path):
    def look(_, announced, said):
        ranks = join(announced)
        folder = tmp_path / str(ranks.world)
        run = Run(without_dropout(latent()), tensors)
        run.two_level.ranks = ranks
        diagnostics = Diagnostics(run.network, run.tensors.tasks, folder, 1, 0)
        run.two_level.diagnostics = diagnostics
        run.share(1, ranks, micro=2)
        diagnostics.write()
        said.put(ranks.rank)

    for world in (1, 2):
        start_together(tensors, world, look)
    one, both = seen(tmp_path / "1"), seen(tmp_path / "2")
    assert one.keys() == both.keys()
    for name in one:
        # Sums in another order. Written once: the second process writes nothing.
        assert one[name]["value"] == pytest.approx(both[name]["value"], rel=1e-4), name


def test_between_due_updates_nothing_watches(tensors, tmp_path):
    run = Run(latent(), tensors)
    run.two_level.diagnostics = diagnostics = Diagnostics(run.network, "abc", tmp_path, 2, 0)
    watched = []
    encoder = run.network.encoder
    encoder.layer_norm.register_forward_hook(
        lambda *_: watched.append(encoder.observer is not None)
    )
    for number in range(1, 5):
        run.update(number)
        assert run.network.encoder.observer is None
    assert watched == [False, True, False, True]
    diagnostics.write()
    assert seen(tmp_path)["encoder_gradient_ratio"]["update"] == [2, 4]


def test_tables_have_the_names_of_tasks_and_count_layers_from_one(tensors, tmp_path):
    run = Run(latent(), tensors)
    diagnostics = Diagnostics(run.network, run.tensors.tasks, tmp_path, 1, 0)
    run.two_level.diagnostics = diagnostics
    run.network.start_update(1, 1)
    expected = run.network.decoder.method.diagnostics()["samples"].values
    run.update(1)
    assert not list(tmp_path.iterdir())
    diagnostics.write()
    found = seen(tmp_path)
    assert set(found) == {
        f"{side}_{name}"
        for side in ("encoder", "decoder")
        for name in ("gradient_norm", "alpha", "samples", "utilisation")
    } | {"encoder_gradient_ratio"}
    samples = found["decoder_samples"]
    assert samples["update"] == [1] * 9
    assert samples["task"] == [task for task in ("bos", "bel", "kor") for _ in range(3)]
    assert samples["layer"] == ["1", "2", "3"] * 3
    # Those of the update itself, although it has moved the logits since.
    assert samples["value"] == pytest.approx(expected.flatten().tolist(), rel=1e-5)
    assert list(found["decoder_utilisation"]) == ["update", "layer", "value"]
    assert list(found["encoder_gradient_ratio"]) == ["update", "value"]


def test_weights_of_a_mixture_are_by_source_and_memory(tmp_path):
    for kind, model in (("transformer", shape()), ("rnmt_plus", RECURRENT)):
        looked_at(network(method("transparent", ("encoder",)), model), tmp_path / kind)
    found = seen(tmp_path / "transformer")["encoder_weights"]
    assert list(found) == ["update", "source", "memory", "value"]
    assert found["source"] == [str(source) for source in range(4) for _ in range(3)]
    assert found["memory"] == ["1", "2", "3"] * 4
    assert found["value"] == pytest.approx([0.25] * 12)
    # The embeddings, source 0, are not mixed where they have another width.
    assert seen(tmp_path / "rnmt_plus")["encoder_weights"]["source"] == ["1", "2", "3"]


@pytest.mark.slow
def test_looking_changes_nothing_of_what_is_learnt(tensors, tmp_path):
    seeing = switched(diagnose_every=2, diagnose_first=3)
    for name, launch in (("blind", SWITCHES), ("seeing", seeing)):
        train_run(latent(), tensors, tmp_path / name, launch)
    require_equal(*(state(tmp_path / name)["model"] for name in ("blind", "seeing")))
    assert not (tmp_path / "blind" / "diagnostics").exists()
    found = read(tmp_path / "seeing" / "diagnostics" / "encoder_gradient_ratio.tsv.gz")
    assert found["update"] == [1, 2, 3, 4, 6]


def test_a_run_that_diverges_has_its_tables_up_to_there(tensors, tmp_path):
    exploding = specification(changes={"outcome": {"exploded_above": 1e-9, "exploded_for": 5}})
    ended = train_run(exploding, tensors, tmp_path, EVERY_UPDATE)
    assert ended["outcome"]["kind"] == "diverged"
    found = read(tmp_path / "diagnostics" / "encoder_gradient_ratio.tsv.gz")
    assert found["update"] == [1, 2, 3, 4, 5]
