"""`fathom plan`, `status` and `export`, and what they print with: times and columns."""

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

import pytest
import torch

from fathom.cli.options import open_project
from fathom.cli.terminal import print_columns
from fathom.config.paths import Paths
from fathom.config.switches import VARIABLE
from fathom.io.files import write_lines
from fathom.io.locks import HOLDER, Holder, write_holder
from fathom.io.records import read_record, write_record
from fathom.io.screen import duration
from fathom.results.run_state import State, write_state
from fathom.workflow import job_sizes, setup, starts
from snakemake_executor_plugin_slurm_attach.desk import Desk
from tests.cli.conftest import invoke
from tests.support.refused import says
from tests.support.small_project import GATED, RUN
from tests.support.specs import ROOT
from tests.support.submitted_job import submitted
from tests.support.trained import put_checkpoint


def planned(call, *words):
    return json.loads(call("plan", *words, "--json").out)


def test_a_plan_has_a_line_for_each_paper_and_for_all_in_units_that_a_reader_takes_in(
    project, call
):
    """Hours were printed, such as 0.000248."""
    answer = call("plan", "--gpu", "0.001")
    heading, *rows = (re.split("   *", line) for line in answer.lines[:3])
    assert [row[0] for row in rows] == ["sample", "all"]
    assert any(line.startswith("disk: ") and "free in results" in line for line in answer.lines)
    assert heading[4:6] == ["time in all", "time left"]
    unit = re.compile(r"(< 1 s|[\d.,]+( s| min| h)?)( to [\d.,]+ (s|min|h))?")
    assert all(unit.fullmatch(text) for row in rows for text in row[4:6])
    assert not (project / "results").exists()


def test_a_table_and_a_device_can_be_named(project, call):
    content = planned(call, "sample_table1", "--table", "--gpu", "312")
    assert set(content["groups"]) == {"sample_table1", "all"}
    assert content["measured_trainings"] == 0
    slower = planned(call, "sample_table1", "--gpu", "31.2")
    (best, most), (slow, _) = (each["groups"]["all"]["hours"] for each in (content, slower))
    assert slow == pytest.approx(10 * best)
    # Half of the stated share is possible until something is measured.
    assert most == pytest.approx(2 * best)
    lines = call("plan", "sample_table1", "--gpu", "a100").lines
    assert "jobs on GPUs, expected on a100, tf32; not measured:" in lines


@pytest.mark.parametrize(
    ("has_gpu", "words"), [(0, "cores, expected on cpu"), (1, "GPUs, expected on h200")]
)
def test_without_a_profile_the_plan_is_of_this_machine(project, call, monkeypatch, has_gpu, words):
    """It had seconds of an H200 for minutes of a laptop."""
    monkeypatch.setattr(setup, "gpus_for", lambda device, cluster: int(cluster) or has_gpu)
    assert any(line.startswith(f"jobs on {words}, ") for line in call("plan").lines)
    assert any("GPUs, expected on h200" in line for line in call("plan", "--gpu", "h200").lines)


def test_a_file_that_a_user_must_put_is_named_with_its_steps(project, call):
    path = project / "config" / "sources" / "django.yaml"
    card = path.read_text(encoding="utf-8").split("\n")
    kept = [line for line in card if line.startswith(("title", "licence"))]
    steps = ["kind: by_hand", "file: a.tar.gz", "steps: ask for it", "notice: Of the tests."]
    path.write_text("\n".join([*kept, *steps]), encoding="utf-8")
    lines = call("plan").lines
    assert "downloads: none; 1 files by hand: a.tar.gz" in lines
    assert "  a.tar.gz: ask for it" in lines
    # What shows a run that waits for it says so.
    needs = "needs a.tar.gz"
    assert f"2 runs (2 not started: {needs})" in call("status").lines[0]
    fields = json.loads(call("status", "--json").out)["papers"]["sample"]["runs"]
    assert {run["reason"] for run in fields.values()} == {needs}
    assert call("table", "sample_table1", "--partial").code == 0
    assert f"not run: {needs}" in (project / "results/small/sample/table1.md").read_text()


