"""Gates in the network: what is computed, what is random, whom a gradient reaches; presets."""

import pytest
import torch

from fathom.decode.contracts import CONTRACTS, ExampleNetwork
from fathom.methods.latent_layers.method import LatentLayers
from fathom.nn.network import Network
from tests.reference.padded.networks import padded_logits
from tests.support.small_networks import batch, card, gradients, method, network, nll, shape, stack

LENGTHS = [(5, 4), (3, 6), (7, 2)]
TASKS = torch.tensor([0, 1, 1])
BOTH, STACKS = torch.tensor([0, 1]), ("encoder", "decoder")
AS_RELEASED = card("latent_layers").about.presets["as_released"]
# Hard samples come after 500 updates only; here they come at once, with all losses.
HARD_AT_ONCE = AS_RELEASED | {
    "straight_through_after": 0,
    "kl_anneal_start": 0,
    "kl_anneal_length": 0,
    "depth_anneal_start": 0,
    "depth_anneal_length": 0,
}

each_place = pytest.mark.parametrize("gate_on", ["block", "sub_layer"])


def gates(side: str = "decoder", tasks: int = 2, **settings: object) -> LatentLayers:
    return LatentLayers(stack(side, 3, tasks), **method("latent_layers", **settings).settings)


def test_a_draw_repeats_and_differs_by_seed_update_task_and_side():
    def drawn(side="decoder", seed=1, update=1):
        each = gates(side)
        each.start_update(seed, update)
        return each.noise

    first = drawn()
    assert torch.equal(first, drawn())
    assert not torch.equal(first[0], first[1])
    for other in (drawn("encoder"), drawn(seed=2), drawn(update=2)):
        assert not torch.isclose(first, other).any()


def test_a_draw_does_not_depend_on_the_number_of_tasks_or_what_was_drawn_before():
    few, many = gates(tasks=2), gates(tasks=5)
    torch.manual_seed(1)
    few.start_update(1, 7)
    many.start_update(1, 3)
    torch.manual_seed(2)
    many.start_update(1, 7)
    assert torch.equal(few.noise, many.noise[:2])


def test_training_without_a_draw_is_a_mistake():
    with pytest.raises(RuntimeError, match="start_update"):
        gates().begin(BOTH)


def test_outside_training_the_gates_are_free_of_noise():
    each = gates(tau=2.0).eval()
    each.alpha.data = torch.tensor([[0.0, 1.0, -1.0], [3.0, -3.0, 0.5]])
    each.start_update(1, 1)
    assert torch.allclose(each.gates(), torch.sigmoid(each.alpha / 2))
    each.inference = "hard"
    assert each.gates().tolist() == [[1, 1, 0], [1, 0, 1]]


def test_soft_gates_have_the_temperature_at_which_training_ended():
    each = gates(tau_end=0.25, tau_updates=10)
    each.alpha.data = torch.tensor([[0.0, 1.0, -1.0], [3.0, -3.0, 0.5]])
    each.start_update(1, 10)
    assert torch.allclose(each.eval().gates(), torch.sigmoid(each.alpha / 0.25))


def test_a_shared_posterior_has_one_row_and_one_draw_for_all_tasks():
    """[latent_depth Alg. 1] has one sample for a mini-batch, whatever its languages."""
    each = gates(posterior="shared", tasks=4)
    each.start_update(1, 1)
    assert each.alpha.shape == (1, 3)
    assert each.samples().shape == (4, 3)
    assert len({tuple(row.tolist()) for row in each.samples()}) == 1
    first = each.samples().clone()
    each.start_update(1, 2)
    assert not torch.isclose(first, each.samples()).any()
    assert not each.parameter_groups()[0].rows_are_tasks
    assert each.depth().by_task == (3, 3, 3, 3)


def test_the_temperature_at_which_training_ended_is_saved():
    trained, loaded = gates(tau_end=0.1, tau_updates=10), gates(tau_end=0.1, tau_updates=10)
    trained.start_update(1, 10)
    loaded.load_state_dict(trained.state_dict())
    assert loaded.temperature.item() == pytest.approx(0.1)


