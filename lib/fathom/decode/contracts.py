"""What every method promises, checked on the tiny network of its card's example.

A contract yields what breaks it: nothing for a method that keeps it. Networks have the norm, depth,
tasks and settings of the example, and no dropout.
"""

import inspect
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from fathom.config import plugins
from fathom.config.schedules import learning_rate
from fathom.config.schema.method import MethodCard
from fathom.config.schema.run import Decoding, MethodSettings, Model, TrainingSettings
from fathom.data.tensors import PAD
from fathom.decode.beam import Beam
from fathom.decode.translate import hypotheses
from fathom.io.errors import FathomError, closest
from fathom.methods.build import build, count, load
from fathom.nn.hooks import Method
from fathom.nn.loss import token_nll
from fathom.nn.network import Batch, Entries, Network, count_parameters
from fathom.nn.weights import load_weights, write_checkpoint
from fathom.train.ranks import Ranks
from fathom.train.two_level import TwoLevel
from fathom.train.update_batches import MicroBatches

EOS, ENTRIES = 2, 23
# Source and target pieces of the sentences of a batch, with end symbols.
LENGTHS = ((5, 4), (3, 6), (7, 2), (4, 4))
# Of sums of the same terms in another order, in float32; times 1 and the largest of the terms.
TOLERANCE = 1e-5
SEARCH = Decoding(average_of=1, beam=3, length_penalty=1.0, cap_ratio=1.5, cap_constant=4)
_MODEL = {"architecture": "transformer", "width": 16, "ffn": 24, "heads": 4, "dropout": 0.0}
_RATE = {"name": "inverse_sqrt", "learning_rate": 0.01, "warmup": 2}
_BATCH, _ADAM = {"tokens": 60, "per": "task"}, {"betas": [0.9, 0.98], "eps": 1e-6}
_TRAINING = {"updates": 8, "batch": _BATCH, "schedule": _RATE, "adam": _ADAM, "clip": 1.0}
# Without one of them nothing changes a layer.
_CHANGES = {"initialise", "source", "keep", "residual", "block", "after"}
_CHANGES |= {"memory", "begin"}
_OF_SENTENCES = ("source", "previous_target", "target", "tasks", "sentences")


def shape(**changes: object) -> Model:
    """Return a tiny Transformer without dropout."""
    sizes = {"encoder_layers": 3, "decoder_layers": 3, "norm": "pre", "tie_embeddings": "decoder"}
    return Model.model_validate(_MODEL | sizes | changes)


def network(method: MethodSettings, model: Model, tasks: int) -> Network:
    """Return a network whose weights do not depend on its method."""
    torch.manual_seed(7)
    return build(model, method, tasks, Entries(ENTRIES), Entries(ENTRIES))


def sentences(lengths: Sequence[tuple[int, int]] = LENGTHS, tasks: int = 2, seed: int = 3) -> Batch:
    """Return random sentences as training gives them, of the tasks in turns.

    `lengths` are source and target pieces of each sentence, with the end symbol.
    """
    draw = partial(torch.randint, 4, ENTRIES, generator=torch.Generator().manual_seed(seed))
    sides = [
        [torch.cat([draw((length - 1,)), torch.tensor([EOS])]) for length in side]
        for side in zip(*lengths, strict=True)
    ]
    source, target = (pad_sequence(side, batch_first=True, padding_value=PAD) for side in sides)
    previous = target.roll(1, 1)
    previous[:, 0] = EOS
    previous[target == PAD] = PAD
    rows, (of_source, of_target) = torch.arange(len(lengths)), zip(*lengths, strict=True)
    on_host = of_source, of_target, tuple((rows % tasks).tolist())
    return Batch(source, previous, target, rows % tasks, rows, sum(of_target), *on_host)


def sources(lengths: Sequence[int]) -> list[Tensor]:
    """Return random source sentences of so many pieces, with the end symbol."""
    batch = sentences([(length, 1) for length in lengths])
    return [row[row != PAD] for row in batch.source]


