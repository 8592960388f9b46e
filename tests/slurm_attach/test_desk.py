"""What becomes of jobs, with a Slurm and a clock of the test: no second of real time passes."""

import json
import os
import platform
import sys

import pytest

from snakemake_executor_plugin_slurm_attach import slurm
from snakemake_executor_plugin_slurm_attach.desk import ATTEMPTS, LONGEST, LOST_AFTER, SOON
from snakemake_executor_plugin_slurm_attach.runner import LIMIT, SIGNAL, STUCK, TOO_SHORT
from snakemake_executor_plugin_slurm_attach.slurm import NOT_ITS_FAULT, Answer
from tests.slurm_attach.conftest import POLL

OPERATIONS = {"open", "os.listdir", "os.scandir", "os.rename", "os.remove"}
TIMED_OUT = Answer(1, message="sbatch: error: Socket timed out on send/recv operation")
FAILS = ("FAILED", "CANCELLED", "OUT_OF_MEMORY", "DEADLINE")
GOES = ("RUNNING", "COMPLETING", "SUSPENDED", "REQUEUED", "A_WORD_OF_TOMORROW")


def submitted(start, **resources):
    """Return a job of a start that runs."""
    job = start.add(**resources)
    start.wait()
    start.toy.become(job.number, "RUNNING")
    return job


@pytest.mark.parametrize(
    ("state", "marker", "verdict"),
    [
        *((state, None, None) for state in GOES),
        *((state, None, state) for state in FAILS),
        ("COMPLETED", None, ""),
        # The work is done, whatever came after.
        *((state, (0, ""), "") for state in (*FAILS, "RUNNING", "silent", None)),
        # It has stopped, and Slurm alone knows why: it may run it again.
        *((state, (1, SIGNAL), None) for state in ("PENDING", "RUNNING", "silent", None)),
        ("CANCELLED", (1, SIGNAL), "CANCELLED"),
        # It has failed by itself, and says so sooner and better than Slurm.
        *((state, (3, "exit code 3"), "exit code 3") for state in ("RUNNING", "silent", "FAILED")),
        # Silence, and a list without the job.
        ("silent", None, None),
        (None, None, None),
    ],
)
def test_a_job_is_decided_by_its_marker_and_by_its_state(start, state, marker, verdict):
    job = submitted(start)
    if marker:
        start.ends(job, *marker)
    start.toy.silent = state == "silent"
    if state is None:
        start.toy.jobs.clear()
    elif state != "silent":
        start.toy.become(job.number, state)
    start.wait(POLL + 2)
    assert job.verdict == verdict or verdict in (job.verdict or "").replace(",", "")
    assert (job.verdict is None) == (verdict is None)


@pytest.mark.parametrize("state", [*sorted(NOT_ITS_FAULT), "TIMEOUT"])
def test_a_job_that_can_resume_is_continued_as_a_new_one(start, state):
    """Preemption that cancels ended a training, and its start failed."""
    job = submitted(start)
    first = job.number
    start.saves(job)
    start.ends(job, 143, SIGNAL)
    start.toy.become(first, state)
    start.wait(POLL + 2)
    assert job.number == first + 1
    assert any(f"job {first} ended by {state}; it is continued" in line for line in start.lines)


def test_a_job_at_its_limit_that_slurm_does_not_requeue_is_continued_at_once(start):
    """Its row still says that it runs."""
    job = submitted(start)
    start.saves(job)
    start.ends(job, 143, LIMIT)
    start.wait(2)
    assert job.number == 8
    start.wait(POLL + 2)
    assert job.number == 8
    start.toy.become(7, "COMPLETED")
    start.wait(5 * POLL)
    assert (job.number, job.verdict, job.misses) == (8, None, 0)


@pytest.mark.parametrize(("state", "most"), [("TIMEOUT", STUCK), ("PREEMPTED", ATTEMPTS)])
def test_a_job_without_a_newer_save_is_not_continued_for_ever(start, state, most):
    """A warning that leaves no time for a save was followed by the next attempt without end."""
    job = submitted(start)
    while job.verdict is None:
        assert len(start.toy.submitted) <= most
        if job.number:
            start.toy.become(job.number, state)
        start.wait(POLL + 2)
    assert len(start.toy.submitted) == most
    assert TOO_SHORT in job.verdict


def test_a_job_that_cannot_resume_fails_at_its_limit(start):
    job = submitted(start, resumes=None)
    start.toy.become(job.number, "TIMEOUT", "TimeLimit")
    start.wait(POLL + 2)
    assert job.verdict == "train_run x.1: job 7 failed: TIMEOUT (TimeLimit)"
    assert not any("--signal" in word for word in start.toy.submitted[0])


