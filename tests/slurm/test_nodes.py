"""Longer cases, for `make test-slurm-all`: a node that goes down, two nodes."""

import pytest

from tests.slurm.conftest import ROW, TARGET

pytestmark = [pytest.mark.slurm, pytest.mark.slow]


def test_a_job_whose_node_goes_down_runs_again_from_its_last_save(case):
    case.variables |= {"TRIAL_UPDATES": "120"}
    head = case.start()
    case.wait_for_update(12)
    number = case.job()
    node = case.cluster.call("squeue", "-h", "-j", number, "-o", "%N")
    case.cluster.call("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    try:
        case.cluster.hurry(number)
    finally:
        case.cluster.call("scontrol", "update", f"nodename={node}", "state=resume", check=False)
    case.end(head)
    update = case.attempts()[1].split()[1]
    assert case.attempts()[2:] == [f"from {update} job {number}", "to 120 finished"]


def test_a_training_on_two_nodes_starts_a_process_for_each_device(case):
    """The stand-in counts as many starts as there are processes."""
    given = ("--set-resources", "train_run:nodes=2", "train_run:gres=gpu:2")
    head = case.start(TARGET, "--until", "train_run", *given, *ROW)
    case.end(head)
    assert case.starts() == 4
    assert case.attempts()[-1] == "to 60 finished"