def stir(model: Network) -> Network:
    """Add large random numbers to all parameters, so that hypotheses differ."""
    stream = torch.Generator().manual_seed(4)
    for parameter in model.parameters():
        parameter.data += 0.4 * torch.randn(parameter.shape, generator=stream)
    return model


def gradients(module: nn.Module) -> dict[str, Tensor | None]:
    """Return each parameter's gradient by name."""
    return {name: each.grad for name, each in module.named_parameters()}


@dataclass(frozen=True)
class ExampleNetwork:
    """The network of a card's example, with some settings changed."""

    card: MethodCard
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tasks(self) -> int:
        """Its number of tasks."""
        return self.card.about.example.tasks

    @property
    def model(self) -> Model:
        """Its size."""
        layers, norm = self.card.about.example.layers, self.card.about.norms[0]
        return shape(encoder_layers=layers, decoder_layers=layers, norm=norm)

    @property
    def method(self) -> MethodSettings:
        """Its method, on all stacks that the card allows."""
        values = {**self.card.about.example.settings, **self.changes}
        return self.card.method.model_validate({"name": self.card.name, **values})

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates with which it decodes."""
        return ("soft", "hard") if self.card.about.gates else ("plain",)

    @property
    def batch(self) -> Batch:
        """Sentences of its tasks."""
        return sentences(tasks=self.tasks)

    def network(self) -> Network:
        """Return a new network."""
        return network(self.method, self.model, self.tasks)

    def without_method(self) -> Network:
        """Return a network of the same size and weights, with the method on no stack."""
        return network(self.method.model_copy(update={"stacks": ()}), self.model, self.tasks)

    def training(self) -> TwoLevel:
        """Return a new network with the optimisers of a training."""
        settings = TrainingSettings.model_validate(_TRAINING)
        rate = learning_rate(settings.schedule, width=self.model.width, updates=8)
        return TwoLevel(self.network(), settings, rate, 1, Ranks(0, 1))


def update(run: TwoLevel, number: int, batch: Batch) -> float:
    """Make an update, and return its NLL in nats per token."""
    micro_batches = MicroBatches([batch], batch.tokens, batch.tasks.unique())
    return run.update(number, micro_batches).nll.item()


def loss_of(model: Network, batch: Batch) -> Tensor:
    """Return the NLL of a batch, in nats per token of `sentences`."""
    return token_nll(model.predict(batch)).sum() / sum(target for _, target in LENGTHS)


def differences(
    what: str,
    found: Mapping[str, Tensor | None],
    expected: Mapping[str, Tensor | None],
    tolerance: float = 0.0,
) -> Iterator[str]:
    """Yield the largest difference of tensors by name, if it is above a tolerance."""
    sizes = {what: 0.0}
    for name, tensor in expected.items():
        other, allowed = found[name], tolerance
        if tensor is None or other is None:
            size = 0.0 if tensor is other else math.inf
        else:
            allowed *= 1 + tensor.abs().max().item()
            size = (other - tensor).abs().nan_to_num(math.inf).max().item()
        sizes[name] = 0.0 if size <= allowed else size
    place = max(sizes, key=sizes.__getitem__)
    if sizes[place]:
        yield f"{what}: {place} differs by up to {sizes[place]:.2g}"


# The contracts


def settings(example: ExampleNetwork) -> Iterator[str]:
    """The class takes the card's settings as keywords without defaults."""
    _, _, *found = inspect.signature(load(example.card.name).__init__).parameters.values()
    keyword = inspect.Parameter("_", inspect.Parameter.KEYWORD_ONLY)
    expected = [keyword.replace(name=name) for name in example.card.about.settings]
    found = [each.replace(annotation=each.empty) for each in found]
    if not any(each.kind is each.VAR_KEYWORD for each in found):
        for each in {*found} ^ {*expected}:
            yield f"'{each}' is a keyword without default, or a setting, and not both"


