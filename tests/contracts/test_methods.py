"""What every method promises; the tests list the folder, so a new method is held to them too."""

import inspect

import jsonschema
import pytest
import torch
import yaml
from torch import Tensor

from fathom.catalog import cards, spec
from fathom.catalog.yaml_files import read
from fathom.methods.loader import count, load, names
from fathom.models.hooks import Method
from fathom.models.network import Network
from fathom.models.saved import load_weights
from fathom.models.size import parts
from tests.reference.small_networks import (
    ENTRIES,
    ROOT,
    batch,
    card,
    gradients,
    method,
    network,
    nll,
    shape,
)

CARDS = ROOT / "config" / "methods"
LENGTHS = [(5, 4), (3, 6), (7, 2), (4, 4)]
# Sums of the same terms in another order, in float32.
TOLERANCE = 1e-5

every = pytest.mark.parametrize("name", names())


def example(name: str, **changes: object) -> tuple[spec.Method, spec.Model, int]:
    """Return a method at the size and settings of its card's example."""
    this = card(name)
    layers = this.example.layers
    model = shape(encoder_layers=layers, decoder_layers=layers, norm=this.norms[0])
    settings = this.example.settings | changes
    return method(name, this.sides, **settings), model, this.example.tasks


def example_network(name: str, **changes: object) -> Network:
    chosen, model, tasks = example(name, **changes)
    return network(chosen, model, tasks)


def tasks_of(count_: int, sentences: int) -> Tensor:
    return torch.arange(sentences) % count_


def update(model: Network, optimiser: torch.optim.Optimizer, number: int, tasks: int) -> float:
    """Make one update of all parameters, and return its objective (nats)."""
    source, previous, target = batch(LENGTHS, seed=number)
    present = tasks_of(tasks, len(LENGTHS))
    model.start_update(1, number)
    tokens = sum(pair[1] for pair in LENGTHS)
    objective = nll(model(source, previous, present), target) / tokens
    for each in model.methods.values():
        for loss in each.losses(tokens, present.unique()).values():
            objective = objective + loss.weight * loss.value
    optimiser.zero_grad()
    objective.backward()
    optimiser.step()
    return objective.item()


def test_every_method_has_a_card_and_every_card_a_method():
    assert sorted(path.stem for path in CARDS.glob("*.yaml")) == names()


@every
def test_the_card_passes_its_schema_and_its_own_settings(name):
    schema = yaml.safe_load((ROOT / "workflow/schemas/method.schema.yaml").read_text())
    file = read(CARDS / f"{name}.yaml", ROOT)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(file.value, schema, cls=jsonschema.Draft202012Validator)
    assert not list(cards.findings(card(name), file))


@every
def test_the_cards_settings_are_the_keywords_of_the_class(name):
    parameters = inspect.signature(load(name).__init__).parameters
    shared = list(inspect.signature(Method.__init__).parameters)
    assert list(parameters)[: len(shared)] == shared
    keywords = [each for each in parameters.values() if each.name not in shared]
    assert {each.name for each in keywords} == {each.name for each in card(name).settings}
    assert all(each.kind is each.KEYWORD_ONLY for each in keywords)
    # The card alone holds defaults.
    assert all(each.default is each.empty for each in keywords)


@every
def test_only_hooks_are_overridden(name):
    """A misspelt hook would never be called."""
    known = {each for each in dir(Method) if not each.startswith("_")}
    own = {each for each in vars(load(name)) if not each.startswith("_")}
    needed = {"source", "keep", "residual", "block", "after", "memory", "begin"}
    assert name == "static" or own & needed
    signatures = {each: inspect.signature(getattr(Method, each)) for each in own & known}
    for each, expected in signatures.items():
        found = inspect.signature(getattr(load(name), each))
        assert list(found.parameters) == list(expected.parameters), each


@every
def test_it_trains_with_finite_loss(name):
    model, (_, _, tasks) = example_network(name), example(name)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = [update(model, optimiser, 1 + number % 2, tasks) for number in range(6)]
    assert torch.isfinite(torch.tensor(losses)).all()
    assert losses[-1] < losses[0]


@every
def test_saved_and_loaded_it_goes_on_to_the_bit(name, tmp_path):
    whole, (_, _, tasks) = example_network(name), example(name)
    optimiser = torch.optim.Adam(whole.parameters(), lr=1e-2)
    for number in (1, 2):
        update(whole, optimiser, number, tasks)
    torch.save({"model": whole.state_dict(), "adam": optimiser.state_dict()}, tmp_path / "last.pt")
    resumed = example_network(name)
    load_weights(resumed, tmp_path / "last.pt")
    again = torch.optim.Adam(resumed.parameters(), lr=1e-2)
    again.load_state_dict(torch.load(tmp_path / "last.pt", weights_only=True)["adam"])
    for model, adam in ((whole, optimiser), (resumed, again)):
        for number in (3, 4):
            update(model, adam, number, tasks)
    for key, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[key]), key


