import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fathom.config.switches import VARIABLE
from fathom.config.yaml_values import from_plain
from fathom.io.errors import FathomError, Findings
from fathom.io.files import write_text
from fathom.workflow import setup
from fathom.workflow.start import title
from tests.support.own_project import ROOT
from tests.support.refused import refused, says
from tests.support.scripts import python


def test_switches_reach_the_commands_of_rules():
    made = setup.begin(ROOT, {"scale": "paper", "results": "out", "seeds": "2,5"}, head=False)
    assert made.scale == "paper"
    assert made.paths.results == Path("out")
    given = json.loads(os.environ[VARIABLE])
    assert (given["scale"], given["results"], given["seeds"]) == ("paper", "out", [2, 5])
    assert os.environ[setup.PROJECT_VARIABLE] == str(ROOT)


def test_a_job_knows_a_study_by_the_folder_in_which_the_start_found_it(
    tmp_path, monkeypatch, capsys
):
    """A job has no file that names a folder; the start says which one is not there."""
    monkeypatch.setattr(setup, "is_checked", lambda *_: True)
    monkeypatch.chdir(tmp_path)
    write_text(tmp_path / "depth" / "study.yaml", "title: Depth\n")
    write_text(tmp_path / "config" / "config.yaml", "papers: [depth, gone]\n")
    made = setup.begin(ROOT, {"scale": "tiny"}, head=True)
    assert "depth" in made.project.papers
    assert json.loads(os.environ[VARIABLE])["papers"] == [str(tmp_path / "depth")]
    [line] = capsys.readouterr().err.splitlines()
    says("no such folder", where=f"config/config.yaml:1: papers {tmp_path / 'gone'}").check(line)
    assert "papers" in made.unknown("gone_table1").where
    (tmp_path / "config" / "config.yaml").unlink()
    job = setup.begin(ROOT, {"scale": "tiny"}, head=False)
    assert ("depth" in job.project.papers, capsys.readouterr().err) == (True, "")


def test_a_job_asks_for_the_same_files_as_the_process_that_the_user_started(monkeypatch):
    """What was typed is not an input: a job's process has another command line."""
    monkeypatch.setattr(setup, "is_checked", lambda *_: True)
    monkeypatch.setattr("sys.argv", ["snakemake", "compare", "latent_depth_table5"])
    head = setup.begin(ROOT, {"scale": "tiny"}, head=True)
    monkeypatch.setattr("sys.argv", ["snakemake", "--mode", "subprocess"])
    job = setup.begin(ROOT, {"scale": "tiny"}, head=False)
    for target in ("compare", "latent_depth_table5", "latent_depth", "all"):
        assert head.files(target) == job.files(target)


def test_a_clone_in_a_folder_with_braces_is_refused_in_one_line(tmp_path):
    with refused("braces in a path", where="a{b}c", remedy="move the clone"):
        setup.begin(tmp_path / "a{b}c", {}, head=True)


SITE = """scale: paper
gpu_hours: 500
site:
  max_gpus: 8
  gpus_per_node: 4
"""


@pytest.fixture
def site(tmp_path):
    """The file of a site, and what Snakemake makes of it."""
    path = tmp_path / "site.yaml"
    path.write_text(SITE, encoding="utf-8")
    return path, {"scale": "paper", "gpu_hours": 500, "site": {"max_gpus": 8, "gpus_per_node": 4}}