def test_a_training_is_warned_of_its_limit_by_a_signal_to_its_batch_shell(start):
    """Without B: Slurm sends it to steps alone, and a job without srun has none."""
    job = submitted(start)
    assert f"--signal=B:USR1@{job.request.settings.margin}" in start.toy.submitted[0]


def test_a_job_that_slurm_runs_again_under_its_number_is_waited_for(start):
    """Its first attempt left a marker, and the start failed."""
    job = submitted(start)
    start.ends(job, 143, SIGNAL)
    start.toy.become(7, "PENDING", "BeginTime")
    before = start.toy.asked
    start.wait(4 * POLL)
    # The marker stays until the next attempt begins, and does not bring more questions.
    assert start.toy.asked - before <= 6
    (start.desk.ended / "7.json").unlink()
    start.toy.become(7, "RUNNING")
    start.wait(POLL)
    start.ends(job)
    start.wait(2)
    assert job.verdict == ""


def test_a_signal_is_followed_by_a_question_within_seconds(start):
    job = submitted(start)
    start.wait(5)
    start.toy.become(7, "CANCELLED")
    start.ends(job, 143, SIGNAL)
    start.wait(SOON + 2)
    assert job.verdict


def test_a_marker_of_another_cluster_with_the_same_number_says_nothing(start):
    """Numbers come again: markers of long ago ended jobs that ran."""
    (start.desk.ended / "7.json").write_text('{"name": "sa-other", "code": 0, "why": ""}')
    job = submitted(start)
    start.wait(POLL + 2)
    assert job.verdict is None


@pytest.mark.parametrize(("lives", "is_lost"), [(True, False), (None, False), (False, True)])
def test_a_job_is_lost_after_several_lists_and_minutes_and_asked_for_by_number_first(
    start, lives, is_lost
):
    job = submitted(start)
    start.toy.jobs.clear()
    start.toy.lives = lives
    start.wait(LOST_AFTER - 2)
    assert job.verdict is None
    start.wait(LOST_AFTER)
    assert ("no longer knows it" in (job.verdict or "")) == is_lost


def test_misses_are_counted_in_a_row_and_silence_is_none(start):
    job = submitted(start)
    row = start.toy.jobs.pop(7)
    start.wait(2 * POLL)
    assert job.misses == 2
    start.toy.silent = True
    start.wait(LOST_AFTER)
    assert (job.misses, job.verdict) == (2, None)
    start.toy.silent, start.toy.jobs[7] = False, row
    start.wait(POLL + 2)
    assert job.misses == 0


def test_one_that_is_forgotten_after_a_signal_is_said_to_have_been_stopped(start):
    job = submitted(start)
    start.ends(job, 143, SIGNAL)
    start.toy.jobs.clear()
    start.wait(2 * LOST_AFTER)
    assert "ended by a signal" in job.verdict


# Submission


def test_a_job_of_an_earlier_start_is_taken_over(begin):
    first = begin()
    number = submitted(first).number
    second = begin()
    job = second.add()
    second.wait()
    assert (job.number, len(second.toy.submitted)) == (number, 1)
    assert second.lines == [f"train_run x.1: taken over, still job {number}"]
    second.ends(job)
    second.wait(2)
    assert job.verdict == ""


@pytest.mark.parametrize(("lives", "submissions"), [(True, 1), (None, 1), (False, 2)])
def test_the_last_number_is_asked_for_where_a_slurm_that_has_just_started_lists_nothing(
    begin, lives, submissions
):
    first = begin()
    submitted(first)
    first.toy.jobs.clear()
    first.toy.lives = lives
    second = begin()
    job = second.add()
    second.wait(POLL)
    assert len(second.toy.submitted) == submissions
    assert job.number == {True: 7, None: None, False: 8}[lives]


def test_of_two_jobs_of_a_name_the_first_stays_and_both_starts_follow_it(begin, toy):
    """Both have looked before either submitted; --dependency=singleton keeps the second waiting."""
    starts = begin(), begin()
    # Both lists are from before.
    for start in starts:
        start.desk.ask(toy.now)
    jobs = [start.add() for start in starts]
    for start in starts:
        start.wait()
    assert sorted(toy.jobs) == [7, 8]
    assert all("--dependency=singleton" in words for words in toy.submitted)
    toy.become(7, "RUNNING")
    toy.become(8, "PENDING", "Dependency")
    starts[0].wait(POLL + 2)
    assert toy.cancelled == [8]
    toy.become(8, "CANCELLED")
    starts[1].wait(POLL + 2)
    assert [job.number for job in jobs] == [7, 7]
    toy.become(7, "COMPLETED")
    for start in starts:
        start.wait(POLL + 2)
    assert [job.verdict for job in jobs] == ["", ""]


