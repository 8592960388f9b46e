"""What a user types, from where, and what a mistake prints: dry runs, so nothing is made."""

import os
import re
import subprocess
import sys

import pytest

from tests.pipeline.conftest import copy_of_the_project
from tests.support.own_project import TABLE, targets
from tests.support.refused import says

pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """The project as cloned."""
    return copy_of_the_project(tmp_path_factory.mktemp("fresh"))


def dry_run(folder, *words):
    """Return what a dry run prints that is started in a folder, without fathom on the path."""
    program = [sys.executable, "-m", "snakemake", "-n", "--cores", "2"]
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [*program, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout


def jobs(printed):
    """Return the number of jobs of each rule."""
    table = re.search(r"Job stats:\n(.*?)\ntotal", printed, re.DOTALL)
    assert table, printed
    return {name: int(count) for name, count in re.findall(r"(\w+) +(\d+)\n", table[1] + "\n")}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("latent_depth_tabel5",), says(nearest=TABLE)),
        (
            ("all", "--config", "scal=paper"),
            says("unknown key 'scal'", where="--config: scal", nearest="scale"),
        ),
        (
            (f"{TABLE}_row", "--config", "row=12/13"),
            says("no row '12/13'", nearest="12/12"),
        ),
    ],
)
def test_a_mistake_ends_in_one_message_with_the_nearest_name(fresh, words, message):
    """Field fault 19."""
    printed = fresh.run("snakemake", "-n", *words, code=1)
    message.check(printed.rstrip("\n").rpartition("\n")[2])
    assert "Traceback" not in printed


def test_a_broken_config_file_is_refused_with_file_line_and_key(fresh):
    """Field fault 19."""
    scale = fresh.folder / "config/scales/tiny.yaml"
    text = scale.read_text(encoding="utf-8")
    scale.write_text(text.replace("width: 1/8", "width: 8"), encoding="utf-8")
    printed = fresh.run("snakemake", "-n", code=1)
    scale.write_text(text, encoding="utf-8")
    assert re.search(r"config/scales/tiny\.yaml:\d+: times", printed)
    assert "Traceback" not in printed


def test_a_bare_start_makes_all_that_is_built_at_tiny_scale(fresh, tmp_path):
    printed = fresh.run("snakemake", "-n")
    made = targets(tmp_path)
    says("fathom: scale tiny").check(printed)
    assert jobs(printed)["train_run"] == sum(len(made.seeds(name)) for name in made.built)


def test_all_at_paper_scale_trains_every_run_with_its_seeds(fresh, tmp_path):
    printed = fresh.run("snakemake", "-n", "all", "--config", "scale=paper")
    says("0 of 186 trainings found, 186 to train", where="all").check(printed)
    assert jobs(printed)["train_run"] == 186
    assert not targets(tmp_path, "paper").runs_not_built


@pytest.mark.parametrize(("device", "gpus"), [("auto", 1), ("cpu", 0)])
def test_on_a_cluster_a_training_asks_for_a_gpu_whatever_machine_submits_it(fresh, device, gpus):
    """An option for its time must leave it its GPU: Snakemake replaced the profile's whole key."""
    given = ("--set-resources", "train_run:runtime=240", "--default-resources", "partition=long")
    row = (f"{TABLE}_row", *given, "--config", "row=12/12", f"device={device}")
    printed = fresh.run("snakemake", "--profile", "slurm", "-n", *row)
    [training] = re.findall(r"rule train_run:\n(?:    .*\n)*", printed)
    for word in (f" gpu={gpus},", "runtime=240", "partition=long"):
        assert word in training
    [memory] = re.findall(r"mem_mb=(\d+)", training)
    assert 3_000 <= int(memory) < 4_000


def test_a_training_asks_for_memory_by_the_size_of_its_run(fresh):
    printed = fresh.run("snakemake", "-n", "all", "--config", "scale=paper", "device=cpu")
    trainings = re.findall(r"rule train_run:\n(?:    .*\n)*", printed)
    memories = [int(re.findall(r"mem_mb=(\d+)", training)[0]) for training in trainings]
    assert len(set(memories)) > 3
    assert all("gpu=1" not in training for training in trainings)


def test_seeds_rows_and_the_folder_of_results_are_taken_from_the_command_line(fresh):
    words = ("--config", "row=12/12", "seeds=2,5", "results=elsewhere", "device=cuda")
    printed = fresh.run("snakemake", "-n", f"{TABLE}_row", *words)
    assert jobs(printed)["train_run"] == 2
    assert set(re.findall(r"output: (\S+)/training.json", printed)) == {
        f"elsewhere/runs/latent_depth/{targets('x').spec(NAME).folder}/{seed}" for seed in (2, 5)
    }
    assert "gpu=1" in printed


NAME = "latent_depth/m2o_diverse_12_12"


def test_it_runs_from_another_folder(fresh, tmp_path):
    """Code and config come from the clone, results go to the working folder."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("scale: paper\n", encoding="utf-8")
    snakefile = str(fresh.folder / "workflow" / "Snakefile")
    printed = dry_run(tmp_path, "-s", snakefile, TABLE)
    says("fathom: scale paper").check(printed)
    assert "train_run" in jobs(printed)
    printed = dry_run(
        fresh.folder, "--directory", str(tmp_path), f"{TABLE}_row", "--config", "row=6/6"
    )
    assert jobs(printed)["train_run"] == 1
    assert "output: results/runs/latent_depth/" in printed


def test_it_is_a_module_of_three_lines(fresh, tmp_path):
    text = (
        f'module fathom:\n    snakefile: "{fresh.folder}/workflow/Snakefile"\n'
        '    config: {"scale": "paper", "results": "out"}\nuse rule * from fathom as deep_*\n'
    )
    (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
    printed = dry_run(tmp_path)
    says("fathom: scale paper").check(printed)
    assert jobs(printed)["deep_all"] == 1
    assert "output: out/runs/latent_depth/" in printed


def test_a_modules_prefix_is_refused(fresh, tmp_path):
    text = (
        f'module fathom:\n    snakefile: "{fresh.folder}/workflow/Snakefile"\n'
        '    prefix: "mine"\nuse rule * from fathom\n'
    )
    (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
    printed = dry_run(tmp_path)
    says("a module's prefix cannot be used").check(printed)
    assert "Traceback" not in printed


def test_targets_are_listed_with_a_line_of_help(fresh):
    printed = fresh.run("snakemake", "--list-target-rules").splitlines()
    names = {line.split(" (")[0] for line in printed}
    assert {"all", "compare", "latent_depth", TABLE, "latent_depth_figure4"} <= names
    assert (
        "compare (Compare reported cells with the results that exist; trains nothing.)" in printed
    )


def test_no_text_from_config_runs_in_a_shell(fresh):
    """The device came unquoted into a shell line; each rule's log is in the folder of results."""
    printed = fresh.run("snakemake", "compare", "--config", "device=cpu; touch made", code=1)
    says("'cpu; touch made' is not possible here", where="--config: device").check(printed)
    results = 'it\'s "here" $(touch made) `touch made` ;touch made&'
    fresh.run("snakemake", "--cores", "1", "compare", "--config", f"results={results}")
    assert (fresh.folder / results / "tiny" / "logs" / "compare.log").is_file()
    assert not (fresh.folder / "made").exists()
