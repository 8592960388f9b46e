"""A start: what it finds, checks, records and prints, and whose locks of Snakemake it removes."""

import json
import os
import platform
import re
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from fathom.artefacts.needs import sources_of
from fathom.config.project import Project
from fathom.config.schema.source import Archive
from fathom.config.switches import Switches
from fathom.io.errors import FathomError
from fathom.io.files import write_json
from fathom.io.locks import started
from fathom.io.records import write_record
from fathom.results.recipe import RECIPE
from fathom.workflow import start, starts
from fathom.workflow.job_sizes import Sizes
from fathom.workflow.setup import ask
from fathom.workflow.start import found, left_out, set_back, title
from fathom.workflow.starts import (
    LOCKS,
    STARTS,
    add_trainings,
    enter,
    trainings_of_all,
)
from fathom.workflow.targets import READING
from tests.data.server import Site
from tests.support.own_project import NOT_BUILT, TABLE, own_project, planned, targets
from tests.support.scripts import python
from tests.support.small_disk import small_disk

RUN = "latent_depth/m2o_diverse_6_6"
ROW = f"{TABLE}_row"
ABOVE = Path("results") / "cluster"
GONE = "the lock of an earlier start, which is gone, is removed"
FOREIGN = "another workflow may run in this folder; if none does, add --unlock once"


def finish(made, name, **content):
    """Leave the training.json of a finished run."""
    path = made.paths.training(made.spec(name), 1)
    write_record(path, {"recipe": RECIPE["training"]} | content)


def test_a_target_says_how_many_trainings_are_missing(tmp_path):
    made = targets(tmp_path)
    assert title(made).startswith("SCALE TINY (config/config.yaml): an eighth")
    count = len(made.artefact(TABLE).runs)
    assert found(made, TABLE)[0] == f"{TABLE}: 0 of {count} trainings found, {count} to train"
    finish(made, RUN)
    assert found(made, TABLE)[0] == f"{TABLE}: 1 of {count} trainings found, {count - 1} to train"
    for target in ("compare", "claims"):
        assert "nothing will be trained" in found(made, target)[0]
    assert found(targets(tmp_path, seeds=15, row="12/12"), ROW)[0].endswith("15 to train")


def test_a_run_brings_the_training_that_it_starts_from(tmp_path):
    made = targets(tmp_path)
    name = next(name for name in made.built if made.spec(name).start)
    alone = replace(made, project=made.project.with_switches(Switches(scale="tiny", run=name)))
    assert found(alone, "run")[0] == "run: 0 of 2 trainings found, 2 to train"


def test_a_start_names_the_text_of_its_runs_and_the_time_that_they_are_expected_to_take(tmp_path):
    """It spoke of the papers' text to whoever trained on text of their own."""
    made, messages = targets(tmp_path), "Software messages, diverse languages: the translations"
    assert "text" not in title(made)
    assert found(made, TABLE)[1:] == [
        f"text: {messages} inside four Python packages (in place of ted8_diverse)"
    ]
    assert "; and 5 more data sets (in place of " in found(made, "all")[1]
    assert found(targets(tmp_path, "paper"), TABLE)[1:] == [
        "text: TED8, diverse languages: TED talks with English"
    ]
    (line,) = Sizes(made, on_cluster=False, gpu="cpu").hours(TABLE)
    assert re.fullmatch(r"expected: \S+ to \S+ core-hours on cpu, .*not measured", line)
    assert [*Sizes(made, on_cluster=False, gpu="cpu").hours("compare")] == []


def test_a_run_of_an_older_recipe_is_named_stale(tmp_path):
    made = targets(tmp_path)
    finish(made, RUN, recipe=0)
    older = "1 trainings of an older recipe"
    assert found(made, TABLE)[2] == f"{older}: kept; --config retrain=stale"
    again = targets(tmp_path, retrain="stale")
    assert found(again, TABLE)[2] == f"{older}: trained again from nothing"


def test_all_lists_what_is_not_built_with_the_reason(tmp_path):
    made = targets(tmp_path, "paper", planned(own_project()))
    printed = "\n".join(found(made, "all"))
    count = sum(len(made.seeds(name)) for name in made.runs_not_built)
    assert f"{count} trainings are left out" in printed
    for reason in made.runs_not_built.values():
        assert reason.split("; ")[0] in printed
    for target in made.artefacts_not_built:
        assert target in printed
    assert [*left_out(made, "all")] == found(made, "all")[2:]
    assert [*left_out(made, TABLE)] == []
    of_one_paper = "\n".join(found(made, "latent_depth"))
    assert NOT_BUILT in of_one_paper
    assert "transparent_attention" not in of_one_paper


