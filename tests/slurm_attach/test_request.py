"""What a job asks for, and its name."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from snakemake_executor_plugin_slurm_attach.request import ExecutorSettings, Request

ONE = ["--nodes=1", "--ntasks-per-node=1"]
BARE = [*ONE, "--cpus-per-task=1"]


def request(threads=1, output=("results/a/training.json",), wildcards=None, settings=None, **given):
    """Return what a job of Snakemake asks for."""
    said = {"resources": given, "threads": threads, "wildcards": wildcards or {"seed": "1"}}
    job = SimpleNamespace(name="train_run", output=output, properties=lambda: json.dumps(said))
    return Request.of(job, ExecutorSettings(**(settings or {})))


@pytest.mark.parametrize(
    ("given", "settings", "words"),
    [
        ({}, {}, BARE),
        ({"runtime": 90, "mem_mb": 500}, {}, ["--time=90", *BARE, "--mem=500"]),
        ({"gpu": 1, "threads": 4}, {}, [*ONE, "--gres=gpu:1", "--cpus-per-task=4"]),
        # Cores for each GPU of a node, whoever asks for them; and one setting alone.
        ({"gpu": 4, "cpus_per_gpu": 4, "threads": 4}, {"gpu": "h200"},
         [*ONE, "--gres=gpu:h200:4", "--cpus-per-task=16"]),
        ({"gpu": 1, "gres": "gpu:4", "cpus_per_gpu": 2}, {},
         [*ONE, "--gres=gpu:4", "--cpus-per-task=8"]),
        ({"gpu": 1, "cpus_per_gpu": 2, "threads": 2}, {},
         [*ONE, "--gres=gpu:1", "--cpus-per-task=2"]),
        ({"gpu": 0, "gres": "license:3", "cpus_per_gpu": 4}, {},
         [*ONE, "--gres=license:3", "--cpus-per-task=1"]),
        ({"gpu": 4, "mem_mb": 500}, {"gpu_mem_mb": 100},
         [*ONE, "--gres=gpu:4", "--cpus-per-task=1", "--mem=800"]),
        ({"gpu": 8, "nodes": 2}, {},
         ["--nodes=2", "--ntasks-per-node=1", "--gres=gpu:4", "--cpus-per-task=1"]),
        # In the words of sites without --gres or --mem.
        ({"gpu": 8, "nodes": 2}, {"gpu_as": "gpus", "gpu": "a100"},
         ["--nodes=2", "--ntasks-per-node=1", "--gpus=a100:8", "--cpus-per-task=1"]),
        ({"gpu": 8, "nodes": 2}, {"gpu_as": "gpus-per-node"},
         ["--nodes=2", "--ntasks-per-node=1", "--gpus-per-node=4", "--cpus-per-task=1"]),
        ({"gpu": 0}, {"gpu_as": "gpus"}, BARE),
        ({"mem_mb": 901, "threads": 3}, {"memory": "per-cpu"},
         [*ONE, "--cpus-per-task=3", "--mem-per-cpu=301"]),
        ({"mem_mb": 901}, {"memory": "none"}, BARE),
        # A job with a GPU goes to its partition, and a resource wins over an option.
        ({}, {"partition": "cpu", "gpu_partition": "a,b"}, ["--partition=cpu", *BARE]),
        ({"gpu": 1}, {"partition": "cpu", "gpu_partition": "a,b"},
         ["--partition=a,b", *ONE, "--gres=gpu:1", "--cpus-per-task=1"]),
        ({"partition": "long"}, {"partition": "cpu"}, ["--partition=long", *BARE]),
        ({"account": "x", "reservation": "r"}, {"account": "y", "qos": "q", "constraint": "c"},
         ["--account=x", "--qos=q", "--constraint=c", "--reservation=r", *BARE]),
        ({"extra": "--exclude=n1"}, {"extra": "--comment='a b'", "gpu_extra": "-x"},
         [*BARE, "--comment=a b", "--exclude=n1"]),
        ({"gpu": 1}, {"gpu_extra": "--tmp=1 -H"},
         [*ONE, "--gres=gpu:1", "--cpus-per-task=1", "--tmp=1", "-H"]),
        # What follows from a file that is not there yet.
        ({"mem_mb": "<TBD>"}, {}, BARE),
    ],
)  # fmt: skip
def test_a_job_asks_for_what_its_rule_and_its_user_say(given, settings, words):
    made = request(given.pop("threads", 1), settings=settings, **given)
    assert [word for _, word in made.asked] == words
    assert {*words} < {*made.words(Path("/home"))}


@pytest.mark.parametrize(
    ("given", "is_single", "words"),
    [
        ({}, True, ["--dependency=singleton"]),
        ({}, False, []),
        ({"extra": "--dependency=afterok:3"}, True, ["--dependency=afterok:3"]),
        # To the batch shell: a job without srun has no steps.
        ({"resumes": "x"}, False, ["--signal=B:USR1@120"]),
    ],
)
def test_a_job_is_kept_apart_from_its_double_and_warned_where_it_resumes(given, is_single, words):
    made = request(**given).words(Path("/al ice/50% off"), is_single)
    assert [word for word in made if word.startswith(("--dependency", "--signal"))] == words
    assert "--output=/al ice/50%% off/%j.out" in made


def test_one_folder_of_two_names_is_one_job(tmp_path):
    """A GPU idled for a whole training."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    one, other = (request(output=[f"{tmp_path}/{name}/x.json"]) for name in ("real", "link"))
    assert one.name == other.name
    assert f"--comment={one.name} {tmp_path}/real/x.json" in other.words(tmp_path)


def test_a_job_is_named_by_its_output_and_so_by_results_run_and_seed(tmp_path, monkeypatch):
    first, same, second = request(), request(), request(output=["results/b/training.json"])
    assert first.name == same.name != second.name
    assert first.name.startswith("sa-train_run-1-")
    strange = request(wildcards={"data": "po wheels/ü x"}).name
    assert not {"/", " ", "|"} & {*strange}
    assert request(output=[]).name.startswith("sa-train_run-1-")
    monkeypatch.chdir(tmp_path)
    assert request().name != first.name


def test_a_name_that_nobody_reads_is_found_and_those_of_other_programs_are_left(tmp_path):
    """`slurm_partition` is of another plugin: unread, the job went to the default partition."""
    given = {"slurm_partition": "a", "parition": "b", "gpus": 2, "tmpdir": "/tmp", "local_gpu": 1}
    refused = {key: near for key, _, near in request(**given, login=1, mem_mib=3).refused()}
    assert refused == {
        "slurm_partition": "nearest valid name: 'partition'",
        "parition": "nearest valid name: 'partition'",
        "gpus": "nearest valid name: 'gpu'",
    }
