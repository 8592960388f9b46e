"""Projects in which a test stands, and the door through which it calls a verb."""

import contextlib
import io
import shutil
import sys
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner

from fathom.cli.main import build, main
from tests.support.small_project import ROOT, RUN, write_project


@dataclass(frozen=True)
class Answer:
    """What a call ended with."""

    code: int
    out: str
    err: str

    @property
    def one_line(self):
        """The one line of a refusal: exit code 1, nothing else printed, no traceback."""
        assert self.code == 1, self
        assert self.out == ""
        assert "Traceback" not in self.err
        (line,) = self.err.removesuffix("\n").split("\n")
        return line


@pytest.fixture
def call(capsys, monkeypatch):
    """A function that calls the command as a shell does; `typed` is standard input."""
    # typer puts its own hook there.
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.delenv("FATHOM_DEBUG", raising=False)

    def run(*words, typed=b""):
        monkeypatch.setattr(sys, "argv", ["fathom", *words])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Answer(ended.value.code, said.out, said.err)

    return run


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A copy of config/ in which the test stands."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(folder, *verbs):
    """Call verbs in a folder, each as its words; each must end well."""
    with contextlib.chdir(folder):
        for words in verbs:
            answer = CliRunner().invoke(build(), words)
            assert answer.exit_code == 0, (words, answer.output, answer.exception)


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    """A project with prepared text."""
    folder = tmp_path_factory.mktemp("text")
    write_project(folder)
    return folder


@pytest.fixture(scope="session")
def encoded(text, tmp_path_factory):
    """A project with encoded text."""
    folder = tmp_path_factory.mktemp("encoded") / "project"
    shutil.copytree(text, folder)
    invoke(folder, ("subwords", "small"), ("encode", "small"))
    return folder


@pytest.fixture(scope="session")
def concluded(encoded, tmp_path_factory):
    """A project with a run from its training to its manifest."""
    folder = tmp_path_factory.mktemp("concluded") / "project"
    shutil.copytree(encoded, folder)
    invoke(folder, ("train", RUN), ("translate", RUN), ("score", RUN), ("summarise", RUN))
    return folder


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A function that copies a project and puts the test into the copy."""

    def copy(folder):
        shutil.copytree(folder, tmp_path / "project")
        monkeypatch.chdir(tmp_path / "project")
        return tmp_path / "project"

    return copy
