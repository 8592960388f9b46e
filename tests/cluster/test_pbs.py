import pytest

from fathom.cluster.jobs import Folder, read
from fathom.cluster.pbs import WALLTIME, Pbs
from fathom.cluster.scheduler import RUNNING

PBS = Pbs()
LIST = """Job id            Name             User              Time Use S Queue
----------------  ---------------- ----------------  -------- - -----
7.server          f0123456789      me                00:00:01 R workq
8.server          f1111111111      me                       0 Q workq
9.server          f2222222222      me                00:01:00 F workq"""


def test_a_name_has_fifteen_characters_at_most(script):
    assert len(PBS.job_name(read(script()))) <= 15


def test_jobs_are_found_in_the_list_of_all(answers):
    answers("qstat", LIST)
    assert PBS.find("f1111111111") == ["8.server"]
    assert PBS.find("f3333333333") == []
    assert PBS.is_live("7.server") is True
    assert PBS.is_live("6.server") is False
    assert {number: state.word for number, state in PBS.states().items()} == {
        "7.server": RUNNING,
        "8.server": RUNNING,
    }


@pytest.mark.parametrize(("text", "code"), [("", 1), ("7 garbage", 0)])
def test_no_list_is_silence(answers, text, code):
    answers("qstat", text, code)
    assert PBS.states() is None
    assert PBS.find("x") is None
    assert PBS.is_live("7") is None


def test_a_submission_asks_for_what_the_profile_gives(answers, calls, script, tmp_path):
    answers("qsub", "7.server")
    job = read(script(resources={"runtime": 90, "mem_mb": 500, "gres": "gpu:2", "partition": "q"}))
    folder = Folder(tmp_path)
    answer = PBS.submit(job, folder, ["/x/runner", "pbs", "/a folder"])
    assert (answer.code, answer.text) == (0, "7.server")
    [line] = calls("qsub")
    for word in ("select=1:ncpus=2:mem=500mb:ngpus=2", "walltime=1:30:00", "-q q", "/x/runner"):
        assert word in line
    assert f"{WALLTIME}=5400" in line
    assert (tmp_path / "batch").read_text() == "pbs\n/a folder\n"


def test_a_job_knows_its_end_from_its_walltime(monkeypatch):
    monkeypatch.setenv(WALLTIME, "60")
    assert PBS.end_time("7") > 60
    monkeypatch.delenv(WALLTIME)
    assert PBS.end_time("7") is None


def test_a_limit_is_for_a_successor(answers, calls):
    assert not PBS.continue_after_limit("7")
    answers("qdel")
    PBS.cancel(["7.server"])
    assert calls() == ["qdel 7.server"]
