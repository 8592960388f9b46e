"""The verbs: each has a file, help and an example."""

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fathom.cli
from fathom.artefacts.needs import Needs
from fathom.cli.verbs import VERBS, build
from fathom.results.clean import KINDS

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
    shared = {"__init__", "columns", "durations", "faults", "main", "options", "run_options"}
    assert files - shared - {"verbs", "watching"} == verbs


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
        *Needs(own_project, "tiny").artefacts,
        "artefacts",
        "runs",
        *KINDS,
    }
    words = shlex.split(example_of(verb).split(" < ")[0])[2:]
    assert not words or words[0].startswith("--") or words[0] in known or words[0].endswith(".zip")
    if "--scale" in words:
        assert words[words.index("--scale") + 1] in own_project.scales


# What answers a question has an answer for programs too; the others write files.
READING = {"list", "show", "plan", "status", "validate", "where", "params", "check-learning"}
READING |= {"table", "curves", "compare", "claims", "diff", "verify", "clean"}


@pytest.mark.parametrize("verb", NAMES)
def test_a_verb_that_reads_prints_json_and_each_has_a_short_option_for_help(verb):
    short = CliRunner().invoke(build(), [verb, "-h"], env=SCREEN)
    assert short.stdout == help_of(verb).stdout
    assert ("--json" in short.stdout) == (verb in READING)


def test_the_version_is_printed(call):
    answer = call("--version")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.strip().count(".") == 2
