"""What every method promises; the tests list the folder, so a new method is held to them too."""

import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from fathom.config import plugins
from fathom.config.schema import run as settings
from fathom.decode.beam import Beam
from fathom.decode.translate import hypotheses
from fathom.methods.build import count, load
from fathom.nn.hooks import Method
from fathom.nn.network import Batch, Network, count_parameters
from fathom.nn.weights import load_weights, write_checkpoint
from fathom.train.ranks import Ranks
from fathom.train.schedules import learning_rate
from fathom.train.two_level import TwoLevel
from fathom.train.update_batches import MicroBatches
from tests.reference.padded.networks import padded_logits
from tests.support.small_networks import (
    ENTRIES,
    EOS,
    ROOT,
    Dictionary,
    batch,
    card,
    gradients,
    method,
    network,
    nll,
    shape,
)
from tests.support.small_runs import specification

pytestmark = pytest.mark.slow

CARDS = ROOT / "config" / "methods"
LENGTHS = [(5, 4), (3, 6), (7, 2), (4, 4)]
# Sums of the same terms in another order, in float32.
TOLERANCE = 1e-5
SEARCH = settings.Decoding(average_of=1, beam=3, length_penalty=1.0, cap_ratio=1.5, cap_constant=4)

every = pytest.mark.parametrize("name", plugins.names("methods"))


def choices() -> Iterator[object]:
    """Yield each method with each value that is not the default of a setting with named values."""
    for name in plugins.names("methods"):
        for setting, about in card(name).about.settings.items():
            for value in about.values if about.type == "string" else ():
                if value != about.default:
                    yield pytest.param(name, {setting: value}, id=f"{name}-{setting}-{value}")


every_choice = pytest.mark.parametrize(
    ("name", "changes"),
    [*(pytest.param(name, {}, id=name) for name in plugins.names("methods")), *choices()],
)


def example(name: str, **changes: object) -> tuple[settings.MethodSettings, settings.Model, int]:
    """Return a method at the size and settings of its card's example."""
    this = card(name)
    layers = this.about.example.layers
    model = shape(encoder_layers=layers, decoder_layers=layers, norm=this.about.norms[0])
    values = this.about.example.settings | changes
    return method(name, this.about.stacks, **values), model, this.about.example.tasks


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
    objective = nll(padded_logits(model, source, previous, present), target) / tokens
    for each in model.methods.values():
        for loss in each.losses(tokens, present.unique()).values():
            objective = objective + loss.weight * loss.value
    optimiser.zero_grad()
    objective.backward()
    optimiser.step()
    return objective.item()


def test_every_method_has_a_card_and_every_card_a_method():
    assert sorted(path.stem for path in CARDS.glob("*.yaml")) == plugins.names("methods")


@every
def test_the_class_reads_the_cards_settings_and_no_others(name, monkeypatch):
    """Keywords without defaults; a class that keeps them in a namespace reads every one of them."""
    parameters = inspect.signature(load(name).__init__).parameters
    shared = list(inspect.signature(Method.__init__).parameters)
    assert list(parameters)[: len(shared)] == shared
    keywords = [each for each in parameters.values() if each.name not in shared]
    read = {each.name for each in keywords}
    if any(each.kind is each.VAR_KEYWORD for each in keywords):
        read = set()

        class Recording(SimpleNamespace):
            def __getattribute__(self, setting):
                read.add(setting)
                return super().__getattribute__(setting)

        monkeypatch.setattr(sys.modules[load(name).__module__], "SimpleNamespace", Recording)
        model = example_network(name)
        update(model, torch.optim.Adam(model.parameters()), 1, example(name)[2])
        for each in model.methods.values():
            each.parameter_groups()
            each.depth()
    else:
        # The card alone holds defaults.
        assert all(each.kind is each.KEYWORD_ONLY for each in keywords)
        assert all(each.default is each.empty for each in keywords)
    assert {each for each in read if not each.startswith("_")} == set(card(name).about.settings)


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


@every_choice
def test_it_trains_with_finite_loss(name, changes):
    model, (_, _, tasks) = example_network(name, **changes), example(name)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = [update(model, optimiser, 1 + number % 2, tasks) for number in range(6)]
    assert torch.isfinite(torch.tensor(losses)).all()
    assert losses[-1] < losses[0]


def two_level(model: Network) -> TwoLevel:
    """Return a network with the optimisers of a real training."""
    training = specification().training
    schedule = learning_rate(training.schedule, width=16, updates=6)
    return TwoLevel(model, training, schedule, 1, Ranks(0, 1))


