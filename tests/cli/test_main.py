"""The command: help, exit codes, and what a mistake or a bug looks like."""

import errno
import io
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fathom.cli.main import main
from fathom.cli.verbs import VERBS
from fathom.io.signals import SIGNALS, Stopped
from tests.support.refused import prose, refused, says
from tests.support.small_project import GATED, RUN
from tests.support.specs import ROOT
from tests.support.stopped_jobs import HEARD

# A package that a signal interrupts: in Python, in compiled code that raises another error in place
# of the interruption, and in an object that cannot be deleted before it is complete.
SENT = "import os; os.kill(os.getpid(), {number})"
HIDDEN = f"""
try:
    {SENT}
except BaseException:
    raise RuntimeError from None
"""
HALF_BUILT = f"""
class Dataset:
    def __init__(self):
        {SENT}
        self.stream = None
    def __del__(self):
        self.stream.close()
Dataset()
"""


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
        (("check-learning", "--scale", "smal"), "scale", "smal", "small"),
        (("table", "sample_tabel1"), "table", "sample_tabel1", "sample_table1"),
        (("figure", "sample_figur1"), "figure", "sample_figur1", "sample_figure1"),
        (("compare", "--scale", "smal"), "scale", "smal", "small"),
        (("compare", "--table", "sample_tabel1"), "table", "sample_tabel1", "sample_table1"),
        (("params", "sampl"), "paper", "sampl", "sample"),
        (("status", "sampl"), "paper", "sampl", "sample"),
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


@pytest.mark.parametrize("verb", ["train", "translate", "score"])
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


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOENT, errno.EIO, errno.ENAMETOOLONG])
def test_what_the_machine_refuses_is_one_line_and_no_bug(project, call, monkeypatch, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number), "results/a.json")

    monkeypatch.setattr("fathom.cli.list.open_paths", refuse)
    says(where="results/a.json").check(call("list").one_line)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", SIGNALS)
def test_every_verb_ends_in_one_line_and_the_code_of_the_signal(project, call, monkeypatch, number):
    monkeypatch.setattr("fathom.cli.list.open_paths", lambda *_: os.kill(os.getpid(), number))
    answer = call("list")
    assert (answer.code, answer.out) == (Stopped(number).code, "")
    [line] = answer.err.splitlines()
    says("stopped", number.name, remedy=prose("start again")).check(line)


@pytest.mark.slow
@pytest.mark.parametrize("number", HEARD)
@pytest.mark.parametrize("package", [SENT, HIDDEN, HALF_BUILT], ids=["sent", "hidden", "half"])
def test_a_signal_is_heard_while_packages_are_imported(project, package, number):
    """It ended without a line, in Python's traceback of Ctrl-C, or as a bug."""
    (project / "typer.py").write_text(package.format(number=int(number)), "utf-8")
    environment = os.environ | {"PYTHONPATH": f"{project}:{ROOT / 'lib'}"}
    script = "from fathom.cli.main import main; main()"
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == Stopped(number).code
    [line] = ended.stderr.splitlines()
    says("stopped", number.name).check(line)


def test_a_terminal_without_a_letter_shows_its_code(own, summarised, call, monkeypatch):
    """`table --show` ended in a UnicodeEncodeError."""
    own(summarised)
    paper = Path("config/papers/sample/paper.yaml")
    text = paper.read_text(encoding="utf-8").replace("A Sample Paper", "A Samplě Paper")
    paper.write_text(text, encoding="utf-8")
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    assert call("table", "sample_table1", "--show").code == 0
    sys.stdout.flush()
    assert b"\\u" in out.getvalue() or b"\\x" in out.getvalue()


def test_a_place_that_cannot_be_written_is_a_line_and_no_bug(project, call):
    # The kernel's own file system refuses new folders, to root as well.
    answer = call("compare", "--results", "/sys/fathom")
    assert answer.code == 1
    assert answer.one_line.startswith("fathom: /sys/fathom")
    says(remedy=prose("not writable")).check(answer.one_line)


def test_a_folder_that_is_no_project_is_refused(tmp_path, monkeypatch, call):
    monkeypatch.setenv("FATHOM_PROJECT", "")
    answer = call("--project", str(tmp_path), "list")
    says("no project", remedy=prose("change folder")).check(answer.one_line)


def test_a_project_is_named_before_the_verb(project, tmp_path_factory, monkeypatch, call):
    monkeypatch.setenv("FATHOM_PROJECT", "")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert call("--project", str(project), "list", "papers").lines == ["sample  A Sample Paper"]


def test_packages_print_nothing_below_a_warning(project, call):
    logger = logging.getLogger("fairseq.tasks.text_to_speech")
    logging.getLogger("fairseq").setLevel(logging.NOTSET)
    call("list")
    assert not logger.isEnabledFor(logging.INFO)
    assert logger.isEnabledFor(logging.WARNING)


# On a finished tree all but these do without torch: they build networks or read weights.
NETWORKS = {"params", "export", "prune", "likelihood", "best-window", "gates", "sharing"}
# What they are called with; fetch and prepare need a source, check-learning a scale that learns.
WORDS = {
    "show": (RUN,),
    "statistics": ("small",),
    "subwords": ("small",),
    "encode": ("small",),
    "train": (RUN,),
    "translate": (RUN,),
    "score": (RUN,),
    "table": ("sample_table1", "--partial"),
    "figure": ("sample_figure1", "--partial"),
    "fetch": ("django", "--help"),
    "prepare": ("small", "--help"),
    "check-learning": ("--help",),
    "curves": (RUN,),
    # The small corpus has no sources; tests/cli/test_page.py draws pages.
    "page": ("--help",),
    "diff": ("results", "results"),
    "pack": (RUN,),
    "unpack": ("run.zip", "--help"),
}
CALLS = """
import sys
from fathom.cli.verbs import build
for words in {calls}:
    build(words)(words, standalone_mode=False)
    heavy = [name for name in ("torch", "fairseq") if name in sys.modules]
    assert not heavy, (words, heavy)
"""


@pytest.mark.slow
def test_on_a_finished_tree_only_verbs_that_need_a_network_load_torch(own, summarised):
    folder = own(summarised)
    verbs = [verb for _, of_panel in VERBS for verb in of_panel if verb not in NETWORKS]
    calls = [[verb, *WORDS.get(verb, ())] for verb in verbs]
    ended = subprocess.run(
        [sys.executable, "-c", CALLS.format(calls=calls)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "lib")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def test_a_verb_that_is_asked_for_is_the_only_one_that_is_imported():
    build = "from fathom.cli.verbs import build; build(['show', 'a'])"
    script = f"import sys; {build}; print(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "lib")}
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    modules = set(ended.stdout.split())
    assert "fathom.cli.show" in modules
    assert not modules & {"fathom.cli.table", "fathom.artefacts.artefacts", "fathom.config.paper"}
