"""What Slurm's answers mean: states, reasons, refusals, silence, garbage."""

import os

import pytest

from snakemake_executor_plugin_slurm_attach import slurm
from snakemake_executor_plugin_slurm_attach.slurm import Answer, Row, ask

TITLES = "JOBID|NAME|STATE|REASON"
# Of Slurm 22.05 to 25.05. Those that end when other jobs end, or by time.
WAITS = """None Priority Resources Dependency Licenses BeginTime Cleaning Prolog NodeDown
PartitionDown PartitionInactive ReqNodeNotAvail Reservation AssociationJobLimit
AssociationResourceLimit QOSJobLimit QOSResourceLimit QOSUsageThreshold QOSGrpCpuLimit
QOSGrpCPURunMinutesLimit QOSGrpJobsLimit QOSGrpMemLimit QOSGrpNodeLimit QOSGrpSubmitJobsLimit
QOSGrpGRES QOSGrpGRESRunMinutes QOSMaxCpuPerUserLimit QOSMaxJobsPerUserLimit QOSMaxNodePerUserLimit
QOSMaxSubmitJobPerUserLimit QOSMaxGRESPerUser QOSMaxMemoryPerUser QOSMaxJobsPerAccountLimit
AssocGrpCpuLimit AssocGrpCPURunMinutesLimit AssocGrpJobsLimit AssocGrpNodeLimit AssocGrpGRES
AssocMaxJobsLimit AssocMaxSubmitJobLimit JobArrayTaskLimit FedJobLock A_Reason_Of_Tomorrow"""
NEVER = """PartitionNodeLimit PartitionTimeLimit AssociationTimeLimit QOSTimeLimit BadConstraints
QOSNotAllowed AccountNotAllowed InvalidAccount InvalidQOS DependencyNeverSatisfied
ReservationDeleted QOSMaxCpuPerJobLimit QOSMaxCpuMinutesPerJobLimit QOSMaxNodePerJobLimit
QOSMaxWallDurationPerJobLimit QOSMinCpuNotSatisfied QOSMinGRES QOSMaxGRESPerJob QOSMaxGRESPerNode
QOSMaxGRESMinutesPerJob AssocMaxCpuPerJobLimit AssocMaxCPUMinutesPerJobLimit
AssocMaxNodePerJobLimit AssocMaxWallDurationPerJobLimit AssocMaxGRESPerJob"""
BUDGET = "AssocGrpCPUMinutesLimit AssocGrpGRESMinutes QOSGrpCPUMinutesLimit QOSGrpGRESMinutes"
HELD = ["JobHeldUser", "JobHeldAdmin", "launch failed requeued held", "JobHoldMaxRequeue"]


@pytest.mark.parametrize(
    ("reasons", "word"),
    [
        (WAITS.split(), None),
        (NEVER.split(), "scancel 7, change what it asks for"),
        (BUDGET.split(), "time is used up"),
        (HELD, "scontrol release 7"),
    ],
)
def test_each_reason_waits_by_itself_or_for_a_person(reasons, word):
    """The ninth job of a user who may have eight GPUs was reported as stuck."""
    for reason in reasons:
        cure = Row(7, "sa-x", "PENDING", reason).cure
        assert (cure and word in cure) if word else cure is None, reason
        assert Row(7, "sa-x", "RUNNING", reason).cure is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TITLES, []),
        (f"{TITLES}\n9|sa-b|PENDING|Priority\n7|sa-a|RUNNING|None", [(7, "sa-a"), (9, "sa-b")]),
        # A heterogeneous job, an array and other jobs of the user, a banner and a cluster's title.
        (
            f"Welcome\nCLUSTER: toy\n{TITLES}\n27+0|sa-x|RUNNING|None\n8_[1-4]|x|PENDING|None"
            "\n8_5|sa-x|RUNNING|None\n11|interactive|RUNNING|None\n12|sa-c|RUNNING|a|b",
            [(12, "sa-c")],
        ),
        ("", None),
        ("<html>502 Bad Gateway</html>", None),
        ("7|sa-a|RUNNING|None", None),
    ],
)
def test_a_list_has_its_titles_and_only_rows_of_this_plugin_count(answers, text, found):
    """A heterogeneous job of the same user silenced Slurm for all others."""
    answers("squeue", text, message="a banner on stderr")
    rows = slurm.rows()
    assert (rows and [(row.number, row.name) for row in rows]) == found or (rows == found == [])
    answers("squeue", text, code=1, message="Unable to contact slurm controller")
    assert slurm.rows() is None