@pytest.mark.parametrize("settings", [{}, AS_RELEASED], ids=["paper", "as_released"])
def test_no_weight_changes_the_networks_own_gradient_by_a_bit(settings):
    found = []
    source, previous, target = batch(LENGTHS)
    at_once = {"kl_anneal_start": 0, "depth_anneal_start": 0, "target_depth": 1}
    for weights in ({"kl_weight": 0.0, "depth_weight": 0.0}, {"kl_weight": 90.0}):
        model = network(method("latent_layers", **(settings | at_once | weights)))
        for each in model.methods.values():
            each.alpha.data.fill_(0.3)
        model.start_update(3, 600)
        objective = nll(padded_logits(model, source, previous, TASKS), target) / 12
        for each in model.methods.values():
            for loss in each.losses(12, BOTH).values():
                objective = objective + loss.weight * loss.value
        objective.backward()
        found.append(gradients(model))
    for name, gradient in found[0].items():
        same = torch.equal(gradient, found[1][name])
        assert same is not name.endswith("alpha"), name


def latent(kind: str, norm: str = "pre", residuals=STACKS, **settings: object) -> Network:
    """Return a network whose tasks keep different layers."""
    size = shape(norm=norm, residuals=residuals)
    model = network(method("latent_layers", **settings), size).eval().use_gates(kind)
    rows = torch.tensor([[3.0, -3.0, 0.0], [-3.0, -3.0, 3.0]])
    for each in model.methods.values():
        each.alpha.data = rows.clone()
    return model


def counted(model: Network) -> list[str]:
    """Count the computed layers of both stacks from now on."""
    calls = []
    for side in ("encoder", "decoder"):
        for number, layer in enumerate(model.get_submodule(f"{side}.layers")):
            layer.final_layer_norm.register_forward_hook(
                lambda *_, s=side, n=number: calls.append(f"{s}{n}")
            )
    return calls


@each_place
@pytest.mark.parametrize("norm", ["pre", "none"])
@pytest.mark.parametrize("residuals", [STACKS, ()])
@pytest.mark.parametrize(
    ("tasks", "kept"), [([0, 0, 0], [0, 2]), ([1, 1, 1], [2]), ([0, 1, 0], [0, 2])]
)
def test_layers_that_no_sentence_keeps_are_not_computed_and_nothing_changes(
    tasks, kept, residuals, norm, gate_on
):
    source, previous, _ = batch(LENGTHS)
    model = latent("hard", norm, residuals, gate_on=gate_on)
    calls = counted(model)
    pruned = padded_logits(model, source, previous, torch.tensor(tasks))
    # A closed sub-layer without a residual is 0, not what came in: its layer is computed.
    kept = kept if residuals or gate_on == "block" else [0, 1, 2]
    assert calls == [f"{side}{layer}" for side in ("encoder", "decoder") for layer in kept]
    for each in model.methods.values():
        each.keep = lambda layer: True
    multiplied = padded_logits(model, source, previous, torch.tensor(tasks))
    assert len(calls) == 2 * len(kept) + 6
    assert torch.equal(pruned, multiplied)


@each_place
def test_a_task_without_a_layer_passes_its_embeddings_on(gate_on):
    model = latent("hard", gate_on=gate_on)
    model.decoder.method.alpha.data.fill_(-1.0)
    source, previous, _ = batch(LENGTHS)
    tokens = 4 * model.decoder.embed_tokens(previous) + model.decoder.embed_positions(previous)
    expected = model.decoder.output_projection(model.decoder.layer_norm(tokens))
    assert torch.equal(padded_logits(model, source, previous, TASKS), expected)
    assert model.decoder.method.depth().by_task == (0, 0)


def test_closed_sub_layers_that_normalise_are_computed_all_the_same():
    """After z = 0 for every sub-layer such a layer still normalises; without its gates it is x."""
    source, previous, _ = batch(LENGTHS)
    for gate_on, computed in (("block", 0), ("sub_layer", 6)):
        model = latent("hard", "post", gate_on=gate_on)
        for each in model.methods.values():
            each.alpha.data.fill_(-1.0)
        calls = counted(model)
        logits = padded_logits(model, source, previous, TASKS)
        assert len(calls) == computed
        for each in model.methods.values():
            each.keep = lambda layer: False
        assert torch.equal(padded_logits(model, source, previous, TASKS), logits) is (computed == 0)


