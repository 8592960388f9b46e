"""What a start prints before it submits anything: one message, and nothing of Snakemake's."""

import pytest

from tests.slurm.conftest import ROW, TARGET
from tests.support.refused import says

pytestmark = pytest.mark.slurm


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--default-resources", "partition=mian"),
            says("no partition 'mian' (`partition` of the command line)", nearest="main"),
        ),
        (
            ("--set-resources", "train_run:runtime=1441"),
            says("is more than partition main gives (1440)"),
        ),
        (
            ("--set-resources", "train_run:gres=gpu:8"),
            says("is more than partition main gives (4)"),
        ),
        (("--set-resources", "train_run:constraint=fast"), says("Slurm refuses")),
    ],
)
def test_a_start_that_slurm_would_refuse_is_refused_in_one_message(case, words, message):
    printed = case.end(case.start(TARGET, *words, *ROW), 1)
    lines = printed.strip().split("\n")
    message.check(lines[-1])
    assert "Traceback" not in printed
    assert "rror submitting" not in printed
    assert sum("train_run" in line and "slurm-attach:" in line for line in lines) == 1
    assert case.cluster.jobs() == []


def test_a_slurm_that_is_away_is_one_message(case):
    case.cluster.end_controller()
    try:
        printed = case.end(case.train(), 1)
    finally:
        case.cluster.start_controller()
    says("Slurm does not answer").check(printed.strip().split("\n")[-1])


def test_devices_that_cannot_share_an_update_are_refused(case):
    """A number of GPUs that does not divide."""
    given = ("--set-resources", "train_run:gres=gpu:3", "--slurm-attach-gpu-mem-mb", "100")
    words = (TARGET, *given, *ROW, "micro_batches=8")
    printed = case.end(case.start(*words), 1)
    says("multiples of 8 micro-batches, which 3 devices cannot share").check(
        printed.strip().split("\n")[-1]
    )
    assert case.cluster.jobs() == []