def test_the_start_of_a_double_ends_well_where_the_first_has_ended_meanwhile(start):
    """It decided by the number, which was cancelled, and failed."""
    start.desk.ask(start.toy.now)
    start.toy.accept(start.add().request.name, "RUNNING")
    start.wait()
    [job] = start.desk.jobs
    assert job.number == 8
    start.toy.become(7, "COMPLETED")
    start.toy.become(8, "CANCELLED")
    start.wait(POLL + 2)
    assert job.verdict == ""


def test_a_users_dependency_is_left_as_it_is(start):
    submitted(start, extra="--dependency=afterok:3")
    [words] = start.toy.submitted
    assert [word for word in words if word.startswith("--dependency")] == ["--dependency=afterok:3"]


def test_a_submit_limit_holds_the_others_back_and_is_said_once(start):
    """10 of 11 trainings failed, with the advice to ask for less."""
    start.toy.most = 2
    jobs = [start.add(seed) for seed in range(5)]
    start.wait(6 * 3600)
    assert [job.number for job in jobs] == [7, 8, None, None, None]
    [line] = [line for line in start.lines if "QOSMaxSubmitJobPerUserLimit" in line]
    assert "3 jobs wait here, and are tried again" in line
    # After pauses of 30, 60, 120, ... and then each 10 minutes.
    assert 2 + 6 * 6 <= len(start.toy.submitted) <= 3 + 4 + 6 * 6
    for job in jobs:
        start.toy.become(job.number, "COMPLETED")
        start.ends(job)
        start.wait(3)
    assert [job.verdict for job in jobs] == [""] * 5
    assert len([line for line in start.lines if "QOSMaxSubmitJobPerUserLimit" in line]) == 1


def test_jobs_of_an_earlier_start_are_taken_over_also_at_a_limit(begin):
    first = begin()
    first.add(3)
    first.wait()
    first.toy.most = 1
    second = begin()
    jobs = [second.add(seed) for seed in range(4)]
    second.wait()
    assert [job.number for job in jobs] == [None, None, None, 7]


def test_a_job_that_comes_between_two_lists_is_submitted_at_once(start):
    start.add()
    start.wait(3)
    late = start.add(2)
    start.wait()
    assert (late.number, start.toy.asked) == (8, 1)


def test_a_silent_slurm_is_waited_for_without_end(start):
    """It was given up after 248 seconds."""
    start.toy.silent = True
    job = start.add()
    start.wait(7200)
    assert (job.verdict, start.toy.submitted) == (None, [])
    assert len(start.lines) == 1
    assert start.toy.asked <= 5 + 7200 / LONGEST
    start.toy.silent = False
    start.wait(LONGEST)
    assert job.number == 7


def test_an_sbatch_that_never_answers_is_tried_again_with_longer_pauses(start):
    start.toy.refusals = [TIMED_OUT] * 8
    jobs = [start.add(seed) for seed in range(3)]
    start.wait(POLL * (1 + 2 + 4 + 8 + 16) + 3 * LONGEST - 10)
    assert (len(start.toy.submitted), len(start.lines)) == (8, 1)
    assert "3 jobs wait here" in start.lines[0]
    start.wait(20)
    assert [job.number for job in jobs] == [7, 8, 9]


@pytest.mark.parametrize(("is_there", "submissions"), [(True, 1), (False, 2)])
def test_a_job_whose_answer_was_lost_is_found_by_name_or_submitted_again(
    start, is_there, submissions
):
    start.desk.ask(start.toy.now)
    start.toy.refusals = [TIMED_OUT]
    job = start.add()
    start.wait()
    if is_there:
        start.toy.accept(job.request.name, "RUNNING")
    start.wait(POLL + 2)
    assert (job.number, len(start.toy.submitted)) == (7, submissions)


@pytest.mark.parametrize(
    ("message", "times"),
    [("invalid partition specified: x", 1), ("Requested node configuration is not available", 1),
     ("nobody knows this", 3)],
)  # fmt: skip
def test_a_refusal_fails_the_job_alone(start, message, times):
    start.toy.refusals = [Answer(1, message=f"sbatch: error: {message}")] * times
    job = start.add()
    start.wait(times * POLL)
    assert message in job.verdict
    other = start.add(2)
    start.wait(2)
    assert other.number


