"""What is refused before anything is submitted, and what Slurm's partitions allow."""

import math
import sys
from pathlib import Path

import pytest

from snakemake_executor_plugin_slurm_attach import preflight
from snakemake_executor_plugin_slurm_attach.preflight import minutes, partitions
from snakemake_executor_plugin_slurm_attach.request import ExecutorSettings, Request
from snakemake_executor_plugin_slurm_attach.slurm import COMMANDS

LIST = "main*|1-00:00:00|8000|32|gpu:h200:4(S:0-1)|2|idle\nmain*|1-00:00:00|4000+|32|(null)|1|mixed"
LIST += "\nlong|infinite|8000|32|gpu:h200:4|2|idle~"
NO_NODES = "sbatch: error: Requested node configuration is not available"


@pytest.fixture(autouse=True)
def slurm(answers):
    """Two partitions, and a Slurm that accepts everything."""
    for name in COMMANDS:
        answers(name)
    answers("sinfo", LIST)


def request(rule="train_run", settings=None, **given):
    """Return a job with resources."""
    return Request(rule, "x", ("/r/x",), given, 1, ExecutorSettings(**(settings or {})))


def check(requests):
    """Return the lines of the refusal."""
    return preflight.check(requests, Path("/jobs"))[0]


def refused(*requests):
    """Return the line of the refusal."""
    [line] = check(list(requests))
    return line


def test_where_all_is_well_nothing_is_printed_and_slurm_is_asked_once_for_each_kind(calls):
    requests = [request(runtime=at, mem_mb=at) for at in range(1, 50)]
    assert check([*requests, request(gpu=1)]) == []
    assert check([request(gpu=1, gres="gpu:2", nodes=3)]) == []
    asked = calls("sbatch")
    assert len(asked) == 3
    # With all words of the submission.
    words = requests[-1].words(Path("/jobs") / requests[-1].name)
    assert f"sbatch --test-only {' '.join(words)}" in asked


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"runtime": 1441}, ("1441 minutes", "main", "1440", "`runtime`")),
        ({"mem_mb": 8001}, ("8001 MB", "8000", "`mem_mb`")),
        ({"gpu": 8}, ("8 GPUs", "4", "`gpu`")),
        ({"gres": "gpu:h200:8"}, ("8 GPUs", "4", "`gres`")),
        ({"nodes": 4}, ("4 nodes", "3", "`nodes`")),
        ({"gpu": 4, "cpus_per_gpu": 9}, ("36 cores", "32", "`cpus_per_gpu`")),
        ({"gpu": 3, "nodes": 2}, ("2 nodes cannot share 3 GPUs",)),
        ({"partition": "maim"}, ("no partition 'maim' (a resource of the rule)", "'main'")),
        ({"resumes": "r/{run}/last.pt"}, ("no wildcards", "`resumes`", "function")),
        ({"settings": {"extra": "--tmp=9 --job-name=x"}}, ("`--job-name=x`", "-attach-extra")),
        *(
            ({"extra": word}, (f"`{word}` contradicts", "(a resource of the rule)", remedy))
            for word, remedy in {
                "--nodes=1": "`nodes`",
                "-N2": "`nodes`",
                "--ntasks=2": "`nodes`",
                "--gres=gpu:1": "`gpu-as`",
                "--gpus-per-node=1": "`gpu-as`",
                "--mem-per-cpu=9": "option `memory`",
                "--mem=9": "option `memory`",
                "--time=9": "`runtime`",
                "-c9": "threads",
                "--partition=long": "`partition`",
            }.items()
        ),
        (
            {"settings": {"memory": "per-gpu"}},
            ("'per-gpu' is not known", "-attach-memory", "'per-"),
        ),
        *(
            ({"extra": word}, (f"no start finds a job with `{word}` (a resource of",))
            for word in ("--array=1-3", "-J", "--clusters=a", "--wait")
        ),
        ({"slurm_partition": "main"}, ("no resource 'slurm_partition'", "'partition'")),
    ],
)
def test_what_a_partition_does_not_have_is_refused_with_both_numbers(given, words):
    line = refused(request(**given))
    assert line.startswith("train_run: ")
    assert all(word in line for word in words)


def test_of_several_partitions_a_job_needs_to_fit_into_one():
    """`partition=main,high` was refused as one name."""
    assert check([request(partition="main,long", runtime=3000)]) == []
    assert "no partition 'lang'" in refused(request(partition="main,lang"))


PROFILE = """slurm-attach-partition: maim
slurm-attach-extra: "--reservation=nope"
slurm-attach-gpu-partition: gqu
set-resources:
  - train_run:runtime=2000
default-resources: [account=bad, qos=high]
"""


