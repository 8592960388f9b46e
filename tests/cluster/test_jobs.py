"""A job's name and its files."""

from pathlib import Path

import pytest

from fathom.cluster import jobs
from fathom.cluster.jobs import Folder, alone, gpus, read
from fathom.io.errors import FathomError


def test_a_job_is_named_by_its_output_and_so_by_results_run_and_seed(script, tmp_path):
    job, same, second = (read(script(seed)) for seed in ("1", "1", "2"))
    assert job.name == same.name != second.name
    assert job.name == f"fathom-train_run-m2o_diverse_6_6-106be524.1-{job.key}"
    strange = read(script(wildcards={"data": "po wheels/ü x"})).name
    assert not {"/", " "} & {*strange}
    output = "results/runs/x/1/training.json"
    here = read(script(output=[output]))
    assert here.outputs == (Path.cwd() / output,)
    assert here.key != read(script(output=[f"{tmp_path}/{output}"])).key


def test_a_group_of_jobs_and_a_script_without_properties_are_refused(script, tmp_path):
    with pytest.raises(FathomError, match="without `group`"):
        read(script(type="group"))
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/sh\ntrue\n")
    with pytest.raises(FathomError, match="without `group`"):
        read(path)


@pytest.mark.parametrize(
    ("resources", "count"),
    [
        ({"gres": "gpu:2"}, 2),
        ({"gres": "gpu:h200:8", "gpu": 1}, 8),
        ({"gpu": 1}, 1),
        ({"gpu": 0}, 0),
        ({"gres": "license:3"}, 0),
        ({}, 0),
    ],
)
def test_gpus_are_counted_once_and_a_job_on_the_cpu_asks_for_none(
    script, monkeypatch, resources, count
):
    assert gpus(resources) == count
    assert read(script(resources=resources)).gpus == count
    monkeypatch.setenv("FATHOM_CONFIG", '{"device": "cpu"}')
    assert read(script(resources=resources)).gpus == 0


def test_a_folder_remembers_what_was_submitted_undamaged(above, script):
    job = read(script())
    folder = Folder(above / job.name)
    assert folder.record() == {}
    folder.remember(job, "7", "8", ["runner"])
    record = folder.record()
    assert (record["id"], record["now"], record["rule"]) == ("7", "8", "train_run")
    assert list(jobs.folders(above)) == [folder]
    with alone(folder.path):
        (folder.path / "job.json").write_text("{")
    assert folder.record() == {}


def test_a_job_reads_its_script_and_its_outputs_and_nothing_of_the_one_before(above, script):
    path = script()
    job, folder = read(path), Folder(above / read(path).name)
    folder.path.mkdir()
    folder.stop.touch()
    folder.prepare(path, job)
    assert folder.script.read_text() == path.read_text()
    assert folder.outputs == list(job.outputs)
    assert not folder.stop.exists()
