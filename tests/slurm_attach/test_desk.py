"""What becomes of jobs, with a Slurm and a clock of the test: no second of real time passes."""

import json
import os
import platform
import sys

import pytest

from snakemake_executor_plugin_slurm_attach import slurm
from snakemake_executor_plugin_slurm_attach.desk import (
    ATTEMPTS,
    LONGEST,
    LOST,
    LOST_AFTER,
    SILENCES,
    SOON,
)
from snakemake_executor_plugin_slurm_attach.runner import (
    FULL,
    FULL_CODE,
    LIMIT,
    SIGNAL,
    STUCK,
    TOO_SHORT,
)
from snakemake_executor_plugin_slurm_attach.slurm import NOT_ITS_FAULT, Answer, Row
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
    assert (TOO_SHORT in job.verdict) == (state == "TIMEOUT")


def test_a_job_that_cannot_resume_fails_at_its_limit(start):
    job = submitted(start, resumes=None)
    start.toy.become(job.number, "TIMEOUT", "TimeLimit")
    start.wait(POLL + 2)
    assert job.verdict == "train_run x.1: job 7 failed: TIMEOUT (TimeLimit)"


@pytest.mark.parametrize("by", ["marker", "code"])
@pytest.mark.parametrize("resumes", [True, False])
def test_a_job_whose_disk_was_full_is_continued_after_a_pause_or_fails_by_that_name(
    start, by, resumes
):
    """It failed as NonZeroExitCode, with empty lines."""
    job = submitted(start, **({} if resumes else {"resumes": None}))
    if by == "marker":
        start.ends(job, 1, FULL)
    code = FULL_CODE if by == "code" else 1
    start.toy.jobs[7] = Row(7, job.request.name, "FAILED", "NonZeroExitCode", f"ExitCode={code}:0 ")
    start.wait(POLL + 2)
    assert (FULL in (job.verdict or "")) == (not resumes)
    start.wait(2 * POLL)
    assert job.number == (8 if resumes else 7)
    assert any(f"ended by {FULL}; it is continued" in line for line in start.lines) == resumes


def test_a_job_that_printed_nothing_fails_with_the_folder_that_its_node_must_see(start):
    """JobLaunchFailure named lines that cannot exist."""
    jobs = [submitted(start), start.add(2)]
    start.wait()
    jobs[1].lines.write_text("ModuleNotFoundError")
    for job in jobs:
        start.toy.become(job.number, "FAILED", "JobLaunchFailure")
    start.wait(POLL + 2)
    assert (
        f"(JobLaunchFailure); it has printed nothing: nodes must see {jobs[0].home}"
        in jobs[0].verdict
    )
    assert jobs[1].verdict.endswith("(JobLaunchFailure)")


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


@pytest.mark.parametrize("resumes", [True, False])
def test_a_job_is_lost_after_several_lists_and_minutes_and_asked_for_by_number_first(
    start, resumes
):
    """A slurmctld that was started without its state fails no training."""
    job = submitted(start, **({} if resumes else {"resumes": None}))
    start.toy.hide()
    for start.toy.deaf in (False, True):
        start.wait(2 * LOST_AFTER)
        assert (job.number, job.verdict) == (7, None)
    start.toy.deaf, start.toy.unlisted = False, {}
    start.wait(2 * LOST_AFTER)
    assert (job.number, LOST in (job.verdict or "")) == ((8, False) if resumes else (7, True))


def test_a_job_that_was_renamed_is_known_by_its_number_its_comment_or_its_output(begin, tmp_path):
    """It trained on, was called lost, and the next start submitted it again."""
    job = submitted(first := begin())
    name = job.request.name
    for comment in (f"{name} /r", f"mine StdOut=/r/{name}/7.out Power="):
        first.toy.jobs[7] = Row(7, "renamed", "RUNNING", "None", "mine")
        first.toy.unlisted[7] = Row(7, "renamed", "RUNNING", "None", comment)
        first.wait(3 * LOST_AFTER)
        assert (job.number, job.verdict, job.misses) == (7, None, 0)
        late = (second := begin()).add()
        if "StdOut" in comment:
            # A list has no output: scontrol is asked for the number that the first start left.
            second.toy.hide()
            second.toy.unlisted = {7: Row(7, "renamed", "RUNNING", "None", comment)}
        else:
            (late.home / "number").unlink()
            second.toy.jobs[7] = second.toy.unlisted.pop(7)
        second.wait()
        assert (late.number, len(second.toy.submitted)) == (7, 1)


def test_misses_are_counted_in_a_row_and_silence_is_none(start):
    job = submitted(start)
    row = start.toy.jobs.pop(7)
    start.wait(2 * POLL)
    assert job.misses == 2
    start.toy.silent = start.toy.deaf = True
    start.wait(LOST_AFTER)
    assert (job.misses, job.verdict) == (2, None)
    start.toy.silent = start.toy.deaf = False
    start.toy.jobs[7] = row
    start.wait(POLL + 2)
    assert job.misses == 0