@pytest.mark.parametrize(
    ("given", "words", "place"),
    [
        ({"settings": {"partition": "maim"}}, (), "`slurm-attach-partition` in {profile}"),
        ({"settings": {"partition": "main", "gpu_partition": "gqu"}, "gpu": 1}, (),
         "`slurm-attach-gpu-partition` in {profile}"),
        ({"settings": {"partition": "maim"}}, ("--slurm-attach-partition=maim",),
         "`slurm-attach-partition` of the command line"),
        ({"partition": "maim"}, (), "a resource of the rule"),
        ({"partition": "maim"}, ("--default-resources", "partition=maim"),
         "`partition` of the command line"),
        ({"runtime": 2000}, (), "`runtime` in {profile}"),
        ({"runtime": 2000}, ("--set-resources", "train_run:runtime=2000"),
         "`runtime` of the command line"),
        ({"runtime": 2000}, ("--set-resources", "other:runtime=2000"), "`runtime` in {profile}"),
        ({"mem_mb": 9000}, (), "a resource of the rule"),
        ({"settings": {"gpu_as": "gpu"}}, (),
         "`slurm-attach-gpu-as` of the profile, or its default"),
        # In Slurm's words, with all that was asked for, by its place.
        ({"account": "bad"}, (), "--account=bad (`account` in {profile})"),
        ({"account": "bad"}, ("account=bad",), "--account=bad (`account` of the command line)"),
        ({"settings": {"extra": "--reservation=nope"}, "constraint": "x", "mem_mb": 9}, (),
         "--constraint=x --cpus-per-task=1 --mem=9 (a resource of the rule), "
         "--nodes=1 --ntasks-per-node=1 --dependency=singleton (of every job), "
         "--reservation=nope (`slurm-attach-extra` in {profile})"),
    ],
)  # fmt: skip
def test_a_refusal_says_where_the_value_is_written(
    answers, monkeypatch, tmp_path, given, words, place
):
    """A wrong partition of the command line was reported as the profile's."""
    answers("sbatch", code=1, message="sbatch: error: no")
    profile = tmp_path / "site" / "config.yaml"
    profile.parent.mkdir()
    profile.write_text(PROFILE)
    monkeypatch.setattr(sys, "argv", ["snakemake", "--profile", str(profile.parent), *words])
    assert place.format(profile=profile) in refused(request(**given))


def test_a_profile_is_also_found_among_those_of_the_user(monkeypatch, tmp_path):
    profile = tmp_path / ".config" / "snakemake" / "site" / "config.yaml"
    profile.parent.mkdir(parents=True)
    profile.write_text(PROFILE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SNAKEMAKE_PROFILE", "site")
    assert f"`slurm-attach-partition` in {profile}" in refused(
        request(settings={"partition": "maim"})
    )


def test_each_refusal_is_one_line_with_its_rules():
    jobs = [request(rule, runtime=2000) for rule in ("train_run", "translate_run", "train_run")]
    line = refused(*jobs, request("other", runtime=10))
    assert line.startswith("train_run, translate_run: 2000 minutes is more")


def test_a_misspelt_resource_is_named_where_another_rule_tells_slurm_the_same():
    line = refused(request(slurm_partition="main"), request("translate_run"))
    assert line.startswith("train_run: no resource 'slurm_partition'")


def test_a_refused_account_is_in_slurms_words_also_with_nodes_down(answers):
    answers("sbatch", code=1, message="sbatch: error: Invalid account or account/partition")
    for nodes in (LIST, LIST.replace("mixed", "down*")):
        answers("sinfo", nodes)
        line = refused(request(account="nosuch"))
        assert "--account=nosuch" in line
        assert "Invalid account" in line


def test_a_configuration_is_refused_only_where_all_nodes_are_up(answers):
    """With drained nodes --test-only refuses what sbatch accepts: the job waits."""
    answers("sbatch", code=1, message=NO_NODES)
    assert "Slurm refuses" in refused(request(gpu=4))
    answers("sinfo", LIST.replace("mixed", "drained*"))
    assert check([request(gpu=4)]) == []


@pytest.mark.parametrize(
    ("words", "is_refused"),
    [
        ("sbatch: error: AssocMaxSubmitJobLimit", False),
        ("allocation failure: Required partition not available (inactive or drain)", False),
        ("Could not establish a configuration source", False),
        ("sbatch: error: the partition cpu is for other jobs", True),
    ],
)
def test_what_slurm_will_take_later_refuses_nothing(answers, words, is_refused):
    answers("sbatch", code=1, message=words)
    assert bool(check([request()])) == is_refused


def test_where_slurm_takes_no_singleton_jobs_are_submitted_without_it(answers, calls):
    """It was tested with other words than were submitted, and each job failed."""
    answers(
        "sbatch", script='[[ "$*" != *singleton* ]] || { echo "error: no dependency" >&2; exit 1; }'
    )
    assert preflight.check([request(), request(gpu=1)], Path("/jobs")) == ([], False)
    answers("sbatch", code=1, message="error: nothing")
    problems, is_single = preflight.check([request()], Path("/jobs"))
    assert is_single
    assert "--dependency=singleton" in problems[0]


def test_without_slurm_one_message_names_what_is_missing(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert refused(request()).startswith("no `sbatch` on the search path")


@pytest.mark.parametrize("text", ["", "<html>502</html>"])
def test_a_slurm_that_is_away_is_one_line(answers, text):
    answers("sinfo", text)
    assert refused(request()).startswith("Slurm does not answer")


def test_where_nothing_is_submitted_slurm_is_not_asked(calls):
    assert check([]) == []
    assert calls() == []


@pytest.mark.parametrize(
    ("limit", "number"),
    [
        ("1-00:00:00", 1440),
        ("2:30:00", 150),
        ("30:00", 30),
        ("1-12:00:30", 2160.5),
        ("infinite", math.inf),
        ("n/a", math.inf),
    ],
)
def test_a_time_limit_is_minutes(limit, number):
    assert minutes(limit) == number


def test_partitions_have_their_limit_and_their_nodes():
    listed, default = partitions()
    assert default == "main"
    assert listed["main"].minutes == 1440
    assert listed["main"].nodes == [(8000, 32, 4), (8000, 32, 4), (4000, 32, 0)]
    assert listed["long"].minutes == math.inf
