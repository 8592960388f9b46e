"""`fathom plan`: the cost of a target."""

import json
import re

import pytest

from tests.cli.conftest import invoke
from tests.support.refused import says
from tests.support.small_project import RUN


def test_it_prints_a_line_for_each_paper_and_one_for_all(project, call):
    answer = call("plan")
    assert answer.code == 0
    titles = [line.partition("\t")[0] for line in answer.lines]
    assert titles[1:3] == ["sample", "all"]
    assert not (project / "results").exists()


def test_times_are_in_units_that_a_reader_takes_in(project, call):
    """Hours were printed, such as 0.000248."""
    lines = call("plan", "sample_table1", "--gpu", "0.001").lines
    heading, *rows = (line.split("\t") for line in lines if "\t" in line)
    assert heading[4:6] == ["device time", "time left"]
    unit = re.compile(r"< 1 s|[\d.,]+ (s|min|h)")
    assert all(unit.fullmatch(text) for row in rows for text in row[4:6])
    (wall,) = (line for line in lines if line.startswith("wall time"))
    assert unit.search(wall)
    content = json.loads(call("plan", "sample_table1", "--gpu", "0.001", "--json").out)
    assert isinstance(content["wall_hours"], float)


def test_more_devices_shorten_the_wall_time_to_that_of_one_training_at_most(project, call):
    one, two, many = (
        json.loads(call("plan", "--devices", count, "--json").out)["wall_hours"]
        for count in ("1", "2", "99")
    )
    assert one / 2 <= two < one
    assert many == pytest.approx(two, rel=0.5)


def test_a_table_and_a_device_can_be_named(project, call):
    content = json.loads(call("plan", "sample_table1", "--table", "--gpu", "a100", "--json").out)
    assert set(content["groups"]) == {"sample_table1", "all"}
    assert content["measured_trainings"] == 0
    slower = json.loads(call("plan", "sample_table1", "--gpu", "31.2", "--json").out)
    ratio = slower["groups"]["all"]["hours"] / content["groups"]["all"]["hours"]
    assert ratio == pytest.approx(10)


def test_a_mistyped_target_and_device_are_refused_in_one_line(project, call):
    says("unknown", "target", "al", nearest="all").check(call("plan", "al").one_line)
    says("no device", "h20", where="--gpu").check(call("plan", "--gpu", "h20").one_line)


@pytest.mark.slow
def test_finished_trainings_are_counted_and_measured(own, summarised, call):
    invoke(own(summarised))
    content = json.loads(call("plan", "--json").out)
    states = {one["run"]: one["state"] for one in content["trainings"]}
    assert states[f"sample/{RUN}"] == "finished"
    assert content["measured_trainings"] >= 1
    assert content["groups"]["all"]["hours_left"] < content["groups"]["all"]["hours"]