def test_a_site_has_its_place_where_a_command_line_does_not_change_it(site):
    path, config = site
    made = setup.begin(ROOT, config, head=False, cluster=True, files=[path])
    assert (made.scale, made.gpus, made.project.switches.site.max_gpus) == ("paper", 1, 8)
    assert title(made).startswith(f"scale paper ({path}): the papers' own")
    os.environ.pop(VARIABLE)
    # `--config scale=tiny site='{max_gpus: 2}'` gives text, and keeps the rest of the site.
    changed = config | {"scale": "tiny", "site": {"max_gpus": "2", "gpus_per_node": 4}}
    made = setup.begin(ROOT, changed, head=False, cluster=True, files=[path])
    assert title(made).startswith("SCALE TINY (--config): ")
    assert made.project.switches.site.max_gpus == 2
    places = {key: made.project.given.place("site", key) for key in ("max_gpus", "gpus_per_node")}
    assert places == {
        "max_gpus": "--config: site.max_gpus",
        "gpus_per_node": f"{path}:5: site.gpus_per_node",
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("max_gpus", "max_gpu", r":4: site.max_gpu: unknown key 'max_gpu'; .*'max_gpus'"),
        ("scale", "scales", r":1: scales: unknown key 'scales'; .*'scale'"),
        ("8", "0", r":4: site.max_gpus: .*1 or more"),
        ("8", "many", r":4: site.max_gpus: 'many' is not a whole number"),
        ("site:", "site: [1]\nother:", r":3: site: .*a mapping"),
    ],
)
def test_a_mistake_in_a_site_is_refused_with_file_line_and_key(tmp_path, old, new, message):
    path = tmp_path / "site.yaml"
    path.write_text(SITE.replace(old, new), encoding="utf-8")
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    with pytest.raises(FathomError, match=re.escape(str(path)) + message):
        setup.begin(ROOT, config, head=False, cluster=True, files=[path])


def test_a_mistyped_switch_and_a_file_where_results_should_be_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    why = f"results {tmp_path}/file: a file, not a folder; move it away, or name another folder"
    for given, message in (
        ({"scale": "papr"}, r"--config: scale: no scale 'papr'; .*'paper'"),
        ({"results": f"{tmp_path}/file/inside"}, why),
    ):
        with pytest.raises(FathomError, match=message):
            setup.begin(ROOT, given, head=True)