def test_a_plan_with_a_profile_says_what_a_start_with_it_asks_for(project, call):
    profile = project / "workflow" / "profiles" / "ours"
    profile.mkdir(parents=True)
    site = "site: {gpu: a100, max_gpus: 4, gpus_per_node: 2, training_hours: 1}\ngpu_hours: 1"
    (profile / "site.yaml").write_text(
        f"scale: small\nresults: there\ndevice: auto\n{site}\n", encoding="utf-8"
    )
    for name in ("ours", str(profile)):
        content = planned(call, "--profile", name, "--gpu", "0.000000001")
        assert {each["gpus"] for each in content["requests"] if each["rule"] == "train_run"} == {4}
        assert "free in there" in call("plan", "--profile", name).out
    assert "expected on a100, " in call("plan", "--profile", "ours").out
    last = call("plan", "--profile", "ours", "--gpu", "0.000000001").lines
    assert any("a start needs gpu_hours: " in line for line in last)
    says("no profile with a site.yaml 'our'", where="--profile", nearest="ours").check(
        call("plan", "--profile", "our").one_line
    )


@pytest.mark.slow
def test_finished_trainings_are_counted_and_measured(own, summarised, call):
    own(summarised)
    content = planned(call)
    states = {training["run"]: training["state"] for training in content["trainings"]}
    assert states[f"sample/{RUN}"] == "finished"
    assert content["measured_trainings"] >= 1
    of_all = content["groups"]["all"]
    assert of_all["hours_left"][0] < of_all["hours"][0]


# status


def test_before_anything_is_made_nothing_has_started(project, call):
    answer = call("status")
    assert answer.code == 0
    assert "nothing is drawn in results/small" in answer.err
    first, cells = answer.lines
    assert first == "sample: 0 of 1 tables, 0 of 1 figures, 2 runs (2 not started)"
    assert cells.startswith("cells: ")
    assert not (project / "results").exists()


def test_a_plan_says_which_start_is_refused_and_what_to_begin_with(call, monkeypatch, tmp_path):
    """It named the start that asks for too many hours."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(job_sizes, "free_space", lambda _: 1 << 50)
    results = ("--profile", "slurm", "--results", str(tmp_path))
    write_lines(tmp_path / "sources" / "by_hand" / "ted_orig.zip", [])
    refused = call("plan", "all", *results).err
    assert "a start is refused: gpu_hours: all asks for" in refused
    assert "or begin with latent_depth_table9" in refused
    allowed = call("plan", "latent_depth_table9", *results).err
    start = f"fathom run latent_depth_table9 --scale paper --results {tmp_path} --profile slurm"
    assert allowed == f"next: {start}\n"


@pytest.mark.parametrize("name", ["sample.html", "sample/table1.csv", "compare.csv"])
def test_it_names_the_folder_where_anything_is_drawn(project, call, name):
    """A page or a table alone was nothing."""
    write_lines(project / "results" / "small" / name, ["paper,verdict"])
    assert "see results/small" in call("status").err


def test_trainings_of_a_start_at_another_scale_are_counted(project, call):
    """A start with a profile has the profile's scale: nothing of it was shown."""
    made = Path("training.json").absolute()
    starts.add_trainings(project / "results" / "cluster", {made: ()})
    assert call("status").lines[-1].startswith("trainings of starts that run, not counted above: 1")
    made.touch()
    assert "starts that run" not in call("status").out


@pytest.mark.parametrize("by_variable", [False, True])
def test_status_has_the_scale_and_results_of_the_profile_of_a_start(
    project, call, monkeypatch, by_variable
):
    """They came from config.yaml: a start with a profile was not there."""
    scales, profile = project / "config" / "scales", project / "workflow" / "profiles" / "ours"
    shutil.copy(scales / "small.yaml", scales / "half.yaml")
    profile.mkdir(parents=True)
    (profile / "site.yaml").write_text("scale: half\nresults: there\n", encoding="utf-8")
    if by_variable:
        monkeypatch.setenv("SNAKEMAKE_PROFILE", "ours")
    words = () if by_variable else ("--profile", "ours")
    assert "there/half yet" in call("status", *words).err
    Path("here").mkdir()
    # What is typed comes after it, and what a start gives to its jobs is complete.
    assert "here/small yet" in call("status", *words, "--scale", "small", "--results", "here").err
    monkeypatch.setenv(VARIABLE, json.dumps({"scale": "small", "results": "ours"}))
    assert "ours/small yet" in call("status", *words).err