def real_update(run: TwoLevel, number: int) -> None:
    """Make an update of the first task alone where it is even, else of all tasks."""
    source, previous, target = batch(LENGTHS, seed=number)
    every = run.network.methods["decoder"].stack.tasks if number % 2 else 1
    tasks, tokens = tasks_of(every, len(LENGTHS)), sum(pair[1] for pair in LENGTHS)
    rows = torch.arange(len(LENGTHS))
    whole = Batch(source, previous, target, tasks, rows, tokens)
    run.update(number, MicroBatches([whole], tokens, tasks.unique()))


@pytest.mark.slow
@every_choice
def test_saved_and_loaded_it_goes_on_to_the_bit(name, changes, tmp_path):
    runs = [two_level(example_network(name, **changes)) for _ in range(2)]
    require_resumes_to_the_bit(*runs, tmp_path)


def require_resumes_to_the_bit(whole: TwoLevel, resumed: TwoLevel, folder: Path) -> None:
    """Check that two updates, a checkpoint and two more are four updates."""
    for number in (1, 2):
        real_update(whole, number)
    state = {"model": whole.network.state_dict(), "optimisers": whole.state_dict()}
    write_checkpoint(folder / "last.pt", state)
    load_weights(resumed.network, folder / "last.pt")
    resumed.load_state_dict(torch.load(folder / "last.pt", weights_only=True)["optimisers"])
    for run in (whole, resumed):
        for number in (3, 4):
            real_update(run, number)
    for key, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, resumed.network.state_dict()[key]), key


@every_choice
def test_what_belongs_to_an_absent_task_rests_with_its_moments(name, changes):
    """Rows of a group whose rows are tasks, and modules of which each belongs to a task."""
    run = two_level(example_network(name, **changes))
    for number in (1, 3):
        real_update(run, number)
    own = {id(each) for group in run.phi if group.rows_are_tasks for each in group.parameters}
    before = {
        key: (each.detach().clone(), moments(run, each)) for key, each in theirs(run, own).items()
    }
    real_update(run, 2)
    after = theirs(run, own)
    assert before.keys() == after.keys()
    for key, (value, state) in before.items():
        now = after[key]
        rows = slice(1, None) if id(now) in own else slice(None)
        assert torch.equal(value[rows], now[rows]), key
        for old, new in zip(state, moments(run, now), strict=True):
            assert torch.equal(old[rows], new[rows]), key


def theirs(run: TwoLevel, own: set[int]) -> dict[str, Tensor]:
    """Return what belongs to single tasks: grouped rows, and adapters but for the first task's."""
    return {
        key: each
        for key, each in run.network.named_parameters()
        if id(each) in own or (".adapters." in key and key.split(".")[4] != "0")
    }


def moments(run: TwoLevel, parameter: Tensor) -> list[Tensor]:
    """Return copies of both moments of a parameter, (N, …) where its rows are tasks."""
    for adam in run.phi_adam:
        for place, each in enumerate(adam.group.parameters):
            if each is parameter:
                return [adam.first[place].clone(), adam.second[place].clone()]
    state = run.theta_adam.state[parameter]
    return [state["exp_avg"].clone(), state["exp_avg_sq"].clone()]


def stir(model: Network) -> None:
    """Give a network large random weights, so that its hypotheses differ."""
    stream = torch.Generator().manual_seed(4)
    for parameter in model.parameters():
        parameter.data += 0.4 * torch.randn(parameter.shape, generator=stream)


def sentences(lengths: Sequence[int] = (3, 9, 1, 5, 12, 2, 7)) -> list[Tensor]:
    """Return random sources with as many pieces and the end symbol."""
    stream = torch.Generator().manual_seed(9)
    return [
        torch.cat([torch.randint(4, ENTRIES, (n,), generator=stream), torch.tensor([EOS])])
        for n in lengths
    ]


def kinds_of(name: str) -> tuple[str, ...]:
    """Return the gates with which a method decodes."""
    return ("soft", "hard") if card(name).about.gates else ("plain",)


def require_equal_in_any_batch(model: Network, name: str, tasks: int) -> None:
    """Check that each hypothesis is the same alone, among others, and in another order."""
    stir(model)
    sources, cpu = sentences(), torch.device("cpu")
    languages = tasks_of(tasks, len(sources)).tolist()
    order = [4, 1, 6, 0, 5, 3, 2]
    for kind in kinds_of(name):
        beam = Beam(model.use_gates(kind), Dictionary(ENTRIES), SEARCH)
        together = hypotheses(beam, sources, languages, cpu)
        shuffled = ([row[i] for i in order] for row in (sources, languages))
        assert hypotheses(beam, sources, languages, cpu, sentences=1) == together
        assert hypotheses(beam, *shuffled, cpu, sentences=3) == [together[i] for i in order]
        assert len({tuple(each) for each in together}) > 1


@pytest.mark.slow
@every
def test_translations_do_not_depend_on_what_a_batch_holds(name):
    require_equal_in_any_batch(example_network(name), name, card(name).about.example.tasks)


