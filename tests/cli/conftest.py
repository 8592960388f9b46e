"""Projects in which a test runs, and a function that calls a verb as a shell does."""

import contextlib
import io
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fathom.cli.main import main
from fathom.cli.verbs import build
from fathom.io.signals import SIGNALS
from tests.support.small_project import GATED, RUN, write_config, write_project


@dataclass(frozen=True)
class Answer:
    """What a call ended with."""

    code: int
    out: str
    err: str

    @property
    def lines(self):
        """The lines of the output."""
        return self.out.removesuffix("\n").split("\n")

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
    """A function that calls the command as a shell does; `typed` is standard input, or None."""
    # typer puts its own hook there.
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.delenv("FATHOM_DEBUG", raising=False)

    def run(*words, typed=b""):
        monkeypatch.setattr(sys, "argv", ["fathom", *words])
        stream = None if typed is None else io.TextIOWrapper(io.BytesIO(typed))
        monkeypatch.setattr(sys, "stdin", stream)
        capsys.readouterr()
        # A command that is stopped ignores further signals until its process ends.
        handlers = {number: signal.getsignal(number) for number in SIGNALS}
        with pytest.raises(SystemExit) as ended:
            main()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        printed = capsys.readouterr()
        return Answer(ended.value.code, printed.out, printed.err)

    return run


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The small project's config, in which the test runs."""
    write_config(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def edit():
    """A function that replaces text in a file of config/ here; the text must be there."""

    def replace(file, old, new):
        path = Path("config") / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return replace


def invoke(folder, *verbs):
    """Call verbs in a folder, each given as its words; each must succeed."""
    with contextlib.chdir(folder):
        for words in verbs:
            answer = CliRunner().invoke(build(), words)
            assert answer.exit_code == 0, (words, answer.output, answer.exception)


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    """A project with prepared text."""
    return write_project(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="session")
def after(tmp_path_factory):
    """A function that calls verbs in a copy of a project, and returns the copy."""

    def copy(project, *verbs):
        folder = tmp_path_factory.mktemp("project") / "project"
        shutil.copytree(project, folder)
        invoke(folder, *verbs)
        return folder

    return copy


@pytest.fixture(scope="session")
def encoded(text, after):
    """A project with encoded text."""
    return after(text, ("subwords", "small"), ("encode", "small"))


@pytest.fixture(scope="session")
def trained(encoded, after):
    """A project with one trained run."""
    return after(encoded, ("train", RUN))


@pytest.fixture(scope="session")
def summarised(encoded, after):
    """A project with two runs from training to scores."""
    verbs = [(verb, run) for run in (RUN, GATED) for verb in ("train", "translate", "score")]
    return after(encoded, *verbs, ("gates", GATED))


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A function that copies a project and changes to the copy."""

    def copy(folder):
        shutil.copytree(folder, tmp_path / "project")
        monkeypatch.chdir(tmp_path / "project")
        return tmp_path / "project"

    return copy
