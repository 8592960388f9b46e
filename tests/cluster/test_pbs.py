import sys
from pathlib import Path

import pytest

from fathom.cluster.jobs import Folder, read
from fathom.cluster.pbs import WALLTIME, Pbs
from fathom.cluster.runner import TOO_SHORT
from fathom.cluster.scheduler import FAILED, RUNNING, SUCCESS
from fathom.cluster.status import refresh
from fathom.cluster.submit import submit
from tests.slurm.cluster import wait
from tests.support.refused import refused
from tests.support.targets import ROOT

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


COUNTING = """
run=$(dirname "{output}"); mkdir -p "$run/checkpoints"
read -r at < "$run/checkpoints/last.pt" || at=0
echo "from $at" >> "$run/attempts.txt"
while [ $at -lt {updates} ]; do
    sleep 0.1; at=$((at + 1))
    [ -e "$FATHOM_STOP_FILE" ] && {{ {save} exit 143; }}
done
echo "{{}}" > "{output}"
"""
SAVE = 'echo $at > "$run/fresh.pt"; mv "$run/fresh.pt" "$run/checkpoints/last.pt";'


@pytest.fixture
def pbs(tmp_path, monkeypatch):
    """A stand-in for PBS, whose jobs have 9 s and are warned 6 s before."""
    folder = tmp_path / "pbs"
    folder.mkdir()
    program = f"#!{sys.executable}\n" + (Path(__file__).parent / "stand_in_pbs.py").read_text()
    for name in ("qsub", "qstat", "qdel"):
        (folder / name).write_text(program, encoding="utf-8")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("PBS_HOME", str(folder))
    monkeypatch.setenv(WALLTIME, "9")
    monkeypatch.setenv("FATHOM_CLUSTER_MARGIN", "6")


def trained(script, above, updates, save=SAVE):
    """Submit a counting job, follow it to its end, and return its word, attempts and number."""
    path = script()
    output = read(path).outputs[0]
    path.write_text(path.read_text() + COUNTING.format(output=output, updates=updates, save=save))
    runner = ROOT / "pbs" / "runner"
    number = submit(PBS, path, runner, (0.0,))
    assert submit(PBS, path, runner, (0.0,)) == number
    last = []

    def ended():
        refresh(PBS, above)
        last[:] = (above / "words").read_text().split("\n")[1].split()
        return last[1] != RUNNING

    wait(ended, "the job has ended")
    assert last[0] == number
    attempts = (output.parent / "attempts.txt").read_text().strip().split("\n")
    return last[1], [int(line.split()[1]) for line in attempts], Folder(above / read(path).name)


@pytest.mark.slow
@pytest.mark.usefixtures("pbs")
def test_a_job_at_its_limit_is_continued_by_a_successor_under_the_first_number(script, above):
    word, starts, folder = trained(script, above, 40)
    assert word == SUCCESS
    assert starts[0] == 0
    assert sorted(set(starts)) == starts
    assert len(starts) > 1
    assert folder.record()["id"] != folder.record()["now"]


@pytest.mark.slow
@pytest.mark.usefixtures("pbs")
def test_successors_end_where_no_checkpoint_gets_newer(script, above):
    word, starts, folder = trained(script, above, 2000, save="")
    assert (word, starts) == (FAILED, [0, 0])
    assert folder.seen()["reason"].startswith(TOO_SHORT)


@pytest.mark.slow
@pytest.mark.usefixtures("pbs")
def test_an_unknown_queue_is_one_message(script):
    with refused("refused by", "PBS"):
        submit(PBS, script(resources={"partition": "nosuch"}), ROOT / "pbs" / "runner", (0.0,))