@every
def test_a_fused_batch_equals_one_pass_for_each_task(name):
    source, previous, target = batch(LENGTHS)
    tokens = sum(pair[1] for pair in LENGTHS)
    fused, apart = example_network(name), example_network(name)
    tasks = tasks_of(card(name).example.tasks, len(LENGTHS))
    for model in (fused, apart):
        model.start_update(1, 1)
    loss = nll(fused(source, previous, tasks), target) / tokens
    loss.backward()
    total = 0.0
    for task in tasks.unique():
        rows = tasks == task
        pieces = [
            max(pair[side] for pair, row in zip(LENGTHS, rows, strict=True) if row)
            for side in (0, 1)
        ]
        part = nll(
            apart(source[rows, : pieces[0]], previous[rows, : pieces[1]], tasks[rows]),
            target[rows, : pieces[1]],
        )
        (part / tokens).backward()
        total += part.item() / tokens
    assert loss.item() == pytest.approx(total, abs=TOLERANCE)
    found = gradients(apart)
    for key, gradient in gradients(fused).items():
        if gradient is None:
            assert found[key] is None, key
        else:
            assert torch.allclose(gradient, found[key], rtol=TOLERANCE, atol=TOLERANCE), key


@every
def test_translating_does_not_depend_on_the_order_of_a_batch(name):
    model = example_network(name).eval()
    kinds = ("soft", "hard") if card(name).gates else ("plain",)
    source, previous, _ = batch(LENGTHS)
    tasks = tasks_of(card(name).example.tasks, len(LENGTHS))
    order = torch.tensor([2, 0, 3, 1])
    for kind in kinds:
        model.use_gates(kind)
        logits = model(source, previous, tasks)
        shuffled = model(source[order], previous[order], tasks[order])
        assert torch.allclose(logits[order], shuffled, atol=TOLERANCE)


@every
def test_a_gradient_reaches_every_parameter(name):
    """Over a few updates: a method may leave layers out of one, or start with closed gates."""
    model = example_network(name)
    tasks = card(name).example.tasks
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-2)
    reached = set()
    for number in range(1, 9):
        optimiser.zero_grad()
        model.start_update(1, number)
        source, previous, target = batch(LENGTHS)
        nll(model(source, previous, tasks_of(tasks, len(LENGTHS))), target).backward()
        reached |= {
            key
            for key, gradient in gradients(model).items()
            if gradient is not None and gradient.any()
        }
        optimiser.step()
    assert reached == {key for key, _ in model.named_parameters()}


@every
def test_in_its_neutral_state_it_equals_the_static_model_to_the_bit(name):
    neutral = card(name).neutral
    if neutral is None:
        pytest.skip("it never equals the static model; its own tests say how near it comes")
    model = example_network(name, **neutral.settings)
    _, size, tasks = example(name)
    static = network(method("static", ()), size, tasks)
    source, previous, target = batch(LENGTHS)
    for each in model.methods.values():
        for parameter, value in neutral.parameters.items():
            each.get_parameter(parameter).data.fill_(value)
    for training in (True, False):
        for each in (model, static):
            each.train(training).start_update(1, 1)
        present = tasks_of(tasks, len(LENGTHS))
        logits, expected = (each(source, previous, present) for each in (model, static))
        assert torch.equal(logits, expected)
    nll(logits, target).backward()
    nll(expected, target).backward()
    found = gradients(model)
    for key, gradient in gradients(static).items():
        assert torch.equal(gradient, found[key]), key


@every
def test_its_parameters_are_counted_without_making_them(name):
    chosen, model, tasks = example(name)
    assert count(model, chosen, tasks, ENTRIES, ENTRIES) == parts(network(chosen, model, tasks))


@every
def test_methods_with_gates_say_how_deep_they_are(name):
    for side, each in example_network(name).methods.items():
        depth = each.depth()
        assert (depth is not None) is card(name).gates
        if depth:
            assert (len(depth.by_task), depth.layers) == (each.stack.tasks, each.stack.layers), side


@every
def test_groups_hold_parameters_of_the_network_each_once(name):
    model = example_network(name)
    own = [
        p for each in model.methods.values() for g in each.parameter_groups() for p in g.parameters
    ]
    assert len({id(parameter) for parameter in own}) == len(own)
    assert {id(each) for each in own} <= {id(each) for each in model.parameters()}