def test_a_job_that_has_ended_since_the_start_began_is_not_run_again(begin):
    """Snakemake had looked for its outputs before."""
    first = begin()
    job = submitted(first)
    first.ends(job)
    first.toy.jobs.clear()
    open(job.request.outputs[0], "w").close()
    second = begin()
    late = second.add()
    second.wait(2)
    assert (late.verdict, len(second.toy.submitted)) == ("", 1)
    # One that ended before was run again by a user's wish.
    first.ends(job, time=first.toy.now - 10_000)
    third = begin()
    again = third.add()
    third.wait(2)
    assert (again.verdict, again.number) == (None, 8)


def test_what_a_user_cancels_while_it_is_submitted_is_cancelled_too(start, monkeypatch):
    jobs = [start.add(seed) for seed in range(3)]
    submit = start.toy.submit

    def slow(*words):
        start.desk.cancel()
        return submit(*words)

    monkeypatch.setattr(slurm, "submit", slow)
    start.wait(2)
    assert start.toy.cancelled == [7]
    assert [job.number for job in jobs] == [7, None, None]


def test_what_slurm_does_not_cancel_is_named(start, monkeypatch):
    """Ctrl-C while slurmctld was away left all jobs running without a word."""
    job = submitted(start)
    answer = Answer(1, message="scancel: error: Unable to contact slurm controller")
    monkeypatch.setattr(slurm, "cancel", lambda *_: answer)
    start.desk.cancel()
    assert start.lines[-1].endswith("type: scancel 7")
    assert set(heads(start)) == {job.request.name}


# What a person must know


def heads(start):
    [path] = (start.desk.folder / "heads").iterdir()
    return json.loads(path.read_text())


def test_a_held_job_is_reported_once_and_found_from_files_alone(start):
    """One that waits for the end of another job is not reported."""
    job = submitted(start)
    for reason, lines in (("QOSMaxGRESPerUser", 0), ("JobHeldUser", 1), ("JobHeldUser", 1)):
        start.toy.become(7, "PENDING", reason)
        start.wait(POLL + 2)
        assert len([line for line in start.lines if "scontrol release 7" in line]) == lines
    assert heads(start)[job.request.name]["cure"] == "scontrol release 7"


def test_a_job_without_its_nodes_waits_for_a_person_after_an_hour(start):
    job = submitted(start)
    start.toy.become(7, "PENDING", "ReqNodeNotAvail, UnavailableNodes:n1")
    start.wait(3500)
    assert job.cure is None
    # Another reason meanwhile: the hour begins again.
    start.toy.become(7, "PENDING", "Priority")
    start.wait(POLL + 2)
    start.toy.become(7, "PENDING", "Reservation")
    start.wait(3500)
    assert not any("waits for you" in line for line in start.lines)
    start.wait(200)
    assert [
        line for line in start.lines if "job 7 waits for you (Reservation): for an hour" in line
    ]
    assert "scancel 7" in str(job.cure)


def test_what_failed_stays_known_after_the_start_until_the_job_is_tried_again(begin):
    first = begin()
    job, other = submitted(first), first.add(2)
    first.toy.become(7, "FAILED")
    first.wait(POLL + 2)
    assert "FAILED" in heads(first)[job.request.name]["failed"]
    [path] = (first.desk.folder / "heads").iterdir()
    # A process that is gone.
    path.rename(path.with_name(f"{platform.node()}.{2**22 + 1}.json"))
    second = begin()
    second.wait()
    assert set(heads(second)) == {job.request.name}
    second.add()
    second.wait()
    assert heads(second)[job.request.name]["failed"] is None
    assert other.request.name not in heads(second)


def test_old_markers_are_deleted_and_young_ones_stay(begin):
    first = begin()
    for name, age in (("1.json", 15), ("2.json", 1)):
        path = first.desk.ended / name
        path.touch()
        os.utime(path, (first.toy.now - age * 86_400,) * 2)
    second = begin()
    assert [path.name for path in second.desk.ended.iterdir()] == ["2.json"]


# Its cost


def test_the_cost_of_a_look_does_not_grow_with_the_jobs_ever_made(start):
    """A start read the records of all jobs each ten seconds: a fifth of a core at 3,000."""
    for at in range(3000):
        (start.desk.folder / f"sa-old-{at}").mkdir()
        (start.desk.ended / f"9{at}.json").touch()
    for seed in range(100):
        start.add(seed)
    start.wait(3)
    counted, is_on = [], [True]
    sys.addaudithook(lambda event, _: is_on and event in OPERATIONS and counted.append(event))
    before = start.toy.asked
    start.wait(60)
    assert start.toy.asked - before == 2
    assert not {"os.listdir", "os.scandir"} & {*counted}
    assert len(counted) < 10 * 60
    # A job that ends is read with those that live, once.
    counted.clear()
    start.ends(start.desk.jobs[0])
    start.wait(5)
    assert len(counted) < 2 * 100
    is_on.clear()