def test_what_is_left_out_is_said_again_at_the_end(tmp_path, capsys):
    made = replace(targets(tmp_path, "paper"), ready_only=True)
    start.say_left_out(made, ["latent_depth", "latent_depth", TABLE])
    printed = capsys.readouterr().err.strip().split("\n")
    lines = [*left_out(made, "latent_depth")]
    assert [line.removeprefix("fathom: ") for line in printed] == lines
    command = "`snakemake latent_depth --config scale=paper_rebuilt`"
    way = f"{command} fetches text for 78 of them"
    assert printed[0] == f"fathom: 78 trainings are left out; {way}:"
    assert printed[1].startswith("  34: put wmt16_en_de.tar.gz into ")
    assert printed[2].startswith("  44: put ted_orig.zip into ")
    assert next(left_out(made, "all")) == (
        "126 trainings are left out; `snakemake all --config scale=paper_rebuilt` fetches text for "
        "94 of them:"
    )
    there = replace(targets(tmp_path, "paper_rebuilt"), ready_only=True)
    assert next(left_out(there, "all")) == "32 trainings are left out:"


def job(name, **resources):
    """Return a job of a rule, as Snakemake knows it when it has found all of them."""
    return SimpleNamespace(rule=SimpleNamespace(name=name), resources=resources)


@pytest.fixture
def made(tmp_path):
    """The targets of one row."""
    return targets(tmp_path / "results", row="6/6")


@pytest.fixture
def workflow(tmp_path, monkeypatch):
    """A start with our profile in a working folder."""
    monkeypatch.chdir(tmp_path)
    start._enter.cache_clear()
    jobs = [job("train_run", gpu=1, runtime=1440), job("prepare_corpus", runtime=480)]
    yield SimpleNamespace(
        executor_plugin=SimpleNamespace(name=start.EXECUTOR),
        nodes=100,
        dryrun=False,
        touch=False,
        dag=SimpleNamespace(needrun_jobs=lambda: iter(jobs)),
        jobs=jobs,
    )
    start._enter.cache_clear()


def ready(workflow, made, target=ROW):
    return start.ready(workflow, Sizes(made, on_cluster=True), target)


HERE = "Ctrl-C stops all jobs of this start"


@pytest.mark.parametrize(
    ("plugin", "stops"),
    [
        (start.EXECUTOR, "Ctrl-C cancels all jobs of this start on Slurm"),
        ("local", HERE),
        ("slurm", HERE),
    ],
)
def test_a_start_prints_how_to_stop_it_once_and_records_itself_and_what_it_trains(
    workflow, made, plugin, stops
):
    """Without our profile too: its lock would else be taken for the one of a start that is gone."""
    workflow.executor_plugin.name = plugin
    assert stops in ready(workflow, made)[0]
    assert ready(workflow, made) == []
    assert len(list((made.paths.cluster / STARTS).iterdir())) == 1
    [name] = made.names_of(ROW)
    assert trainings_of_all(made.paths.cluster) == {
        made.paths.training(made.spec(name), 1).absolute()
    }


@pytest.mark.parametrize("changed", [{"dryrun": True}, {"touch": True}, {"executor_plugin": None}])
def test_a_dry_run_prints_and_records_nothing(workflow, made, changed):
    vars(workflow).update(changed)
    assert ready(workflow, made) == []
    assert not made.paths.cluster.exists()


def test_what_reads_submits_and_trains_nothing(workflow, tmp_path):
    made = targets(tmp_path / "results")
    assert [line for target in READING for line in ready(workflow, made, target)] == []
    assert trainings_of_all(made.paths.cluster) == set()


def test_more_gpu_hours_than_the_user_allows_are_refused_before_a_job_is_submitted(
    workflow, tmp_path
):
    made = targets(tmp_path / "results", "paper", gpu_hours=3)
    with pytest.raises(FathomError, match="gpu_hours: latent_depth asks for"):
        ready(workflow, replace(made, gpus=1), "latent_depth")
    assert not made.paths.cluster.exists()


