"""The parts of Snakemake that a start changes though they have no option: there, and not needed."""

import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from fathom.workflow import inside_snakemake
from tests.support.own_project import ROOT

LOCKS = ["0.input.lock", "0.output.lock"]
# What to do where the locked Snakemake has a part no more, by what it is for.
REMEDIES = {
    "limits": "see how --cores and --resources limit what jobs elsewhere ask for, and lift it",
    "rules": "see which level of `quiet` hides failures, and take it out at a start",
    "looks": "time 500 short jobs: if looks still cost half a core, find their new clock",
    "locks": "find how Snakemake names the files of its lock, or document --unlock after a kill",
}
# A dry run prints the first two, and a start the last two, before and after the change.
SNAKEFILE = """
import json, sys
sys.path.insert(0, {lib!r})
from fathom.workflow import inside_snakemake as inside


def say(**said):
    print(json.dumps(said), file=sys.stderr)


def limits():
    return [workflow.global_resources[name].value for name in ("_cores", "gpu")]



if "change" in config:
    inside.lift_limits_of_this_machine(workflow)
    inside.show_rules(workflow)
say(limits=limits(), rules=sorted(each.name for each in workflow.output_settings.quiet))


rule both:
    input: "a", "b"


rule one:
    output: "{{name}}"
    shell: "touch {{output}}"


onstart:
    if "change" in config:
        inside.look_only_when_jobs_end(workflow)
    say(looks=workflow.scheduler.job_rate_limiter is not None)
    say(locks=sorted(path.name for path in inside.locks(workflow)))
"""


def started(folder, *options):
    """Start a small workflow; return what it found inside of Snakemake, by what it is for."""
    (folder / "Snakefile").write_text(SNAKEFILE.format(lib=str(ROOT / "lib")))
    words = ("both", "--cores", "1", "--resources", "gpu=1", "--quiet", "host", "rules")
    ended = subprocess.run(
        [sys.executable, "-m", "snakemake", *words, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert (folder / "a").exists()
    assert (folder / "b").exists()
    lines = [line for line in ended.stderr.split("\n") if line.startswith("{")]
    return {key: value for line in lines for key, value in json.loads(line).items()}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the locked Snakemake has, without and with our changes."""
    folders = [tmp_path_factory.mktemp(name) for name in ("plain", "changed")]
    return [started(folders[0]), started(folders[1], "--config", "change=1")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "plain", "changed"),
    [
        ("limits", [1, 1], [None, None]),
        ("rules", ["HOST", "RULES"], ["HOST"]),
        ("looks", True, False),
        ("locks", LOCKS, LOCKS),
    ],
)
def test_the_locked_snakemake_still_has_each_part(found, part, plain, changed):
    assert [each[part] for each in found] == [plain, changed], REMEDIES[part]


@pytest.mark.slow
def test_a_limit_of_jobs_that_was_asked_for_stays(tmp_path):
    words = ("--max-jobs-per-timespan", "50/1s", "--config", "change=1")
    assert started(tmp_path, *words)["looks"]


@pytest.mark.parametrize(
    "workflow",
    [
        SimpleNamespace(),
        SimpleNamespace(
            global_resources=(),
            output_settings=SimpleNamespace(quiet=1, dryrun=False),
            scheduler=SimpleNamespace(job_rate_limiter=1),
            persistence=SimpleNamespace(_lockfile=()),
        ),
    ],
)
def test_a_start_goes_on_where_a_part_is_gone_or_is_another_thing(workflow):
    for change in ("lift_limits_of_this_machine", "show_rules", "look_only_when_jobs_end"):
        getattr(inside_snakemake, change)(workflow)
    assert inside_snakemake.locks(workflow) == []


def test_jobs_elsewhere_may_ask_for_more_than_this_machine_has():
    """Of 8 GPUs, `resources: {gpu: 1}` left one, and of 16 cores the login node's two."""
    limits = {"_cores": 2, "gpu": 1, "login": 2}
    inside_snakemake.lift_limits_of_this_machine(SimpleNamespace(global_resources=limits))
    assert limits == {"_cores": None, "gpu": None, "login": 2}


def test_the_workflow_reaches_inside_of_snakemake_in_one_module_alone():
    workflow = (ROOT / "workflow" / "Snakefile").read_text(encoding="utf-8")
    for name in ("show_rules", "lift_limits_of_this_machine", "look_only_when_jobs_end", "locks"):
        assert f"inside_snakemake.{name}(workflow)" in workflow
    files = [*(ROOT / "workflow").rglob("*.smk"), *(ROOT / "lib" / "fathom").rglob("*.py")]
    files = [each for each in files if each.name != "inside_snakemake.py"]
    texts = [workflow, *(each.read_text(encoding="utf-8") for each in files)]
    private = r"workflow\.(\w+\.)*_\w+|\bworkflow(\.\w+)+(\[[^]]+\])? -?= "
    assert [found[0] for text in texts if (found := re.search(private, text))] == []