def hooks(example: ExampleNetwork) -> Iterator[str]:
    """The class overrides hooks, with their parameters."""
    valid = {name: each for name, each in vars(Method).items() if name[0] != "_"}
    members = {name: each for name, each in vars(load(example.card.name)).items() if name[0] != "_"}
    for name, member in members.items():
        if name in valid:
            found, expected = map(inspect.signature, (member, valid[name]))
            if [*found.parameters] != [*expected.parameters]:
                yield f"{name}{found} should be {name}{expected}"
        elif near := closest(name, valid, 0.7):
            yield f"no hook '{name}'; nearest valid name: '{near}'"
    if example.card.about.stacks and not members.keys() & _CHANGES:
        yield f"overrides none of {', '.join(sorted(_CHANGES))}"


def training(example: ExampleNetwork) -> Iterator[str]:
    """The loss is finite and falls."""
    run = example.training()
    losses = [update(run, number, example.batch) for number in range(1, 9)]
    if not all(map(math.isfinite, losses)) or losses[-1] >= losses[0]:
        yield f"NLL of 8 updates: {', '.join(f'{loss:.3g}' for loss in losses)}"


def draws(example: ExampleNetwork) -> Iterator[str]:
    """An update is random by its seed, number and stack alone."""
    model, losses = example.network(), []
    for seed in (1, 2):
        torch.manual_seed(seed)
        model.start_update(1, 3)
        losses += [{"the loss": loss_of(model, example.batch)} for _ in range(2)]
    yield from differences("a second pass", losses[1], losses[0])
    yield from differences("torch's default generator at another seed", losses[2], losses[0])