def test_rules_find_the_commands_of_the_interpreter_and_this_checkouts_code(monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin")
    setup.set_environment(ROOT, {})
    first, *_, last = os.environ["PATH"].split(os.pathsep)
    assert (Path(first) / "fathom").exists()
    assert last == str(ROOT / "workflow" / "bin")
    assert os.environ["PYTHONPATH"].split(os.pathsep)[0] == str(ROOT / "lib")


def test_jobs_keep_freed_memory_unless_the_user_has_bounds_of_his_own(monkeypatch):
    mine, *others = setup.ALLOCATOR
    monkeypatch.setenv(mine, "1")
    setup.set_environment(ROOT, {})
    assert os.environ[mine] == "1"
    assert all(os.environ[name] == setup.ALLOCATOR[name] for name in others)


def test_without_an_environment_a_job_says_in_one_line_how_to_make_it(tmp_path):
    found = subprocess.run(
        [ROOT / "workflow" / "bin" / "fathom", "train", "x"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "FATHOM_PROJECT": "/a/clone"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    assert found.stderr.count("\n") == 1
    assert "make -C /a/clone environment" in found.stderr


@pytest.mark.parametrize(
    ("device", "driver", "cluster", "gpus"),
    [
        ("cpu", True, False, 0),
        ("cpu", False, True, 0),
        ("cuda", False, False, 1),
        ("cuda:1", False, False, 1),
        ("auto", True, False, 1),
        ("auto", False, False, 0),
        ("auto", False, True, 1),
    ],
)
def test_a_training_asks_for_a_gpu_where_it_will_use_one(
    device, driver, cluster, gpus, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(setup, "DRIVER", tmp_path / "version")
    if driver:
        (tmp_path / "version").touch()
    assert setup.gpus_for(device, cluster) == gpus


def test_a_look_up_that_refuses_ends_the_program_with_its_message():
    def refuse(name):
        raise FathomError(f"no {name}", "here", "choose another")

    with pytest.raises(SystemExit, match="fathom: here: no run; choose another"):
        setup.ask(refuse, "run")


# What a Snakemake without fathom has anyway.
OF_SNAKEMAKE = {"yaml", "pydantic", "pydantic_core", "annotated_types"}
OF_SNAKEMAKE |= {"typing_extensions", "typing_inspection"}


def test_a_dry_run_imports_only_what_every_snakemake_has():
    code = (
        "import sys, pathlib; before = set(sys.modules)\n"
        "from fathom.workflow import setup, start\n"
        f"made = setup.begin(pathlib.Path({str(ROOT)!r}), {{'scale': 'paper'}}, head=False)\n"
        "start.found(made, 'all'); made.files('all')\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    printed = python(code)
    assert printed.returncode == 0, printed.stderr
    imported = set(printed.stdout.split()) - set(sys.stdlib_module_names)
    assert {name for name in imported if not name.startswith(("_", "cython"))} <= OF_SNAKEMAKE | {
        "fathom"
    }


def logged(folder, script, reader="cat"):
    """Run a script through fathom-logged into a reader; return its exit code, log and output."""
    command = f"{ROOT}/workflow/bin/fathom-logged log bash -c '{script}' | {reader} > out"
    shell = ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"]
    code = subprocess.run(shell, cwd=folder, check=False).returncode
    return code, (folder / "log").read_text("utf-8"), (folder / "out").read_text("utf-8")


@pytest.mark.parametrize("code", [0, 143])
def test_a_job_ends_with_the_code_of_its_command_and_all_of_its_lines(tmp_path, code):
    script = f"echo one; echo two >&2; exit {code}"
    assert logged(tmp_path, script) == (code, "one\ntwo\n", "one\ntwo\n")


def test_a_job_whose_reader_is_gone_ends_well_and_has_all_lines_in_its_log(tmp_path):
    code, log, out = logged(
        tmp_path, "echo one; sleep 0.1; echo two; sleep 0.05; echo 3", "head -1"
    )
    assert (code, log, out) == (0, "one\ntwo\n3\n", "one\n")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1", "USR2", "XCPU"])
def test_a_job_waits_for_what_its_command_does_after_a_signal(tmp_path, name):
    stop = f"trap 'echo saved; exit 128' {name}; echo here; kill -{name} 0; sleep 9"
    script = stop.replace("'", '"')
    shell = ["bash", "-c", f"exec {ROOT}/workflow/bin/fathom-logged log bash -c '{script}'"]
    job = subprocess.run(shell, cwd=tmp_path, check=False, start_new_session=True)
    assert job.returncode == 128
    assert (tmp_path / "log").read_text("utf-8") == "here\nsaved\n"


def switches(**values):
    return [from_plain(values, "--config")]


def test_other_switches_and_an_edited_file_are_another_state(project):
    states = {setup.states_of(project, switches(scale=scale))[1] for scale in ("tiny", "paper")}
    for name in ("columns.yaml", "papers/lamgd/reported/table2.csv"):
        path = project / "config" / name
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        states.add(setup.states_of(project, switches(scale="tiny"))[1])
    assert len(states) == 4


@pytest.mark.parametrize("edited", ["config/scales/tiny.yaml", None])
def test_a_job_that_is_refused_says_whether_config_has_changed_since_it_was_submitted(
    project, monkeypatch, edited
):
    """Its run had no folder any more, and nothing said that an edit had moved it."""
    monkeypatch.chdir(project)
    monkeypatch.setattr(setup, "is_checked", lambda *_: True)
    setup.begin(project, {"scale": "tiny"}, head=True)
    if edited:
        text = (project / edited).read_text(encoding="utf-8")
        (project / edited).write_text(f"{text}\n# a comment\n", encoding="utf-8")
    job = setup.begin(project, {"scale": "tiny"}, head=False)
    with pytest.raises(SystemExit) as ended:
        setup.ask(job.run, "latent_depth/m2o_diverse_6_6-00000000")
    [refusal, *changed] = str(ended.value).split("\n")
    assert "has this folder" in refusal
    assert [("start again" in line) for line in changed] == ([True] if edited else [])


@pytest.mark.slow
def test_a_fault_is_found_after_a_start_that_found_none(project, monkeypatch):
    monkeypatch.chdir(project)
    monkeypatch.setattr(setup, "set_environment", lambda *_: None)
    setup.begin(project, {}, head=True)
    state = setup.CHECKED.read_text(encoding="utf-8")
    setup.CHECKED.write_bytes(b"\xff\xfe")
    assert not setup.is_checked(state)
    setup.CHECKED.write_text(state, encoding="utf-8")
    assert setup.is_checked(state)
    runs = project / "config/papers/latent_depth/runs.yaml"
    text = runs.read_text(encoding="utf-8")
    runs.write_text(
        text.replace(
            "layers: 12/48, seeds: 5, method: {target_depth: 24}",
            "layers: 12/48, seeds: 5, method: {target_depth: 99}",
        ),
        "utf-8",
    )
    for _ in range(2):
        with pytest.raises(Findings):
            setup.begin(project, {}, head=True)
