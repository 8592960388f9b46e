"""`fathom run`: the command of Snakemake that it starts plans what its words say."""

import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from snakemake.cli import parse_args

from fathom.io.files import write_text
from tests.support.small_disk import small_disk

ROOT = Path(__file__).parents[2]
TABLE, ROW = "latent_depth_table5", "latent_depth_table5: LL-D, 12/24"
BASE, GATED = "latent_depth/m2o_diverse_12_12", "latent_depth/m2o_diverse_ll_d_12_24"

# What is typed, and Snakemake's command without the logger.
TYPED = [
    (["all"], "snakemake all"),
    ([TABLE, "--scale", "tiny"], f"snakemake {TABLE} --config scale=tiny"),
    (["--scale", "tiny", TABLE], f"snakemake {TABLE} --config scale=tiny"),
    (["--set", "device=cpu", TABLE, "-n"], f"snakemake {TABLE} --dry-run --config device=cpu"),
    ([TABLE, "latent_depth_figure4"], f"snakemake {TABLE} latent_depth_figure4"),
    (["lamgd", "--seeds", "3", "-j", "2"], "snakemake lamgd --cores 2 --config seeds=3"),
    ([ROW, "--results", "there"], f"snakemake run --config results=there run={GATED}"),
    (["m2o_diverse_12_12", ROW, "-n"], f"snakemake run --dry-run --config run={BASE},{GATED}"),
    # What messages about a training that is missing name.
    (
        ["latent_depth/m2o_diverse_12_12", "--scale", "tiny", "--seeds", "2-2"],
        f"snakemake run --config scale=tiny seeds=2-2 run={BASE}",
    ),
    (["--profile", "slurm", "all", "-j", "9"], "snakemake all --profile slurm --jobs 9"),
    (["all", "--cores", "2"], "snakemake all --cores 2"),
    (["--profile", "slurm", "all", "-c", "9"], "snakemake all --profile slurm --jobs 9"),
    (
        ["--yes", TABLE, "--profile", "slurm", "--scale", "tiny", "--", "--keep-going"],
        f"snakemake {TABLE} --profile slurm --keep-going --config scale=tiny",
    ),
]


@pytest.fixture
def started(call, monkeypatch):
    """A function that calls the verb in the project's folder, and returns what would be started."""
    monkeypatch.chdir(ROOT)
    commands = []
    monkeypatch.setattr(os, "execvp", lambda _, words: commands.append(words))

    def run(*words):
        answer = call("run", *words)
        assert answer.code == 0, answer
        (command,) = commands
        assert answer.err == f"{shlex.join(command)}\n"
        return command

    return run


def parsed(words):
    """Return what Snakemake reads in a command, but for the logger and what is equal to itself."""
    with contextlib.chdir(ROOT):
        _, args = parse_args(words[1:])
    return {**vars(args), "logger": None, "max_jobs_per_timespan": None}


@pytest.mark.parametrize(("typed", "same"), TYPED)
def test_words_in_any_order_start_the_command_of_snakemake_that_says_the_same(started, typed, same):
    command = started(*typed)
    assert "--logger fathom" in shlex.join(command)
    assert parsed(command) == parsed(shlex.split(same))


PRINTING = [
    f"plan {TABLE} --scale tiny",
    "plan latent_depth_table9 --profile slurm --results mine",
    f"table {TABLE} --scale tiny",
    "figure latent_depth_figure4 --scale tiny",
    "status --scale tiny",
    f"train {BASE} --scale tiny",
    f"translate {BASE} --scale tiny --results mine",
    f"show {BASE} --scale tiny",
    "compare --scale tiny",
    f"gates {GATED} --scale tiny --seed 2",
    f"verify {BASE} --scale tiny",
    "list artefacts --scale tiny",
]


def test_what_is_printed_as_the_next_command_works_outside_of_a_clone(call, monkeypatch, tmp_path):
    """`snakemake …` found no Snakefile there, and `fathom run` no profile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FATHOM_PROJECT", raising=False)
    write_text(tmp_path / "mine" / "sources" / "by_hand" / "ted_orig.zip", "")
    answers = [call(*words.split()) for words in PRINTING]
    text = "\n".join(answer.out + answer.err for answer in answers)
    printed = {*re.findall(r"`(fathom [^`]*)`|next: (.*)|; (fathom run .*)$", text, re.MULTILINE)}
    commands = {shlex.join(shlex.split("".join(one))) for one in printed}
    starts = sorted(command for command in commands if command.startswith("fathom run "))
    assert {"fathom run compare --scale tiny", f"fathom run {GATED} --scale tiny --seeds 2-2"} <= {
        *starts
    }
    on_slurm = "--scale paper --results mine --profile slurm"
    assert f"fathom run latent_depth_table9 {on_slurm}" in starts
    assert not [command for command in commands if not command.startswith("fathom ")]
    started = []
    monkeypatch.setattr(os, "execvp", lambda _, words: started.append(words))
    for command in commands:
        answer = call(*shlex.split(command)[1:])
        assert "no such option" not in answer.err
        assert answer.code == 0, answer
    for words in started:
        _, args = parse_args(words[1:])
        assert Path(args.snakefile).is_file()
    words = [Path(sys.executable).with_name("snakemake"), *started[0][1:], "--dry-run"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


HOMES = {
    "without room": lambda folder: folder / "disk",
    "a file": lambda folder: folder / "file",
    "where nobody writes": lambda folder: Path("/proc/nobody"),
}


@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
def test_a_home_without_room_for_caches_is_left_alone(call, monkeypatch, tmp_path, home):
    """Snakemake ended in a traceback, before it read the Snakefile."""
    (tmp_path / "file").touch()
    with small_disk(tmp_path / "disk") as disk:
        disk.fill(leave=2**19)
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("HOME", str(home(tmp_path)))
        for name in ("XDG_CACHE_HOME", "MPLCONFIGDIR"):
            monkeypatch.setenv(name, "")
        monkeypatch.setattr(os, "execvp", lambda *_: None)
        answer = call("run", TABLE)
    said = answer.err.splitlines()[1:]
    caches = str(ROOT / ".snakemake" / "caches")
    assert [line.startswith(f"fathom: caches are in {caches}: ") for line in said] == [True]
    assert [os.environ[name] for name in ("XDG_CACHE_HOME", "MPLCONFIGDIR")] == [caches] * 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (f"run {TABLE} --profile slurm --scale tiny", "leave the scale out, or add --yes"),
        (f"run {TABLE} --profile slurm --config scale=tiny", "or add --yes"),
        ("run 12/12", "'12/12' is a row of 4 tables"),
        ("show 12/12", "'12/12' is a row of 4 tables (latent_depth_table3, latent_depth_table4, "),
        ("show LL-D", "no run 'LL-D'; `fathom list runs` lists "),
        ("show m2o_diverse_12_13", "no run 'm2o_diverse_12_13'; nearest valid name: "),
        (
            "show m2o_diverse_12_12-00000000",
            "the settings of 'm2o_diverse_12_12' are no longer those",
        ),
    ],
)
def test_what_the_papers_cannot_start_or_show_is_refused_with_what_there_is(
    call, monkeypatch, words, says
):
    monkeypatch.chdir(ROOT)
    monkeypatch.delattr(os, "execvp")
    assert says in call(*words.split()).one_line


def test_a_row_of_one_table_names_its_run(own_project):
    assert own_project.run_name("LL-E, 36/12") == "latent_depth/m2o_diverse_ll_e_36_12"