@every_choice
def test_a_fused_batch_equals_one_pass_for_each_task(name, changes):
    source, previous, target = batch(LENGTHS)
    tokens = sum(pair[1] for pair in LENGTHS)
    fused, apart = example_network(name, **changes), example_network(name, **changes)
    tasks = tasks_of(card(name).about.example.tasks, len(LENGTHS))
    for model in (fused, apart):
        model.start_update(1, 1)
    loss = nll(padded_logits(fused, source, previous, tasks), target) / tokens
    loss.backward()
    total = 0.0
    for task in tasks.unique():
        rows = tasks == task
        pieces = [
            max(pair[side] for pair, row in zip(LENGTHS, rows, strict=True) if row)
            for side in (0, 1)
        ]
        part = nll(
            padded_logits(
                apart, source[rows, : pieces[0]], previous[rows, : pieces[1]], tasks[rows]
            ),
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
    source, previous, _ = batch(LENGTHS)
    tasks = tasks_of(card(name).about.example.tasks, len(LENGTHS))
    order = torch.tensor([2, 0, 3, 1])
    for kind in kinds_of(name):
        model.use_gates(kind)
        logits = padded_logits(model, source, previous, tasks)
        shuffled = padded_logits(model, source[order], previous[order], tasks[order])
        assert torch.allclose(logits[order], shuffled, atol=TOLERANCE)


@every_choice
def test_a_gradient_reaches_every_parameter(name, changes):
    """Over a few updates: a method may leave layers out of one, or start with closed gates."""
    model = example_network(name, **changes)
    tasks = card(name).about.example.tasks
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-2)
    reached = set()
    for number in range(1, 9):
        optimiser.zero_grad()
        model.start_update(1, number)
        source, previous, target = batch(LENGTHS)
        nll(
            padded_logits(model, source, previous, tasks_of(tasks, len(LENGTHS))), target
        ).backward()
        reached |= {
            key
            for key, gradient in gradients(model).items()
            if gradient is not None and gradient.any()
        }
        optimiser.step()
    assert reached == {key for key, _ in model.named_parameters()}


def require_equal(logits: Tensor, expected: Tensor, name: str, mode: str) -> None:
    """Fail with what a method's author needs to know."""
    if not torch.equal(logits, expected):
        difference = (logits - expected).abs().max().item()
        hint = f"check the hooks of {name}, or `neutral` of its card; null: it never equals it"
        pytest.fail(f"{name} in {mode}: logits differ by up to {difference:.2g}; {hint}")


def test_a_method_that_is_not_neutral_fails_with_the_largest_difference_and_the_mode():
    with pytest.raises(pytest.fail.Exception) as failed:
        require_equal(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), "sample", "inference")
    assert all(part in str(failed.value) for part in ("sample", "inference", "0.5", "neutral"))


@every_choice
def test_in_its_neutral_state_it_equals_the_static_model_to_the_bit(name, changes):
    neutral = card(name).about.neutral
    if neutral is None:
        pytest.skip("it never equals the static model; its own tests say how near it comes")
    model = example_network(name, **changes, **neutral.settings)
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
        logits, expected = (
            padded_logits(each, source, previous, present) for each in (model, static)
        )
        require_equal(logits, expected, name, "training" if training else "inference")
    nll(logits, target).backward()
    nll(expected, target).backward()
    found = gradients(model)
    for key, gradient in gradients(static).items():
        assert torch.equal(gradient, found[key]), key


@every
def test_its_first_weights_are_the_static_models(name):
    if load(name).initialise is not Method.initialise:
        pytest.skip("it changes them")
    _, size, tasks = example(name)
    models = example_network(name), network(method("static", ()), size, tasks)
    for model in models:
        model.initialise()
    found = models[0].state_dict()
    for key, tensor in models[1].state_dict().items():
        assert torch.equal(found[key], tensor), key


@every
def test_its_parameters_are_counted_without_making_them(name):
    chosen, model, tasks = example(name)
    assert count(model, chosen, tasks, ENTRIES, ENTRIES) == count_parameters(
        network(chosen, model, tasks)
    )


@every
def test_methods_with_gates_say_how_deep_they_are(name):
    for side, each in example_network(name).methods.items():
        depth = each.depth()
        assert (depth is not None) is card(name).about.gates
        if depth:
            assert len(depth.by_task) == each.stack.tasks, side
            assert max(depth.by_task) <= each.stack.layers, side


@every
def test_groups_hold_parameters_of_the_network_each_once(name):
    model = example_network(name)
    own = [
        p for each in model.methods.values() for g in each.parameter_groups() for p in g.parameters
    ]
    assert len({id(parameter) for parameter in own}) == len(own)
    assert {id(each) for each in own} <= {id(each) for each in model.parameters()}
