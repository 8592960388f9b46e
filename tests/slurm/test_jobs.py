"""What a cluster does to jobs, and what becomes of the training: real Slurm, stand-in trainer."""

import pytest

pytestmark = pytest.mark.slurm


def test_a_training_runs_to_its_end(case):
    head = case.start()
    case.end(head)
    assert case.attempts()[-1] == "to 60 finished"
    assert case.starts() == 1
