"""What a user types, from where, and what a mistake prints: dry runs, so nothing is made."""

import os
import re
import subprocess
import sys
from collections import Counter

import pytest
import yaml
from snakemake.cli import parse_args
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

from fathom.workflow.plan import RULES, Plan
from snakemake_executor_plugin_slurm_attach.request import Request
from tests.pipeline.conftest import copy_of_the_project
from tests.support.own_project import TABLE, put_talks, targets
from tests.support.refused import says

pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """The project as cloned, with the text of TED put by hand."""
    project = copy_of_the_project(tmp_path_factory.mktemp("fresh"))
    put_talks(project.folder / "results")
    return project


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
        (
            ("--profile", "slurm", "latent_depth_table1"),
            says("put wmt16_en_de.tar.gz into", where="latent_depth_table1"),
        ),
    ],
    ids=["target", "key", "row", "file by hand"],
)
def test_a_start_is_refused_in_one_message_that_says_what_to_write_or_put(fresh, words, message):
    printed = fresh.run("snakemake", "-n", *words, code=1)
    message.check(printed.rstrip("\n").rpartition("\n")[2])
    assert "Traceback" not in printed


def test_a_broken_config_file_is_refused_with_file_line_and_key(fresh):
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
    says("fathom: SCALE TINY").check(printed)
    assert jobs(printed)["train_run"] == sum(len(made.seeds(name)) for name in made.names_of_all)


def test_all_at_paper_scale_trains_every_run_with_its_seeds(fresh, tmp_path):
    """What waits for a file that only the user can get is left out, and said."""
    printed = fresh.run("snakemake", "-n", "all", "--config", "scale=paper")
    says("0 of 95 trainings found, 95 to train", where="all").check(printed)
    assert jobs(printed)["train_run"] == 95
    way = "`snakemake all --config scale=paper_rebuilt` fetches text for 34 of them"
    assert f"fathom: 66 trainings are left out; {way}:\n" in printed
    assert not targets(tmp_path, "paper").runs_not_built
    folder = fresh.folder / "results" / "sources" / "by_hand"
    folder.mkdir(parents=True, exist_ok=True)
    czeng = [f"data-plaintext-format.{part}.tar" for part in range(10)]
    others = ("wmt16_en_de.tar.gz", "medline.fr-en.zip", "shuffled.fr-en.gz", *czeng)
    for name in others:
        (folder / name).touch()
    printed = fresh.run("snakemake", "-n", "all", "--config", "scale=paper")
    for name in others:
        (folder / name).unlink()
    assert jobs(printed)["train_run"] == 161
    assert "left out" not in printed
    # `fathom plan` counts the jobs that need a device as Snakemake does.
    made = targets(tmp_path, "paper")
    plan, listed = Plan(made, None), jobs(printed)
    counted = Counter(job.rule for job in plan.others("all"))
    counted["train_run"] = len(plan.trainings(made.names_of("all")))
    assert counted == {rule: listed[rule] for rule in RULES}


PROFILE = ("snakemake", "--profile", "slurm")
MORE = ("jobs on GPUs, expected on h200, fp32, tf32; not measured", "disk", "downloads")
LOUD = ("--quiet", "host", "reason")
ROW = (f"{TABLE}_row", "--config", "row=12/12")
SITE = "site={max_gpus: 8, gpus_per_node: 4, training_hours: 1, cores_per_gpu: 3}"


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (ROW, ("threads: 4", "gpu=1", "nodes=1", "runtime=104")),
        ((*ROW, "scale=tiny"), ("threads: 4", "gpu=1", "cpus_per_gpu=4", "runtime=31")),
        # What a command line gives drops nothing else.
        ((*ROW, "--set-resources", "train_run:runtime=240"), ("gpu=1", "runtime=240")),
        ((*ROW, "--default-resources", "partition=long"), ("gpu=1", "partition=long")),
        # More than this machine has.
        (
            (f"{TABLE}_row", "--config", "row=24/24", SITE, "matmul=exact"),
            ("threads: 12", "gpu=8", "nodes=2"),
        ),
        ((*ROW, "device=cpu", "scale=tiny"), ("gpu=0",)),
    ],
)
def test_what_a_training_asks_for_follows_from_the_run_whatever_is_typed(fresh, words, asked):
    """`--set-resources train_run:runtime=240` dropped the GPU of every training."""
    printed = fresh.run(*PROFILE, *LOUD, "-n", *words)
    [training] = re.findall(r"rule train_run:\n(?:    .*\n)*", printed)
    for word in asked:
        assert re.search(rf"\b{word}\b", training), training
    assert re.search(r"resumes=\S+/1/checkpoints/last\.pt", training)
    [local] = re.findall(r"rule score_decoding:\n(?:    .*\n)*", printed)
    assert "login=1" in local


