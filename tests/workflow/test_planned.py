"""The trainings of a target: how far they are, and what is left."""

import pytest

from fathom.workflow.planned import Plan
from tests.support.run_files import write_training
from tests.support.targets import TABLE, targets

RUN = "latent_depth/m2o_diverse_12_12"


def test_a_target_has_its_trainings_by_paper_or_by_table(tmp_path):
    plan = Plan(targets(tmp_path), "h200")
    assert [*plan.groups("all", by_table=False)] == [
        "lamgd",
        "latent_depth",
        "transparent_attention",
    ]
    assert [*plan.groups(TABLE, by_table=True)] == [TABLE]
    assert set(plan.groups("all", by_table=True)[TABLE]) == set(plan.groups(TABLE, True)[TABLE])


def test_every_seed_is_a_training(tmp_path):
    plan = Plan(targets(tmp_path, seeds=3), None)
    assert [seed for _, seed in plan.trainings([RUN])] == [1, 2, 3]


def test_what_has_ended_is_not_left_and_says_how_long_others_take(tmp_path):
    made = targets(tmp_path, seeds=2)
    spec = made.runs.spec(RUN)
    write_training(spec, made.paths, totals={"updates": 10, "target_tokens": 1, "seconds": 7.0})
    first, second = Plan(made, None).trainings([RUN]).values()
    assert first.left == 0
    assert second.left == 1
    assert first.seconds == pytest.approx(0.7 * spec.training.updates)
    assert second.seconds == pytest.approx(first.seconds)
    # Of another device nothing is known from here.
    [named, _] = Plan(made, "h200").trainings([RUN]).values()
    assert named.seconds < first.seconds


def test_what_was_measured_on_the_named_device_replaces_its_stated_rate(tmp_path):
    made = targets(tmp_path, seeds=2)
    spec = made.runs.spec(RUN)
    totals = {"updates": 10, "target_tokens": 1, "seconds": 7.0}
    device = {"type": "cuda", "name": "NVIDIA H200", "threads": None, "count": 2}
    write_training(spec, made.paths, totals=totals, device=device)
    for gpu, count in (("h200", 1), ("a100", 0)):
        plan = Plan(made, gpu)
        assert plan.rates.count == count
        [_, second] = plan.trainings([RUN]).values()
        assert (second.seconds == pytest.approx(2 * 0.7 * spec.training.updates)) == bool(count)


def test_sources_that_are_not_there_are_downloads(tmp_path):
    made = targets(tmp_path)
    plan = Plan(made, None)
    names = [source.name for source in plan.downloads([RUN])]
    assert names
    folder = made.paths.source(names[0])
    folder.mkdir(parents=True)
    (folder / "source.json").write_text("{}")
    assert [source.name for source in plan.downloads([RUN])] == names[1:]


def test_the_row_that_is_trained_first_is_named(tmp_path):
    plan = Plan(targets(tmp_path), None)
    assert dict(plan.first([RUN])) == {f"{TABLE}, row 12/12": [RUN]}


def test_a_training_that_starts_from_another_one_has_that_one_too(tmp_path):
    plan = Plan(targets(tmp_path), "h200")
    adapters, base = "lamgd/domains_adapters", "lamgd/domains_transformer"
    assert [name for name, _ in plan.trainings([adapters])] == [base, adapters]
    assert [name for name, _ in plan.trainings([adapters, base])] == [base, adapters]