def resume(example: ExampleNetwork) -> Iterator[str]:
    """Two updates, a checkpoint and two more are four updates, to the bit."""
    whole, resumed = example.training(), example.training()
    # Even updates are of one task alone.
    batches = [sentences(tasks=each, seed=each) for each in (1, example.tasks)]
    for number in (1, 2):
        update(whole, number, batches[number % 2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "last.pt"
        state = {"model": whole.network.state_dict(), "optimisers": whole.state_dict()}
        write_checkpoint(path, state)
        load_weights(resumed.network, path)
        resumed.load_state_dict(torch.load(path, weights_only=True)["optimisers"])
    for run in (whole, resumed):
        for number in (3, 4):
            update(run, number, batches[number % 2])
    found, expected = (run.network.state_dict() for run in (resumed, whole))
    yield from differences("resumed", found, expected)


def batches(example: ExampleNetwork) -> Iterator[str]:
    """A sentence is translated alike in any batch."""
    model = stir(example.network())
    texts, order = sources((4, 10, 2, 6, 13, 3, 8)), [4, 1, 6, 0, 5, 3, 2]
    tasks = [number % example.tasks for number in range(len(texts))]
    for gates in example.gates:
        beam = Beam(model.use_gates(gates), Entries(ENTRIES), SEARCH)
        search = partial(hypotheses, beam, device=torch.device("cpu"))
        together = search(sources=texts, tasks=tasks)
        if search(sources=texts, tasks=tasks, sentences=1) != together:
            yield f"{gates} gates: a sentence alone has another hypothesis"
        shuffled = {"sources": [texts[n] for n in order], "tasks": [tasks[n] for n in order]}
        if search(**shuffled, sentences=3) != [together[n] for n in order]:
            yield f"{gates} gates: a hypothesis depends on the order of sentences"


def mixed(example: ExampleNetwork) -> Iterator[str]:
    """A batch of several tasks is like a pass for each task."""
    batch, fused, apart = example.batch, example.network(), example.network()
    for model in (fused, apart):
        torch.manual_seed(1)
        model.start_update(1, 1)
    losses = [loss_of(fused, batch)]
    losses[0].backward()
    for task in batch.tasks.unique():
        rows = batch.tasks == task
        parts = {name: getattr(batch, name)[rows] for name in _OF_SENTENCES}
        losses.append(loss_of(apart, Batch(**parts, tokens=0)))
        losses[-1].backward()
    found, expected = {"the loss": losses[0]}, {"the loss": torch.stack(losses[1:]).sum()}
    found, expected = found | gradients(fused), expected | gradients(apart)
    yield from differences("a pass for each task", found, expected, TOLERANCE)


def gradient(example: ExampleNetwork) -> Iterator[str]:
    """A gradient reaches every parameter in 8 updates; an update may leave out layers."""
    model = example.network()
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-2)
    missing = {name for name, _ in model.named_parameters()}
    for number in range(1, 9):
        optimiser.zero_grad()
        model.start_update(1, number)
        loss_of(model, example.batch).backward()
        missing -= {n for n, each in gradients(model).items() if each is not None and each.any()}
        optimiser.step()
    yield from (f"no gradient reaches {name}" for name in sorted(missing)[:1])


def neutral(example: ExampleNetwork) -> Iterator[str]:
    """The `neutral` state of the card is the static model, to the bit; null: none is."""
    state = example.card.about.neutral
    if state is None:
        return
    model = ExampleNetwork(example.card, {**example.changes, **state.settings}).network()
    for stack in example.method.stacks:
        for name, value in state.parameters.items():
            model.methods[stack].get_parameter(name).data.fill_(value)
    models, results = (model, example.without_method()), []
    for is_training in (True, False):
        what = "training" if is_training else "inference"
        for each in models:
            each.train(is_training).start_update(1, 1)
            results.append({"a logit": each.predict(example.batch).logits})
        yield from differences(what, *results[-2:])
    for each in models:
        loss_of(each, example.batch).backward()
    expected = gradients(models[1])
    yield from differences("gradients", gradients(model), expected)


def weights(example: ExampleNetwork) -> Iterator[str]:
    """Without `initialise`, first weights are the static model's."""
    models = example.network(), example.without_method()
    if any(method.overrides("initialise") for method in models[0].methods.values()):
        return
    for model in models:
        model.initialise()
    found, expected = (model.state_dict() for model in models)
    yield from differences("first weights", found, expected)


def counts(example: ExampleNetwork) -> Iterator[str]:
    """The network is built without memory, and counts its parameters; groups are among them."""
    model = example.network()
    counted = count(example.model, example.method, example.tasks, ENTRIES, ENTRIES)
    if counted != (expected := count_parameters(model)):
        yield f"{counted['total']} parameters without memory, {expected['total']} with it"
    groups = [group for method in model.methods.values() for group in method.parameter_groups()]
    grouped = [id(parameter) for group in groups for parameter in group.parameters]
    if len({*grouped} & {id(each) for each in model.parameters()}) != len(grouped):
        yield "a parameter of a group is in two groups, or not in the network"


def depth(example: ExampleNetwork) -> Iterator[str]:
    """A method with gates, and no other, tells how deep each task is."""
    for side, method in example.network().methods.items():
        tells, most = method.depth(), method.stack.layers
        if (tells is not None) is not (type(method) is not Method and example.card.about.gates):
            yield f"{side}: `gates` of the card and `depth` disagree"
        elif tells and (len(tells.by_task) != example.tasks or max(tells.by_task) > most):
            yield f"{side}: {tells.by_task} is not a depth, at most {most}, of each task"


_ALL = (settings, hooks, training, draws, resume, batches, mixed, gradient, neutral, weights)
# By name.
CONTRACTS = {each.__name__: each for each in (*_ALL, counts, depth)}


def examples(card: MethodCard) -> list[ExampleNetwork]:
    """Return a card's example, and one for each value of settings with named values."""
    choices = [
        {name: value}
        for name, setting in card.about.settings.items()
        for value in (setting.values if setting.type == "string" else ())
        if value != setting.default
    ]
    return [ExampleNetwork(card, changes) for changes in ({}, *choices)]


def check(card: MethodCard) -> dict[str, list[str]]:
    """Return what breaks a contract, by its name; nothing for a method that keeps them all.

    Checked are its example and named choices.
    """
    torch.set_num_threads(1)  # more are slower with tensors this small
    broken: dict[str, list[str]] = {}
    for name, example in product(CONTRACTS, examples(card)):
        try:
            with plugins.running(card.name):
                found = [*CONTRACTS[name](example)]
        except FathomError as error:
            found = [error.what]
        if found:
            changes = "".join(f"{setting} {value}: " for setting, value in example.changes.items())
            broken[name] = broken.get(name, []) + [changes + what for what in found]
    return broken