@pytest.mark.parametrize("version", ["2.13.0+cpu", "2.13.0", ""])
def test_jobs_on_gpus_are_refused_where_their_torch_is_built_for_cpus(
    workflow, tmp_path, monkeypatch, version
):
    """Each job refused by itself, one after the other. Of a wrapper nothing can be seen."""
    environment = tmp_path / "environment"
    command = environment / "bin" / "fathom"
    command.parent.mkdir(parents=True)
    command.touch(0o755)
    if version:
        torch = environment / "lib" / "python3.11" / "site-packages" / f"torch-{version}.dist-info"
        torch.mkdir(parents=True)
        (torch / "METADATA").write_text(f"Name: torch\nVersion: {version}\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
    made = targets(tmp_path / "results", row="6/6")
    ready(workflow, made)  # without GPUs
    with_gpu = replace(made, gpus=1)
    if version != "2.13.0+cpu":
        ready(workflow, with_gpu)
        return
    with pytest.raises(FathomError, match=r"torch 2\.13\.0\+cpu .* for CPUs; make environment"):
        ready(workflow, with_gpu)


def test_a_start_on_a_cluster_ends_if_a_file_of_its_text_is_nowhere(
    workflow, tmp_path, monkeypatch
):
    """Jobs on GPUs would wait for a text that nobody can fetch."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    project, results = own_project(), tmp_path / "results"
    with closing(Site()) as site:
        address = site.put("/talks.zip", status=404)
        source = sources_of(project, targets(results).texts(RUN))[0]
        card = source.model_dump(include={"name", "title", "licence", "notice"})
        card |= {"kind": "archive", "mirrors": [address], "file": "talks.zip"}
        changed = Project(project.root, project.files, project.switches)
        changed.sources = {**project.sources, source.name: Archive.model_validate(card)}
        made = targets(results, project=changed, row="6/6")
        unchecked = targets(results, project=changed, row="6/6", check_sources=False)
        match = r"no address has talks\.zip \(.*404 Not Found\); put the file at .*check_sources"
        with pytest.raises(FathomError, match=match):
            ready(workflow, made)
        assert not made.paths.cluster.exists()
        site.put("/talks.zip", content=b"PK\3\4" + bytes(7))
        assert ready(workflow, made)[0] == "sources: files here: 0, found at 1 hosts: 1, missing: 0"
        before = len(site.requests)
        assert "sources:" not in str(ready(workflow, unchecked))
        # Without a cluster a download is tried before anything is trained.
        start.ready(workflow, Sizes(made, on_cluster=False), ROW)
        assert len(site.requests) == before


@pytest.mark.parametrize(
    ("resources", "processes"), [({"gres": "gpu:3"}, 3), ({"gpu": 2, "nodes": 2}, 2)]
)
def test_devices_that_cannot_share_an_update_are_refused_before_their_jobs_wait(
    workflow, tmp_path, resources, processes
):
    """A number of GPUs that does not divide."""
    workflow.jobs[0] = job("train_run", **resources)
    made = targets(tmp_path / "results", row="6/6", micro_batches=5)
    with pytest.raises(FathomError, match=f"micro_batches: .*which {processes} devices cannot"):
        start.require_even_devices(workflow, made)


def dated(path, ahead):
    """Make a file that is dated some seconds ahead, and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time.time() + ahead,) * 2)
    return path


def test_files_of_the_future_are_dated_now_in_their_order(tmp_path):
    """Snakemake made translations of such a training again at every start."""
    run = tmp_path / "runs" / "latent_depth" / "static-12345678" / "1"
    scores = dated(run / "measurements" / "scores.json", 7300)
    training = dated(run / "training.json", 3600)
    done = dated(run / "decodings" / "asked-12345678.json", 7200)
    old = dated(tmp_path / "corpora" / "small-12345678" / "corpus.json", -3600)
    task = dated(old.parent / "fra" / "task.json", 3000)
    before = old.stat().st_mtime
    lines = list(set_back(tmp_path))
    times = [path.stat().st_mtime for path in (task, training, done, scores)]
    assert times == sorted(times)
    assert times[-1] <= time.time() + 1
    assert old.stat().st_mtime == before
    future = [f"{path}: dated" for path in (task, training, done, scores)]
    assert [line[: len(start)] for line, start in zip(lines, future, strict=True)] == future
    assert list(set_back(tmp_path)) == []


def test_a_broken_link_has_no_date(tmp_path):
    future = dated(tmp_path / "sources" / "talks" / "source.json", 3600)
    future.with_name("other.json").symlink_to("gone.json")
    future.with_name("circle.json").symlink_to("circle.json")
    assert list(set_back(tmp_path / "results")) == []
    (line,) = set_back(tmp_path)
    assert line.startswith(f"{future}: dated 60.0 minutes in the future")


