"""What Slurm's answers mean: states, reasons, refusals, silence, garbage."""

import os
import re

import pytest

from snakemake_executor_plugin_slurm_attach import slurm
from snakemake_executor_plugin_slurm_attach.slurm import Answer, Row, ask

TITLES = "JOBID|NAME|STATE|REASON|COMMENT"
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
HELD = ["JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue"]
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
        (["launch failed requeued held"], "do nodes see the job's folder", 0),
        (["ReqNodeNotAvail, Reserved for maintenance"], "a job that ends before it may begin", 0),
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
        (
            f"{TITLES}\n9|sa-b|PENDING|Priority|c|d\n7|sa-a|RUNNING|None|",
            [(7, "sa-a"), (9, "sa-b")],
        ),
        # A heterogeneous job and an array of the user, a banner and a cluster's title.
        (
            f"Welcome\nCLUSTER: toy\n{TITLES}\n27+0|sa-x|RUNNING|None|\n8_[1-4]|x|PENDING|None|"
            "\n8_5|sa-x|RUNNING|None|\n12|sa-c|RUNNING|None|(null)",
            [(12, "sa-c")],
        ),
        ("", None),
        ("<html>502 Bad Gateway</html>", None),
        ("7|sa-a|RUNNING|None|", None),
    ],
)
def test_a_list_has_its_titles_and_only_rows_of_single_jobs_count(answers, text, found):
    """A heterogeneous job of the same user silenced Slurm for all others."""
    answers("squeue", text, message="a banner on stderr")
    rows = slurm.rows(9)
    assert (rows and [(row.number, row.name) for row in rows]) == found or (rows == found == [])
    answers("squeue", text, code=1, message="Unable to contact slurm controller")
    assert slurm.rows(9) is None


SHOWN = "JobId=7 JobName={} UserId=0 JobState=RUNNING Reason=None Comment={} StdOut=/r/{}/7.out P="


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"text": SHOWN.format("sa-x", "(null)", "y")}, True),
        ({"text": SHOWN.format("new", "sa-x /r", "y")}, True),
        ({"text": SHOWN.format("new", "new", "sa-x")}, True),
        ({"text": SHOWN.format("sa-x2", "a", "my sa-x3")}, False),
        ({"code": 1, "message": "slurm_load_jobs error: Invalid job id specified"}, []),
        ({"code": 1, "message": "Unable to contact slurm controller"}, None),
        ({"text": "<html>502</html>"}, None),
    ],
)
def test_a_job_that_a_list_left_out_is_asked_for_and_known_by_name_comment_or_output(
    answers, answer, found
):
    answers("scontrol", **answer)
    rows = slurm.row_of(7)
    assert (["sa-x" in row.names for row in rows] == [found]) if rows else rows == found
    assert not rows or (rows[0].state, rows[0].reason) == ("RUNNING", "None")


LIMITS = "(job submit limit, user's size and/or time limits)"
FAILED = "sbatch: error: Batch job submission failed: "
FINAL = """Invalid account or account/partition combination specified
Invalid partition name specified
Invalid qos specification
Invalid feature specification
Requested reservation is invalid
Job's account not permitted to use this partition
Requested time limit is invalid (missing or exceeds some limit)
Requested node configuration is not available
Node count specification invalid
Memory required by task is not available
Low socket*core*thread count, Low CPUs"""
LATER = """Required partition not available (inactive or drain)
Requested partition configuration not available now
Requested nodes are busy
Slurm backup controller in standby mode
I/O error writing script/environment to file"""
LOST = """sbatch: error: Batch job submission failed: Unexpected message received
sbatch: error: Batch job submission failed: Invalid authentication credential
sbatch: error: Socket timed out on send/recv operation
sbatch: fatal: Could not establish a configuration source
Unable to contact slurm controller (connect failure)"""
POLICY = f"sbatch: error: Batch job submission failed: Job violates accounting/QOS policy {LIMITS}"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (f"sbatch: error: QOSMaxSubmitJobPerUserLimit\n{POLICY}", "later"),
        (f"sbatch: error: AssocMaxSubmitJobLimit\n{POLICY}", "later"),
        (f"sbatch: error: QOSMaxWallDurationPerJobLimit\n{POLICY}", "final"),
        *((f"{FAILED}{words}", "final") for words in FINAL.split("\n")),
        *((f"{FAILED}{words}", "later") for words in LATER.split("\n")),
        *((words, "lost") for words in LOST.split("\n")),
        ("nobody knows this", ""),
    ],
)
def test_a_refusal_is_for_now_or_for_ever_or_no_answer(message, kind):
    """10 of 11 trainings failed at a limit of jobs in the queue, 8 at a partition in DRAIN."""
    answer = Answer(1, message=f"a banner\n{message}")
    assert answer.kind == kind
    assert answer.reason in message
    assert not re.search("error:|failed:|failure:", answer.reason)


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


@pytest.mark.parametrize(
    ("variable", "stays"),
    [
        *(
            (f"SBATCH_{key}", False)
            for key in ("ARRAY_INX", "DEPENDENCY", "CLUSTERS", "WAIT", "GRES")
        ),
        *((f"SBATCH_{key}", True) for key in ("ACCOUNT", "PARTITION", "RESERVATION")),
        *((f"SLURM_{key}", False) for key in ("MEM_PER_CPU", "NTASKS", "TRES_PER_TASK", "JOB_ID")),
        *((f"SLURM_{key}", True) for key in ("CONF", "ATTACH_FOLDER", "MPI_TYPE")),
        ("SQUEUE_PARTITION", False),
        ("SCANCEL_INTERACTIVE", False),
    ],
)
def test_what_a_shell_or_an_outer_job_says_of_other_jobs_reaches_no_job(
    answers, calls, monkeypatch, variable, stays
):
    """SBATCH_ARRAY_INX trained twice, and SLURM_MEM_PER_CPU of salloc ended all of srun."""
    monkeypatch.setenv(variable, "3")
    answers("sbatch", script=f'echo "sbatch ${variable}." >> "$CALLS"; echo 7')
    slurm.submit("--wrap=true")
    assert calls("sbatch")[-1] == f"sbatch {'3' if stays else ''}."
