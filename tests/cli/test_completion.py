"""The script of a shell's completion, in the shell itself."""

import subprocess

import pytest

from fathom.cli.verbs import VERBS
from tests.support.refused import says
from tests.support.small_project import RUN


@pytest.fixture
def complete(project, call):
    """A function that returns what bash completes the last of some words to."""
    script = call("completion", "bash").out

    def choices(*words):
        typed = " ".join(f"'{word}'" for word in words)
        asked = (
            f'COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _fathom; echo "${{COMPREPLY[*]}}"'
        )
        ended = subprocess.run(
            ["bash", "-uc", script + asked], capture_output=True, text=True, check=True
        )
        return ended.stdout.split()

    return choices


def test_verbs_options_and_names_of_config_are_completed(complete):
    assert complete("fathom", "sh") == ["show", "sharing"]
    assert {verb for _, verbs in VERBS for verb in verbs} == {*complete("fathom", "")}
    assert RUN in complete("fathom", "train", "")
    assert complete("fathom", "show", "--ch") == ["--changed"]
    assert complete("fathom", "list", "--scale", "") == ["small"]
    assert complete("fathom", "compare", "--table", "sam") == ["sample_table1"]
    assert complete("fathom", "figure", "sam") == ["sample_figure1"]


def test_kinds_of_names_are_completed(complete):
    assert complete("fathom", "list", "ta") == ["tables"]
    assert "runs" in complete("fathom", "list", "")
    assert complete("fathom", "clean", "sta") == ["states"]


# bash cuts a word at its equals sign.
@pytest.mark.parametrize("option", [("--project", "here"), ("--project", "=", "here")])
def test_a_project_may_come_before_the_verb(complete, option):
    assert complete("fathom", *option, "sh") == ["show", "sharing"]
    assert RUN in complete("fathom", *option, "train", "")
    assert complete("fathom", *option, "show", "--ch") == ["--changed"]
    # Its own value is a folder.
    assert complete("fathom", *option[:-1], "") == []


def test_what_has_no_names_is_left_to_the_shell(complete):
    assert complete("fathom", "unpack", "") == []
    assert complete("fathom", "nonsense", "") == []


def test_zsh_reads_the_script_of_bash_after_three_lines(project, call):
    bash, zsh = (call("completion", shell).out for shell in ("bash", "zsh"))
    assert zsh.endswith(bash)
    assert "bashcompinit" in zsh.removesuffix(bash)


def test_another_shell_is_refused(project, call):
    says("unknown", "shell", "bsh", nearest="bash").check(call("completion", "bsh").one_line)