def test_where_squeue_is_too_slow_single_jobs_are_asked_for_and_others_submitted(start):
    """Nothing was ever submitted on a cluster whose squeue took 25 seconds."""
    start.toy.silent = True
    jobs = [start.add(seed) for seed in range(3)]
    start.wait(POLL * (2**SILENCES) + 5)
    assert [job.number for job in jobs] == [7, 8, 9]
    start.toy.become(8, "FAILED")
    start.toy.become(9, "PENDING", "JobHeldUser")
    start.wait(POLL + 2)
    assert "FAILED" in jobs[1].verdict
    assert jobs[2].cure == "scontrol release 9"
    # One whose answer is lost may be there: it waits for a list.
    start.toy.refusals = [TIMED_OUT]
    late = start.add(4)
    start.wait(2 * LONGEST)
    assert (late.number, len(start.toy.submitted)) == (None, 4)


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


@pytest.mark.parametrize(
    ("hidden", "deaf", "number"), [(True, False, 7), (True, True, None), (False, False, 8)]
)
def test_the_last_number_is_asked_for_where_a_slurm_that_has_just_started_lists_nothing(
    begin, hidden, deaf, number
):
    first = begin()
    submitted(first)
    first.toy.hide()
    first.toy.unlisted = first.toy.unlisted if hidden else {}
    first.toy.deaf = deaf
    second = begin()
    job = second.add()
    second.wait(POLL)
    assert job.number == number
    assert len(second.toy.submitted) == (2 if number == 8 else 1)


def test_of_two_jobs_of_a_name_the_first_stays_and_both_starts_follow_it(begin, toy):
    """Both have looked before either submitted; --dependency=singleton keeps the second waiting."""
    starts = begin(), begin()
    # Both lists are from before.
    for start in starts:
        start.desk.ask(toy.now)
    jobs = [start.add() for start in starts]
    starts[0].wait()
    # Nor did the second find its number.
    (jobs[0].home / "number").unlink()
    starts[1].wait()
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
    start.toy.silent = start.toy.deaf = True
    job = start.add()
    start.wait(7200)
    assert (job.verdict, start.toy.submitted) == (None, [])
    assert len(start.lines) == 1
    assert start.toy.asked <= 5 + 7200 / LONGEST
    start.toy.silent = start.toy.deaf = False
    start.wait(LONGEST)
    assert job.number == 7


def test_an_sbatch_that_never_answers_is_tried_again_with_longer_pauses(start):
    start.toy.refusals = [TIMED_OUT] * 8
    jobs = [start.add(seed) for seed in range(3)]
    start.wait(POLL * (1 + 2 + 4 + 8 + 16) + 3 * LONGEST - 10)
    assert (len(start.toy.submitted), len(start.lines)) == (8, 1)
    assert "3 jobs wait here" in start.lines[0]
    start.wait(20)
    assert {job.number for job in jobs} == {7, 8, 9}


@pytest.mark.parametrize(
    ("state", "submissions"), [("RUNNING", 1), ("COMPLETED", 1), (None, 2), ("older", 2)]
)
def test_a_job_whose_answer_was_lost_is_found_by_name_or_submitted_again(start, state, submissions):
    """One that had ended before a list came was run again."""
    start.toy.refusals = [TIMED_OUT]
    job = start.add()
    if state == "older":
        start.toy.accept(job.request.name, "COMPLETED")
    start.wait()
    start.toy.silent = True
    if state in ("RUNNING", "COMPLETED"):
        start.toy.accept(job.request.name, state)
    start.wait(3 * POLL)
    start.toy.silent = False
    start.wait(8 * POLL)
    assert (job.number, len(start.toy.submitted)) == (8 if state == "older" else 7, submissions)
    assert job.verdict == ("" if state == "COMPLETED" else None)


def test_a_final_refusal_fails_the_job_alone(start):
    start.toy.refusals = [Answer(1, message="sbatch: error: invalid partition specified: x")]
    job = start.add()
    start.wait()
    assert job.verdict == "train_run x.1: Slurm refuses the job (invalid partition specified: x)"
    other = start.add(2)
    start.wait(2)
    assert other.number


@pytest.mark.parametrize("words", ["Required partition not available (inactive or drain)", "what?"])
def test_all_other_words_of_a_queue_hold_its_jobs_alone_and_are_said_once(start, words):
    """A partition that was drained for half a minute failed 8 of 11 trainings."""
    start.toy.refusals = [Answer(1, message=f"sbatch: error: {words}")] * 9
    jobs = [start.add(seed, partition="gpu") for seed in range(3)]
    start.wait(2)
    other = start.add(9, partition="cpu")
    start.toy.refusals, later = [], start.toy.refusals
    start.wait(2)
    assert (other.number, len(start.toy.submitted)) == (7, 2)
    start.toy.refusals = later
    start.wait(POLL * (1 + 2 + 4 + 8 + 16) + 3 * LONGEST)
    assert (len(start.toy.submitted), [line for line in start.lines if words in line]) == (
        10,
        [start.lines[0]],
    )
    assert "3 jobs wait here, and are tried again" in start.lines[0]
    start.wait(LONGEST)
    assert all(job.number for job in jobs)


def test_a_job_that_is_refused_for_its_own_sake_does_not_hold_the_others_for_ever(
    start, monkeypatch
):
    submit = start.toy.submit
    bad = Answer(1, message="sbatch: error: nobody knows this")
    answer = lambda *words: bad if "x.0" in str(words) else submit(*words)  # noqa: E731
    monkeypatch.setattr(slurm, "submit", answer)
    jobs = [start.add(seed) for seed in range(4)]
    start.wait(POLL + 2)
    assert [job.number for job in jobs] == [None, 7, 8, 9]


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
