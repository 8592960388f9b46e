"""What every method promises; the tests list the folder, so a new method is held to them too."""

import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from fathom.config import plugins
from fathom.decode.contracts import (
    CONTRACTS,
    ExampleNetwork,
    check,
    examples,
    sentences,
    update,
)
from fathom.methods.build import load
from fathom.train.two_level import TwoLevel
from tests.support.small_networks import ROOT, card

pytestmark = pytest.mark.slow

CARDS = ROOT / "config" / "methods"


def choices() -> Iterator[object]:
    """Yield each method with each value that is not the default of a setting with named values."""
    for name in plugins.names("methods"):
        for this in examples(card(name))[1:]:
            ((setting, value),) = this.changes.items()
            yield pytest.param(name, this.changes, id=f"{name}-{setting}-{value}")


every_choice = pytest.mark.parametrize(
    ("name", "changes"),
    [*(pytest.param(name, {}, id=name) for name in plugins.names("methods")), *choices()],
)


def example(name: str, **changes: object) -> ExampleNetwork:
    """Return a method at the size and settings of its card's example."""
    return ExampleNetwork(card(name), changes)


def test_every_method_has_a_card_and_every_card_a_method():
    assert sorted(path.stem for path in CARDS.glob("*.yaml")) == plugins.names("methods")


@every_choice
@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_method_keeps_its_contracts(name, changes, contract):
    assert not [*CONTRACTS[contract](example(name, **changes))]


def test_all_contracts_are_checked_on_the_example_and_each_named_choice(monkeypatch):
    assert check(card("rezero")) == {}
    for name in CONTRACTS:
        monkeypatch.setitem(CONTRACTS, name, lambda _: ["broken"])
    broken = check(card("latent_layers"))
    assert [*broken] == [*CONTRACTS]
    choices = [each.changes for each in examples(card("latent_layers"))]
    assert choices[0] == {}
    for found in broken.values():
        assert found[0] == "broken"
        assert found[1:] == [
            f"{setting} {value}: broken" for each in choices for setting, value in each.items()
        ]


@pytest.mark.parametrize(
    ("option", "tests"),
    [
        ("--method=rezero", {f"keeps_its_contracts[{name}-rezero]" for name in CONTRACTS}),
        ("--metric=ter", {"keeps_the_contracts[ter]"}),
    ],
)
def test_the_contracts_of_one_method_or_metric_run_by_its_name(option, tests):
    command = [sys.executable, "-m", "pytest", "tests/contracts", option, "--collect-only", "-q"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = [line.partition("_keeps_")[2] for line in ended.stdout.splitlines() if "::" in line]
    assert {f"keeps_{each}" for each in found} == tests, ended.stdout


@pytest.mark.parametrize("name", ["group_dropout", "latent_layers"])
def test_a_class_that_keeps_its_settings_in_a_namespace_reads_every_one_of_them(name, monkeypatch):
    read = set()

    class Recording(SimpleNamespace):
        def __getattribute__(self, setting):
            read.add(setting)
            return super().__getattribute__(setting)

    monkeypatch.setattr(sys.modules[load(name).__module__], "SimpleNamespace", Recording)
    run = example(name).training()
    update(run, 1, sentences())
    for each in run.network.methods.values():
        each.depth()
    assert {each for each in read if not each.startswith("_")} == set(card(name).about.settings)


@every_choice
def test_what_belongs_to_an_absent_task_rests_with_its_moments(name, changes):
    """Rows of a group whose rows are tasks, and modules of which each belongs to a task."""
    tasks, run = example(name).tasks, example(name, **changes).training()
    for number in (1, 3):
        update(run, number, sentences(tasks=tasks, seed=number))
    own = {id(each) for group in run.phi if group.rows_are_tasks for each in group.parameters}
    before = {
        key: (each.detach().clone(), moments(run, each)) for key, each in theirs(run, own).items()
    }
    update(run, 2, sentences(tasks=1, seed=2))
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
