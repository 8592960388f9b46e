"""What a job asks for, and its name."""

import json
from types import SimpleNamespace

import pytest

from snakemake_executor_plugin_slurm_attach.request import ExecutorSettings, Request

BARE = ["--cpus-per-task=1"]


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
        # 4 cores for each GPU of a node, whoever asks for them.
        ({"gpu": 1}, {}, ["--gres=gpu:1", "--cpus-per-task=4"]),
        ({"gpu": 4}, {"gpu": "h200"}, ["--gres=gpu:h200:4", "--cpus-per-task=16"]),
        ({"gpu": 1, "gres": "gpu:4"}, {}, ["--gres=gpu:4", "--cpus-per-task=16"]),
        ({"gpu": 0, "gres": "license:3"}, {}, ["--gres=license:3", *BARE]),
        ({"gpu": 1}, {"gpu_cores": 8}, ["--gres=gpu:1", "--cpus-per-task=8"]),
        ({"gpu": 1, "threads": 6}, {}, ["--gres=gpu:1", "--cpus-per-task=6"]),
        ({"gpu": 2, "cpus_per_gpu": 6}, {}, ["--cpus-per-gpu=6", "--gres=gpu:2"]),
        ({"gpu": 4, "mem_mb": 500}, {"gpu_mem_mb": 100},
         ["--gres=gpu:4", "--cpus-per-task=16", "--mem=800"]),
        ({"gpu": 8, "nodes": 2}, {},
         ["--nodes=2", "--gres=gpu:4", "--cpus-per-task=16", "--ntasks-per-node=1"]),
        ({"nodes": 1}, {}, BARE),
        # A job with a GPU goes to its partition, and a resource wins over an option.
        ({}, {"partition": "cpu", "gpu_partition": "a,b"}, ["--partition=cpu", *BARE]),
        ({"gpu": 1}, {"partition": "cpu", "gpu_partition": "a,b"},
         ["--partition=a,b", "--gres=gpu:1", "--cpus-per-task=4"]),
        ({"partition": "long"}, {"partition": "cpu"}, ["--partition=long", *BARE]),
        ({"account": "x", "reservation": "r"}, {"account": "y", "qos": "q", "constraint": "c"},
         ["--account=x", "--qos=q", "--constraint=c", "--reservation=r", *BARE]),
        ({"extra": "--exclude=n1"}, {"extra": "--comment='a b'", "gpu_extra": "-x"},
         [*BARE, "--comment=a b", "--exclude=n1"]),
        ({"gpu": 1}, {"gpu_extra": "--tmp=1 -H"},
         ["--gres=gpu:1", "--cpus-per-task=4", "--tmp=1", "-H"]),
        # What follows from a file that is not there yet.
        ({"mem_mb": "<TBD>"}, {}, BARE),
    ],
)  # fmt: skip
def test_a_job_asks_for_what_its_rule_and_its_user_say(given, settings, words):
    assert request(given.pop("threads", 1), settings=settings, **given).options == words


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
    assert dict(request(**given, login=1, mem_mib=3).misspelt()) == {
        "slurm_partition": "partition",
        "parition": "partition",
        "gpus": "gpu",
    }