@pytest.mark.parametrize(
    ("answer", "lives"),
    [
        ({"text": "JobId=7 JobName=sa-x UserId=0 JobState=RUNNING Reason=None"}, True),
        ({"text": "JobId=7 JobName=sa-x UserId=0 JobState=COMPLETED Reason=None"}, False),
        ({"text": "JobId=7 JobName=other UserId=0 JobState=RUNNING Reason=None"}, False),
        ({"code": 1, "message": "slurm_load_jobs error: Invalid job id specified"}, False),
        ({"code": 1, "message": "Unable to contact slurm controller"}, None),
        ({"text": "<html>502</html>"}, None),
    ],
)
def test_a_job_that_a_list_left_out_is_asked_for_by_number_and_name(answers, answer, lives):
    answers("scontrol", **answer)
    assert slurm.is_live(7, "sa-x") is lives


LIMITS = "(job submit limit, user's size and/or time limits)"
POLICY = f"sbatch: error: Batch job submission failed: Job violates accounting/QOS policy {LIMITS}"


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        (f"sbatch: error: QOSMaxSubmitJobPerUserLimit\n{POLICY}", {"is_limit"}),
        (f"sbatch: error: AssocMaxSubmitJobLimit\n{POLICY}", {"is_limit"}),
        (f"sbatch: error: QOSMaxWallDurationPerJobLimit\n{POLICY}", set()),
        ("sbatch: error: Invalid account or account/partition combination", {"is_permanent"}),
        ("sbatch: error: Requested node configuration is not available", {"is_permanent"}),
        ("sbatch: error: Socket timed out on send/recv operation", {"is_lost"}),
        ("Unable to contact slurm controller (connect failure)", {"is_lost"}),
        ("nobody knows this", set()),
    ],
)
def test_a_refusal_is_for_now_or_for_ever_or_no_answer(message, kinds):
    """10 of 11 trainings failed at a limit of jobs in the queue."""
    answer = Answer(1, message=f"a banner\n{message}")
    names = ("is_limit", "is_permanent", "is_lost")
    assert {name for name in names if getattr(answer, name)} == kinds
    assert answer.reason in message
    assert "error:" not in answer.reason


@pytest.mark.parametrize(
    ("text", "code", "number"),
    [("12", 0, "12"), ("12;toy", 0, "12"), ("Welcome\n12", 0, "12"), ("Welcome", 124, "")],
)
def test_what_sbatch_answers_is_a_number_or_lost(answers, text, code, number):
    answers("sbatch", text)
    answer = slurm.submit("--wrap=true")
    assert (answer.code, answer.text) == (code, number)


def test_a_command_always_ends_and_never_raises(answers):
    answers("squeue", script="sleep 60")
    assert ask("squeue", seconds=0.2).code == 124
    assert ask("no-such-command").code == 127
    answers("squeue", script=r"printf '\377\376'")
    assert ask("squeue").code == 0


def test_ctrl_c_does_not_reach_a_command(answers, tmp_path):
    """It ended the scancel that it had caused."""
    answers("scancel", script=f"ps -o sid= -p $$ > {tmp_path}/session")
    slurm.cancel(7)
    assert int((tmp_path / "session").read_text()) != os.getsid(0)