@pytest.fixture
def lock(tmp_path, monkeypatch):
    """Snakemake's lock in a working folder."""
    monkeypatch.chdir(tmp_path)
    LOCKS.mkdir(parents=True)
    (ABOVE / STARTS).mkdir(parents=True)
    path = LOCKS / "0.input.lock"
    path.write_text("x")
    return path


def test_a_start_that_cannot_be_recorded_is_one_message(tmp_path, lock):
    """It was a traceback of Snakemake's."""
    with small_disk(tmp_path / "disk") as disk:
        disk.fill(0)
        with pytest.raises(SystemExit, match=rf"fathom: {disk.folder}/.*: .*; make room"):
            ask(add_trainings, disk.folder, {tmp_path / "training.json": ()})


def version(path):
    return [str(path.absolute()), path.stat().st_ino, path.stat().st_mtime_ns]


def head(pid, start, *locks, host=None):
    host = host or platform.node()
    record = {"host": host, "pid": pid, "start": start, "locks": [version(path) for path in locks]}
    write_json(ABOVE / STARTS / f"{host}.{pid}.json", record)


def dead():
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_lock_of_a_start_that_is_gone_is_removed(lock):
    # Nobody has the number of the first process; of the second a later process has it.
    for pid in (dead(), os.getppid()):
        lock.write_text("x")
        head(pid, "1", lock)
        assert enter(ABOVE) == [GONE]
        assert list(LOCKS.iterdir()) == []


def test_exactly_the_locks_of_dead_starts_are_removed(lock):
    """A foreign one was removed, though its Snakemake lived: other workflows leave no record."""
    second = LOCKS / "1.input.lock"
    second.write_text("y")
    head(dead(), "1", second)
    assert enter(ABOVE) == [GONE, FOREIGN]
    # A later lock of the same name is another one.
    head(dead(), "1", lock)
    os.utime(lock, ns=(1, 1))
    assert enter(ABOVE) == [FOREIGN]
    assert list(LOCKS.iterdir()) == [lock]


def test_a_lock_of_a_start_that_may_live_stays_and_its_process_is_named(lock):
    assert enter(ABOVE) == []
    head(os.getppid(), started(os.getppid()), lock)
    head(dead(), "1")
    [line] = enter(ABOVE)
    assert line.startswith(f"process {os.getppid()} runs the workflow here, too")
    for path in (ABOVE / STARTS).iterdir():
        path.unlink()
    head(1, "1", lock, host="another")
    [line] = enter(ABOVE)
    assert line.startswith("a start on another may still run here; if it is gone, add --unlock")
    assert lock.exists()


def test_a_start_records_its_locks_and_trainings_and_leaves_no_record(lock):
    code = (
        "import sys; from pathlib import Path; from fathom.workflow.starts import *\n"
        "above = Path(sys.argv[1]); enter(above)\n"
        "add_trainings(above, {Path('/a'): ()}); hold(above, LOCKS.iterdir())\n"
        "add_trainings(above, {Path('/b'): ()}); print(*sorted(trainings_of_all(above)))\n"
        "print(*(path.read_text() for path in (above / STARTS).iterdir()))"
    )
    printed = python(code, ABOVE)
    trainings, _, record = printed.stdout.partition("\n")
    assert trainings == "/a /b", printed.stderr
    assert json.loads(record)["locks"] == [version(lock)]
    assert list((ABOVE / STARTS).iterdir()) == []


def test_a_start_that_is_gone_trains_nothing_and_is_deleted_by_the_next(tmp_path):
    old, there = (tmp_path / STARTS / f"{name}.json" for name in ("old", "there"))
    gone = {"host": platform.node(), "pid": dead(), "start": 1, "trainings": {"/a": []}}
    write_json(old, gone)
    # On another host it may live. A record that no start wrote is of nobody.
    write_json(there, gone | {"host": "another", "trainings": {"/b": []}})
    for missing in ("host", "pid", "start"):
        record = {key: value for key, value in gone.items() if key != missing}
        write_json(tmp_path / STARTS / f"without_{missing}.json", record)
    assert [str(path) for path in trainings_of_all(tmp_path)] == ["/b"]
    enter(tmp_path)
    assert {*(tmp_path / STARTS).iterdir()} - {starts._mine(tmp_path)} == {there}