def test_a_profile_of_the_shell_that_has_no_site_is_for_other_workflows(project, call, monkeypatch):
    monkeypatch.setenv("SNAKEMAKE_PROFILE", "somewhere/else")
    assert "results/small yet" in call("status").err


def test_a_job_that_will_not_start_is_printed_with_what_frees_it(project, call):
    desk = Desk(project / "results" / "cluster", 30, print)
    submitted(desk, "a.1", state="PENDING", reason="held", cure="scontrol release 7")
    assert any("scontrol release 7" in line for line in call("status").lines)
    assert "scontrol release 7" in json.loads(call("status", "--json").out)["jobs"][0]


def test_a_failed_training_is_printed_with_its_last_lines(project, call):
    name = f"sample/{RUN}"
    folder = Paths(project / "results", "small").run(open_project().spec(name, "small"), 1)
    given = {"attempt": 1, "host": "x", "pid": 1, "job": None, "reason": "this is why"}
    write_state(folder, State(state="failed", update=2, updates=4, **given))
    write_lines(folder / "train.log", ["first", "last"])
    lines = call("status").lines
    assert lines[0].startswith(f"{name}  failed, update 2 of 4: this is why; its lines: ")
    assert lines[1:3] == ["    first", "    last"]
    fields = json.loads(call("status", "--json").out)["papers"]["sample"]["runs"][name]
    assert (fields["reason"], fields["last_lines"]) == ("this is why", ["first", "last"])


def test_a_process_that_lives_without_a_heartbeat_is_seen(project, call):
    spec = open_project().spec(f"sample/{RUN}", "small")
    lock = Paths(project / "results", "small").run(spec, 1) / HOLDER
    lock.parent.mkdir(parents=True)
    write_holder(lock, Holder.here(), new=True)
    assert "no sign of life" not in call("status").lines[0]
    then = time.time() - 600
    os.utime(lock, (then, then))
    assert call("status").lines[0].endswith("running, no sign of life for 10 min")


@pytest.mark.slow
def test_a_damaged_comparison_is_named(project, call):
    path = project / "results/small/compare.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe\x00")
    assert "compare.csv: not CSV" in call("status").one_line


def test_it_counts_what_is_drawn_trained_and_compared(own, summarised, call):
    folder = own(summarised)
    invoke(folder, ("table", "sample_table1"), ("compare",))
    (attempts,) = (folder / "results/runs/sample").glob(f"{GATED}-*/1/attempts.json")
    (attempts.parent / "training.json").unlink()
    write_holder(attempts.parent / HOLDER, Holder.here(), new=True)
    static, gated, summary, cells, *ended = call("status", "--runs").lines
    assert static == f"sample/{RUN}  finished"
    assert gated.startswith(f"sample/{GATED}  running at update 4 of 4, 0 s left, NLL ")
    assert gated.endswith(" tokens/s")
    assert summary == ("sample: 1 of 1 tables, 0 of 1 figures, 2 runs (1 finished, 1 running)")
    assert "not run" not in cells
    assert ended[0] == "0 of 1 trainings learned."
    assert call("status").lines == [gated, summary, cells, *ended]
    # While a training runs no other start is proposed.
    assert "next: " not in call("status").err
    content = json.loads(call("status", "--json").out)
    states = content["papers"]["sample"]["runs"]
    assert states[f"sample/{RUN}"]["state"] == "finished"
    gated = states[f"sample/{GATED}"]
    assert (gated["state"], gated["update"], gated["of"]) == ("running", 4, 4)
    assert gated["nll"] > 0
    assert gated["tokens_per_second"] > 0
    assert gated["process"] == str(Holder.here())
    assert sum(content["cells"].values()) > 0


# Which decoder layers the two tasks keep.
ACTIVE = {"bos": [0, 1], "kor": [1]}


@pytest.fixture(scope="session")
def gated(encoded, after):
    """A project with a trained run, whose gates are then set by hand."""
    folder = after(encoded, ("train", GATED))
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    alpha = checkpoint["model"]["decoder.method.alpha"].fill_(-5.0)
    for row, layers in zip(alpha, ACTIVE.values(), strict=True):
        row[layers] = 5.0
    put_checkpoint(path, checkpoint)
    return folder


DIVERGED = {
    "outcome": {"kind": "diverged", "update": 3, "reason": "the loss is not finite"},
    "validation": None,
}


