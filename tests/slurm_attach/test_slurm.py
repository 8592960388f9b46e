"""What Slurm's answers mean: states, reasons, refusals, silence, garbage."""

import os

import pytest

from snakemake_executor_plugin_slurm_attach import slurm
from snakemake_executor_plugin_slurm_attach.slurm import Answer, Row, ask

TITLES = "JOBID|NAME|STATE|REASON"
# The reasons of Slurm 22.05 to 25.05 by class; the limits are of each resource that Slurm counts.
RESOURCES = ("BB", "Billing", "CPU", "Cpu", "Energy", "GRES", "License", "Mem", "Memory", "Node")
OF_EACH = {
    "waits": "{0}Grp{1} {0}Grp{1}Limit {0}Grp{1}RunMinutes {0}Grp{1}RunMinutesLimit"
    " {0}Max{1}PerUser {0}Max{1}PerUserLimit Max{1}PerAccount Max{1}RunMinsPerUser"
    " Max{1}RunMinsPerAccount",
    "never": "{0}Max{1}PerJob {0}Max{1}PerJobLimit {0}Max{1}PerNode {0}Max{1}MinutesPerJob"
    " {0}Max{1}MinutesPerJobLimit {0}Min{1} QOSMinCpuNotSatisfied",
    "budget": "{0}Grp{1}Minutes {0}Grp{1}MinutesLimit {0}GrpWallLimit",
}
WAITS = """None Priority Resources Dependency Licenses BeginTime Cleaning Prolog SchedDefer NodeDown
PartitionDown PartitionInactive FrontEndDown PowerNotAvail PowerReserved BurstBufferResources
BurstBufferStageIn BurstBufferOperation AssociationJobLimit AssociationResourceLimit QOSJobLimit
QOSResourceLimit QOSUsageThreshold QOSGrpJobsLimit QOSGrpSubmitJobsLimit QOSMaxJobsPerUserLimit
QOSMaxSubmitJobPerUserLimit MaxJobsPerAccount MaxSubmitJobsPerAccount AssocGrpJobsLimit
AssocGrpSubmitJobsLimit AssocMaxJobsLimit AssocMaxSubmitJobLimit JobArrayTaskLimit FedJobLock
AccountingPolicy Constraints SystemFailure JobLaunchFailure
A_Reason_Of_Tomorrow"""
NEVER = """PartitionNodeLimit PartitionTimeLimit PartitionConfig AssociationTimeLimit QOSTimeLimit
BadConstraints QOSNotAllowed AccountNotAllowed InvalidAccount InvalidQOS DependencyNeverSatisfied
ReservationDeleted ReservationInvalid MaxMemPerLimit QOSMaxWallDurationPerJobLimit
AssocMaxWallDurationPerJobLimit"""
HELD = ["JobHeldUser", "JobHeldAdmin", "launch failed requeued held", "JobHoldMaxRequeue"]
AWAY = ["Reservation", "ReqNodeNotAvail", "ReqNodeNotAvail, UnavailableNodes:n1"]


def of_each(kind):
    """Return the reasons of a class that are named after a resource."""
    words = (
        OF_EACH[kind].format(who, each)
        for who in ("Assoc", "QOS")
        for each in (*RESOURCES, "Unknown")
    )
    return " ".join(words).replace("AssocMin", "QOSMin").split()


@pytest.mark.parametrize(
    ("reasons", "cure", "after"),
    [
        (WAITS.split() + of_each("waits"), "", 0),
        (NEVER.split() + of_each("never"), "scancel 7, change what it asks for, and", 0),
        (of_each("budget"), "the account's time is used up", 0),
        (HELD, "scontrol release 7", 0),
        (AWAY, "for an hour: ask", 3600),
    ],
)
def test_each_reason_waits_by_itself_or_for_a_person(reasons, cure, after):
    """The ninth job of a user who may have eight GPUs was reported as stuck."""
    for reason in reasons:
        row = Row(7, "sa-x", "PENDING", reason)
        assert bool(row.cure(after)) == bool(cure), reason
        assert (row.cure(after) or "").startswith(cure), reason
        assert not after or row.cure(after - 1) is None
        assert Row(7, "sa-x", "RUNNING", reason).cure(after) is None


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
    ("message", "kind"),
    [
        (f"sbatch: error: QOSMaxSubmitJobPerUserLimit\n{POLICY}", "limit"),
        (f"sbatch: error: AssocMaxSubmitJobLimit\n{POLICY}", "limit"),
        (f"sbatch: error: QOSMaxWallDurationPerJobLimit\n{POLICY}", ""),
        ("sbatch: error: Invalid account or account/partition combination", "final"),
        ("sbatch: error: Requested node configuration is not available", "final"),
        ("sbatch: error: Socket timed out on send/recv operation", "lost"),
        ("Unable to contact slurm controller (connect failure)", "lost"),
        ("nobody knows this", ""),
    ],
)
def test_a_refusal_is_for_now_or_for_ever_or_no_answer(message, kind):
    """10 of 11 trainings failed at a limit of jobs in the queue."""
    answer = Answer(1, message=f"a banner\n{message}")
    assert answer.kind == kind
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
