"""The command: help, exit codes, and what a mistake or a bug looks like."""

import logging
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fathom.cli
from fathom.cli.main import VERBS, build, main
from fathom.project.demands import Demands
from tests.support.refused import prose, refused, says
from tests.support.small_project import GATED, RUN
from tests.support.specs import ROOT

NAMES = [verb for _, verbs in VERBS for verb in verbs]
SCREEN = {"COLUMNS": "80", "TERM": "dumb"}


def help_of(*words):
    return CliRunner().invoke(build(), [*words, "--help"], env=SCREEN)


def example_of(verb):
    (line,) = (line for line in help_of(verb).stdout.split("\n") if "Example:" in line)
    return line.strip().removeprefix("Example: ")


def test_every_file_of_the_room_is_a_verb_or_shared_by_verbs():
    files = {path.stem for path in Path(fathom.cli.__file__).parent.glob("*.py")}
    verbs = {name.replace("-", "_") for name in NAMES}
    assert files - {"__init__", "main", "options", "run_options"} == verbs


def test_the_commands_help_shows_each_verb_within_80_columns():
    answer = help_of()
    assert answer.exit_code == 0
    lines = answer.stdout.split("\n")
    assert len(lines) < 60
    assert all(len(line) <= 80 for line in lines)
    rows = [line.strip("│ ").split(maxsplit=1)[0] for line in lines if line.startswith("│ ")]
    assert [row for row in rows if row in NAMES] == NAMES


@pytest.mark.parametrize("verb", NAMES)
def test_a_verbs_help_has_an_example(verb):
    answer = help_of(verb)
    assert answer.exit_code == 0
    assert example_of(verb).startswith(f"fathom {verb}")


@pytest.mark.parametrize("verb", NAMES)
def test_an_example_names_what_there_is(verb, own_project):
    known = {
        *(name.rpartition("/")[2] for name in own_project.entries),
        *own_project.entries,
        *own_project.papers,
        *own_project.datasets,
        *own_project.sources,
        *Demands(own_project, "tiny").artefacts,
        "artefacts",
        "runs",
    }
    words = shlex.split(example_of(verb).split(" < ")[0])[2:]
    assert not words or words[0].startswith("--") or words[0] in known
    if "--scale" in words:
        assert words[words.index("--scale") + 1] in own_project.scales


@pytest.mark.parametrize(
    ("words", "kind", "name", "nearest"),
    [
        (("show", "static_2_3"), "run", "static_2_3", "static_2_2"),
        (("show", RUN, "--scale", "smal"), "scale", "smal", "small"),
        (("list", "run"), "kind", "run", "runs"),
        (("where", "sampl"), "paper", "sampl", "sample"),
        (("fetch", "djangoo"), "source", "djangoo", "django"),
        (("prepare", "smal"), "data set", "smal", "small"),
        (("statistics", "smal"), "data set", "smal", "small"),
        (("subwords", "smal"), "data", "smal", "small"),
        (("encode", "smal"), "data", "smal", "small"),
        (("train", "static_2_3"), "run", "static_2_3", "static_2_2"),
        (("translate", "gated_2_3"), "run", "gated_2_3", "gated_2_2"),
        (("score", "gated_2_3"), "run", "gated_2_3", "gated_2_2"),
        (("summarise", "gated_2_3"), "run", "gated_2_3", "gated_2_2"),
        (("check-learning", "--scale", "smal"), "scale", "smal", "small"),
        (("table", "sample_tabel1"), "table", "sample_tabel1", "sample_table1"),
        (("figure", "sample_figur1"), "figure", "sample_figur1", "sample_figure1"),
        (("compare", "--scale", "smal"), "scale", "smal", "small"),
        (("params", "sampl"), "paper", "sampl", "sample"),
    ],
)
def test_an_unknown_name_ends_in_one_line_with_the_nearest(
    project, call, words, kind, name, nearest
):
    line = call(*words).one_line
    assert line.startswith("fathom: ")
    says("unknown", kind, name, remedy=prose("nearest")).check(line)
    assert f"'{nearest}" in line


def test_debug_shows_where_a_mistake_was_found(project, call, monkeypatch):
    call("show", "static_2_3")
    monkeypatch.setenv("FATHOM_DEBUG", "1")
    with refused("unknown", "run", "static_2_3"):
        main()


@pytest.mark.slow
def test_the_command_as_a_shell_starts_it(project):
    command = [sys.executable, "-c", "from fathom.cli.main import main; main()"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "lib")}
    for debug, shown in (("0", False), ("1", True)):
        ended = subprocess.run(
            [*command, "show", "static_2_3"],
            env=environment | {"FATHOM_DEBUG": debug},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 1
        assert ("Traceback" in ended.stderr) == shown
        says("unknown", "run", "static_2_3").check(ended.stderr)


@pytest.mark.parametrize(
    "words",
    [
        ("train",),
        ("trian", RUN),
        ("show", RUN, GATED),
        ("show", RUN, "--sclae", "tiny"),
        ("best-window", RUN, "--size", "one"),
        ("best-window", RUN, "--size", "0"),
    ],
)
def test_a_wrong_command_line_ends_in_2(project, call, words):
    answer = call(*words)
    assert answer.code == 2
    assert "Usage: " in answer.err
    assert "Traceback" not in answer.err


def test_a_file_that_is_no_yaml_is_refused_with_its_line(project, call):
    (project / "config/datasets/small.yaml").write_text("title: a\n  b: [\n", "utf-8")
    says("not YAML", where="config/datasets/small.yaml:2").check(call("list").one_line)


@pytest.mark.parametrize("verb", ["train", "translate", "score", "summarise"])
def test_a_wrong_key_is_found_also_by_verbs_that_do_not_check_first(project, edit, call, verb):
    edit("papers/sample/runs.yaml", "static_2_2: {like: base}", "static_2_2: {like: base, seed: 1}")
    says("unknown key", "seed", nearest="seeds").check(call(verb, RUN).one_line)


def test_a_bug_shows_its_traceback_and_ends_in_70(project, call, monkeypatch):
    def broken(*_):
        raise TypeError("unexpected")

    monkeypatch.setattr("fathom.cli.list.open_paths", broken)
    answer = call("list")
    assert answer.code == 70
    assert "Traceback" in answer.err
    assert "TypeError" in answer.err
    assert answer.err.endswith(prose("bug") + "\n")


def test_a_place_that_cannot_be_written_is_a_line_and_no_bug(project, call):
    # The kernel's own file system refuses new folders, to root as well.
    answer = call("compare", "--results", "/sys/fathom")
    assert answer.code == 1
    assert answer.one_line.startswith("fathom: /sys/fathom")
    says(remedy=prose("not writable")).check(answer.one_line)


def test_outside_a_project_every_verb_says_so(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    says("no project", remedy=prose("change folder")).check(call("list").one_line)


def test_the_version_is_printed(call):
    answer = call("--version")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.strip().count(".") == 2


def test_packages_print_nothing_below_a_warning(project, call):
    logger = logging.getLogger("fairseq.tasks.text_to_speech")
    logging.getLogger("fairseq").setLevel(logging.NOTSET)
    call("list")
    assert not logger.isEnabledFor(logging.INFO)
    assert logger.isEnabledFor(logging.WARNING)