@pytest.fixture
def record(own, trained):
    """The training.json of the scale's run, which may be changed."""
    (path,) = own(trained).glob(f"results/runs/sample/{RUN}-*/1/training.json")
    return path


def put_below(path, nats):
    """Put the validation NLL so far below the baseline."""
    content = read_record(path)
    content["validation"]["nll"] = content["unigram_nll"] - nats
    write_record(path, content)


@pytest.mark.slow
def test_status_counts_what_learned_and_says_the_time_that_it_took(record, call):
    put_below(record, 0.92)
    answer = call("status")
    *_, learned, time = answer.lines
    assert learned == "1 of 1 trainings learned: 0.9 nats per token below the unigram baseline."
    assert time.startswith("time: 1 trainings took ")
    following = "next: fathom run all --scale small, or your text: fathom adopt\n"
    assert answer.err == f"nothing is drawn in results/small yet\n{following}"
    ended = json.loads(call("status", "--json").out)["ended"][f"sample/{RUN} seed 1"]
    assert (ended["outcome"], round(ended["nats_below_unigram"], 6)) == ("finished", 0.92)
    assert ended["seconds"] > 0


def test_status_says_what_finished_here_and_not_in_the_paper(gated, own, call):
    own(gated)
    assert call("table", "sample_table1", "--partial").code == 0
    line = "sample_table1: Gated finished here, and diverged in the paper."
    assert line in call("status").lines


def test_a_run_that_has_not_learned_ends_in_1_with_the_reason(record, call):
    put_below(record, 0.5)
    answer = call("status")
    assert answer.code == 1
    assert "0.50 nats below the unigram baseline (>= 0.7 required)" in answer.err
    assert record.name in answer.err
    write_record(record, read_record(record) | DIVERGED)
    content = json.loads(call("status", "--json").out)["ended"]
    assert {name: each["outcome"] for name, each in content.items()} == {
        f"sample/{RUN} seed 1": "diverged"
    }
    assert "diverged (the loss is not finite) at update 3" in call("status").out


# export


@pytest.mark.parametrize("program", ["fairseq", "ctranslate2", "transformers"])
def test_a_run_is_written_for_a_program(trained, own, call, program):
    pytest.importorskip(program, reason=f"run `make {program}`")
    folder = own(trained)
    answer = call("export", RUN, "new", "--format", program)
    assert (answer.code, answer.out) == (0, "")
    assert f"{program}: new" in answer.err
    assert read_record(folder / "new" / "export.json")["program"] == program
    card = (folder / "new" / "README.md").read_text(encoding="utf-8")
    assert f"# sample/{RUN}, seed 1" in card
    assert f"library_name: {program}\n" in card


def test_the_layers_of_a_task_are_written_without_gates(gated, own, call):
    folder = own(gated)
    for task, layers in ACTIVE.items():
        answer = call("export", GATED, task, "--format", "fairseq", "--task", task)
        assert (answer.code, answer.out) == (0, "")
        record = read_record(folder / task / "export.json")
        assert (record["gates"], record["active"]["decoder"]) == ("hard", layers)
        kept = f"2 of 2 encoder and {len(layers)} of 2 decoder layers"
        assert f"fairseq: {task}: {kept}" in answer.err


# What they print with.


@pytest.mark.parametrize(
    ("seconds", "days", "text"),
    [
        (0, True, "0 s"),
        (0.9, True, "< 1 s"),
        (59.2, True, "59 s"),
        (90, True, "1.5 min"),
        (7200, True, "2 h"),
        (200_000, True, "2.31 days"),
        (1e9, True, "11,574 days"),
        (200_000, False, "55.6 h"),
        (3.6e6, False, "1,000 h"),
    ],
)
def test_a_time_has_the_unit_that_fits(seconds, days, text):
    assert duration(seconds, days) == text


ROWS = [("static", "1"), ("a run with a long name", "22")]


def test_columns_are_aligned_and_wrapped_on_a_terminal_alone(capsys, monkeypatch):
    print_columns(("run", "seeds"), ROWS)
    whole = ["run                     seeds", "static                  1", f"{ROWS[1][0]}  22"]
    assert capsys.readouterr().out.split("\n")[:-1] == whole
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    print_columns(("run", "seeds"), ROWS)
    assert max(map(len, capsys.readouterr().out.split("\n"))) <= 20
