"""What trainings took."""

from types import SimpleNamespace

import pytest

from fathom.artefacts.page.cost import ASSUMPTION, by_device, costs

CPU = {"type": "cpu", "name": "x86_64", "threads": 2}
GPU = {"type": "cuda", "name": "NVIDIA H200", "threads": None}


def run(name, *devices, seconds=1800.0):
    """Return a run with a training of half an hour on each device."""
    trainings = tuple(
        SimpleNamespace(
            file=SimpleNamespace(
                device=device, totals=SimpleNamespace(seconds=seconds, target_tokens=1000)
            )
        )
        for device in devices
    )
    return SimpleNamespace(short_name=name, ended=trainings)


def test_each_run_has_hours_tokens_and_energy():
    (cost,) = costs([run("a", CPU, CPU)])
    assert (cost.name, cost.device, cost.trainings) == ("a", "x86_64, 2 threads", 2)
    assert (cost.hours, cost.tokens) == (1.0, 2000)
    assert cost.watt_hours == pytest.approx(2 * 8 * 1.2)


def test_devices_are_summed_apart():
    listed = costs([run("a", CPU), run("b", GPU), run("c", GPU, CPU), run("d")])
    sums = {cost.device: (cost.trainings, cost.hours) for cost in by_device(listed)}
    assert sums == {"x86_64, 2 threads": (2, 1.0), "NVIDIA H200": (2, 1.0)}


def test_a_gpu_takes_the_power_of_its_data_sheet():
    (known,) = costs([run("a", GPU, seconds=3600)])
    (other,) = costs([run("a", GPU | {"name": "Other"}, seconds=3600)])
    assert known.watt_hours == pytest.approx(700 * 1.2)
    assert other.watt_hours == pytest.approx(400 * 1.2)


def test_devices_that_share_a_training_all_count():
    one, four = (costs([run("a", GPU | {"count": count})])[0] for count in (1, 4))
    assert four.hours == 4 * one.hours
    assert four.watt_hours == pytest.approx(4 * one.watt_hours)


def test_the_assumption_names_its_numbers():
    assert all(number in ASSUMPTION for number in ("8 W", "H200 700 W", "400 W", "1.2"))
