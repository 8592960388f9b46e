"""From YAML to checked settings."""

import pytest
from fathom.config.families import read_runs
from fathom.config.resolve import resolve

from fathom.config.yaml_values import read
from tests.runs.test_scales import RUNS
from tests.support.refused import prose, says
from tests.support.specs import card

CARDS = {name: card(name) for name in ("static", "adapters", "latent_layers", "dlcl")}


@pytest.fixture
def resolved(tmp_path):
    def one(run, name="x"):
        (tmp_path / "runs.yaml").write_text(RUNS + f"  {name}: {run}\n")
        return resolve(read_runs(read(tmp_path / "runs.yaml", tmp_path))[name], CARDS)

    return one


def test_stacks_default_to_all_that_the_card_allows(resolved):
    assert resolved("{like: static, method: dlcl}").run.method.stacks == ("encoder", "decoder")
    assert resolved("{like: static}").run.method.stacks == ()


def test_a_preset_fills_what_the_run_does_not_give(resolved):
    run = resolved(
        "{like: static, method: {name: latent_layers, preset: as_released, tau: 2.0}}"
    ).run
    assert (run.method.tau, run.method.sample) == (2.0, "straight_through")


def test_all_findings_of_a_run_come_at_once(resolved):
    run = resolved("{like: static, model: {width: 8.0}, method: {name: dlcl, p: 1}, seed: 3}")
    assert run.run is None
    assert len(run.findings) == 3
    says("unknown key", "p", where="runs.x.method.p", remedy="stacks").check(run.findings)
    says("wrong type", "8.0", "a whole number", where="runs.x.model.width").check(run.findings)
    says("unknown key", "seed", where="runs.x.seed", nearest="seeds").check(run.findings)


@pytest.mark.parametrize(
    ("run", "what"),
    [
        ("{like: static, method: statc}", says("unknown", "method", "statc", nearest="static")),
        (
            "{like: static, method: {name: latent_layers, preset: released}}",
            says("preset", "latent_layers", "released", nearest="as_released"),
        ),
        ("{layers: 6/6}", says("no method")),
    ],
)
def test_a_method_that_does_not_exist_is_refused_with_the_nearest(resolved, run, what):
    first = resolved(run).findings[0]
    what.check(first)
    assert first.where.startswith("runs.yaml:")


def test_what_is_missing_is_placed_at_the_run(resolved):
    found = resolved("{layers: 6/6, method: static}").findings
    says("no value", where="runs.x.training", remedy=prose("add the key")).check(found)