def test_gates_on_sub_layers_are_those_on_blocks_where_they_are_0_or_1_and_nowhere_else():
    source, previous, _ = batch(LENGTHS)
    for kind, same in (("hard", True), ("soft", False)):
        one, other = (latent(kind, gate_on=place) for place in ("block", "sub_layer"))
        found, expected = (padded_logits(each, source, previous, TASKS) for each in (one, other))
        assert torch.equal(found, expected) is same
        assert torch.allclose(found, expected, atol=1e-2) is same


@each_place
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_open_gates_make_the_static_network_and_closed_ones_the_embeddings_to_the_bit(
    dtype, gate_on
):
    source, previous, _ = batch(LENGTHS)
    model = network(method("latent_layers", gate_on=gate_on)).to(dtype)
    static = network(method("static", ())).to(dtype)
    for alpha, layers in ((200.0, static.decoder.layers), (-200.0, [])):
        for each in model.methods.values():
            each.alpha.data.fill_(alpha)
        for side in (static.encoder, static.decoder):
            side.method.keep = lambda layer, kept=layers: len(kept) > 0
        expected = padded_logits(static, source, previous, TASKS)
        for training in (True, False):
            model.train(training).start_update(1, 1)
            assert torch.equal(padded_logits(model, source, previous, TASKS), expected)


@pytest.mark.parametrize("settings", [{}, AS_RELEASED], ids=["paper", "as_released"])
def test_the_network_is_deterministic_outside_training(settings):
    source, previous, _ = batch(LENGTHS)
    for kind in ("soft", "hard"):
        model = latent(kind, **settings)
        first = padded_logits(model, source, previous, TASKS)
        for update in (1, 9000):
            model.start_update(1, update)
            torch.manual_seed(update)
            assert torch.equal(padded_logits(model, source, previous, TASKS), first)


def test_gates_stay_in_their_own_precision():
    model = network(method("latent_layers"))
    model.start_update(1, 1)
    source, previous, _ = batch(LENGTHS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = padded_logits(model, source, previous, TASKS)
    assert torch.isfinite(logits).all()
    assert model.decoder.method.sentence_gates[0].dtype == torch.float32


def test_in_training_every_layer_is_computed_whatever_gates_inference_has():
    model = network(method("latent_layers", sample="straight_through", straight_through_after=0))
    model.use_gates("hard").start_update(1, 1)
    for each in model.methods.values():
        each.alpha.data.fill_(-9.0)
        each.begin(BOTH)
        assert not torch.stack(each.sentence_gates).any()
        assert all(each.keep(layer) for layer in range(3))


# Presets, and single settings, keep what every method promises.


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize(
    "settings",
    [AS_RELEASED, HARD_AT_ONCE, {"sample": "noise_free"}],
    ids=["as_released", "hard_at_once", "noise_free"],
)
def test_settings_keep_a_contract(contract, settings):
    assert not [*CONTRACTS[contract](ExampleNetwork(card("latent_layers"), settings))]


def test_the_preset_takes_the_values_of_the_released_command():
    settings = method("latent_layers", **AS_RELEASED).settings
    assert (settings["tau"], settings["kl_weight"], settings["depth_weight"]) == (5, 0.1, 0.1)
    assert (settings["kl_anneal_start"], settings["kl_anneal_length"]) == (500, 5000)
    assert settings["straight_through_after"] == 500
    assert settings["depth_anneal_start"] == 5500
    # Of the command's 24; a run of another depth says its own.
    assert settings["target_depth"] == 12


@pytest.mark.parametrize(
    ("settings", "gates", "refused"),
    [
        ({"tau": 5.0}, "hard", True),
        ({"tau": 7}, "hard", True),
        ({"tau": 5.0}, "soft", False),
        ({"tau": 1.0}, "hard", False),
        ({"tau": 5.0, "tau_end": 0.1}, "hard", False),
        ({"tau": 5.0, "tau_end": 5.0}, "hard", True),
        ({"tau": 9.0, "tau_end": 6.0}, "hard", True),
        ({"sample": "noise_free"}, "hard", True),
        ({"sample": "noise_free"}, "soft", False),
        (AS_RELEASED, "hard", False),
    ],
)
def test_hard_gates_after_soft_training_at_a_high_temperature_are_refused(settings, gates, refused):
    reason = card("latent_layers").refusal(gates, method("latent_layers", **settings).settings)
    assert (reason is not None) is refused