def test_a_cluster_computes_at_the_scale_of_its_site_and_asks_before_thousands_of_hours(fresh):
    """`snakemake --profile slurm all` trained the scale tiny."""
    printed = fresh.run(*PROFILE, "-n", "all")
    lines = printed.strip().split("\n")
    assert lines[1].startswith("fathom: scale paper (slurm/site.yaml): ")
    assert len(lines) < 80
    table = [line for line in lines if line.startswith("  ") and "GPU-hours" in line]
    trainings = [line.split()[0] for line in table if " train_run " in line]
    assert sum(map(int, trainings)) == 95
    assert all(any(line.startswith(f"fathom: {word}:") for line in lines) for word in MORE)
    # `fathom plan` says the same of such a start.
    plan = fresh.run("fathom", "plan", "all", "--profile", "slurm").split("\n")
    assert {*table} < {*plan}
    assert any(line.startswith("66 trainings are left out") for line in plan)
    refused = fresh.run(*PROFILE, "all", code=1).strip().split("\n")[-1]
    says("all asks for", where="gpu_hours", remedy="into slurm/site.yaml").check(refused)
    assert not (fresh.folder / "results" / "cluster").exists()


# Of each profile of docs/cluster.md: the cores that a training asks for, and the executor's words.
PROFILES = {
    "one": (8, ["--partition=gpu", "--gres=gpu:h200:1"]),
    "several": (4, [
        *("--account=lab", "--qos=normal", "--constraint=infiniband", "--partition=gpu,gpu-long"),
        *("--gres=gpu:a100:1", "--exclude=bad7"),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROFILES)
def test_both_profiles_of_the_page_on_clusters_are_complete_and_start(fresh, tmp_path, name):
    page = (fresh.folder / "docs" / "cluster.md").read_text(encoding="utf-8")
    written = dict(re.findall(rf"```yaml\n# {name}/(\w+\.yaml)\n(.*?)```", page, re.DOTALL))
    for file, text in written.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    cores, words = PROFILES[name]
    printed = fresh.run(
        "snakemake", "--profile", str(tmp_path), *LOUD, "-n", *ROW, "results=results"
    )
    says(f"fathom: scale paper ({tmp_path}/site.yaml): ").check(printed)
    [training] = re.findall(r"rule train_run:\n(?:    .*\n)*", printed)
    assert f"threads: {cores}\n" in training
    # What the executor makes of it.
    _, arguments = parse_args(["--profile", str(tmp_path)])
    settings = ExecutorPluginRegistry().get_plugin("slurm-attach").get_settings(arguments)
    options = Request("train_run", "x", ("/x",), {"gpu": 1}, cores, settings).asked
    assert {*words} < {word for _, word in options}
    # Nothing is missing that the shipped profile has.
    shipped, default = (
        yaml.safe_load((fresh.folder / "profiles" / each / "config.yaml").read_text("utf-8"))
        for each in ("slurm", "default")
    )
    assert shipped.keys() - default.keys() <= yaml.safe_load(written["config.yaml"]).keys()


def test_a_training_asks_for_memory_by_the_size_of_its_run(fresh):
    words = (*LOUD, "-n", "all", "--config", "scale=paper", "device=cpu")
    printed = fresh.run("snakemake", *words)
    trainings = re.findall(r"rule train_run:\n(?:    .*\n)*", printed)
    memories = [int(re.findall(r"mem_mb=(\d+)", training)[0]) for training in trainings]
    assert len(set(memories)) > 3
    assert all("gpu=1" not in training for training in trainings)


def test_seeds_rows_and_the_folder_of_results_are_taken_from_the_command_line(fresh):
    words = ("--config", "row=12/12", "seeds=2,5", "results=elsewhere", "device=cuda")
    printed = fresh.run("snakemake", *LOUD, "-n", f"{TABLE}_row", *words)
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
    put_talks(tmp_path / "results")
    snakefile = str(fresh.folder / "workflow" / "Snakefile")
    printed = dry_run(tmp_path, "-s", snakefile, TABLE)
    says("fathom: scale paper").check(printed)
    assert "train_run" in jobs(printed)
    words = (*LOUD, "--directory", str(tmp_path), f"{TABLE}_row", "--config", "row=6/6")
    printed = dry_run(fresh.folder, *words)
    assert jobs(printed)["train_run"] == 1
    assert "output: results/runs/latent_depth/" in printed


MODULE = """module fathom:
    snakefile: "{}/workflow/Snakefile"
{}use rule * from fathom as deep_*
"""


def test_it_is_a_module_with_the_switches_of_the_working_folder(fresh, tmp_path):
    (tmp_path / "Snakefile").write_text(MODULE.format(fresh.folder, ""), encoding="utf-8")
    (tmp_path / "config").mkdir()
    switches = "scale: paper\nresults: out\n"
    (tmp_path / "config" / "config.yaml").write_text(switches, encoding="utf-8")
    printed = dry_run(tmp_path)
    says("fathom: scale paper").check(printed)
    assert jobs(printed)["deep_all"] == 1
    assert "output: out/runs/latent_depth/" in printed


@pytest.mark.parametrize("line", ['prefix: "mine"', 'config: {"scale": "paper"}'])
def test_a_module_with_a_prefix_or_switches_of_its_own_is_refused(fresh, tmp_path, line):
    text = MODULE.format(fresh.folder, f"    {line}\n")
    (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
    printed = dry_run(tmp_path)
    says("a module cannot have `config:` or `prefix:`", remedy="config/config.yaml").check(printed)
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
