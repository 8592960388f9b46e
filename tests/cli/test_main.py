"""The command: exit codes, standard output and error, help, JSON, and the project that it finds."""

import errno
import io
import json
import logging
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fathom.artefacts.needs import Needs
from fathom.cli.ask import KINDS as LISTED
from fathom.cli.options import data_named, open_project, open_scale
from fathom.cli.verbs import VERBS, build
from fathom.config import load, plugins
from fathom.io.errors import FathomError
from fathom.io.files import write_text
from fathom.io.machine import fault_of_machine
from fathom.io.signals import SIGNALS, Stopped
from fathom.results.clean import KINDS
from fathom.results.recipe import PACKAGE
from tests.support.refused import says
from tests.support.scripts import LIBRARY, python
from tests.support.small_project import RUN
from tests.support.specs import ROOT
from tests.support.stopped_jobs import HEARD

NAMES = [verb for verbs in VERBS.values() for verb in verbs]
SCREEN = {"COLUMNS": "80", "TERM": "dumb"}
COMMAND = [sys.executable, "-c", "from fathom.cli.main import main; main()"]


def help_of(*words):
    return CliRunner().invoke(build(), [*words, "--help"], env=SCREEN)


def test_a_verb_whose_errors_have_no_stream_ends_as_with_it(project):
    """It printed all, and then ended with 1."""
    words = [*COMMAND, "show", RUN]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *words],
        env=os.environ | LIBRARY,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"model.width" in done.stdout) == (0, True)


@pytest.fixture
def broken(monkeypatch):
    """A function that lets `fathom list` raise an error."""

    def broken(error):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr("fathom.cli.ask.open_scale", fail)

    return broken


def test_a_bug_shows_its_traceback_and_ends_in_70(project, edit, call, broken, monkeypatch):
    """A mistake in config that the command did not need was blamed for it."""
    monkeypatch.setattr(plugins, "_registered", {})  # of other tests
    edit("papers/sample/tables.yaml", "columns:", "colums:")
    broken(TypeError("unexpected"))
    answer = call("list")
    assert answer.code == 70
    assert "Traceback" in answer.err
    assert "TypeError" in answer.err
    assert "colums" not in answer.err
    report = "please report it with the lines above, as CONTRIBUTING.md says"
    assert answer.err.endswith(f"fathom: this is a bug of fathom; {report}\n")


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "make room there"),
        (errno.EROFS, "give the right to write there or name another folder"),
        (errno.ENAMETOOLONG, "move what is in the way"),
        (errno.ESTALE, "it was deleted"),
        (errno.EIO, "the disk or its connection fails"),
        (errno.EMFILE, "end other programs"),
    ],
)
def test_what_the_machine_refuses_is_one_line_with_the_file_and_what_to_do(
    project, call, broken, number, remedy
):
    broken(OSError(number, os.strerror(number), "results/a.json"))
    line = call("list").one_line
    assert line.startswith("fathom: results/a.json: ")
    assert remedy in line


def test_a_full_memory_is_not_a_bug_and_other_errors_are():
    assert "lower tokens_per_device" in fault_of_machine(MemoryError()).remedy
    for bug in (OSError("x"), OSError(errno.EBADF, "bad"), ValueError("x")):
        assert fault_of_machine(bug) is None


def test_a_place_that_cannot_be_written_is_one_line(project, call):
    # The kernel's own file system refuses new folders, to root as well.
    line = call("compare", "--results", "/sys").one_line
    assert line.startswith("fathom: /sys/small")
    assert "give the right to write there" in line


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", SIGNALS)
def test_every_verb_ends_in_one_line_and_the_code_of_the_signal(project, call, monkeypatch, number):
    monkeypatch.setattr("fathom.cli.ask.open_scale", lambda *_, **__: os.kill(os.getpid(), number))
    answer = call("list")
    assert (answer.code, answer.out) == (Stopped(number).code, "")
    [line] = answer.err.splitlines()
    assert f"stopped by {number.name}" in line
    assert "start the same command again to resume" in line


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


@pytest.mark.slow
@pytest.mark.parametrize("number", HEARD)
@pytest.mark.parametrize("package", [SENT, HIDDEN, HALF_BUILT], ids=["sent", "hidden", "half"])
def test_a_signal_is_heard_while_packages_are_imported(project, package, number):
    """It ended without a line, in Python's traceback of Ctrl-C, or as a bug."""
    (project / "typer.py").write_text(package.format(number=int(number)), "utf-8")
    environment = os.environ | {"PYTHONPATH": f"{project}:{ROOT / 'lib'}"}
    ended = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == Stopped(number).code
    [line] = ended.stderr.splitlines()
    assert f"stopped by {number.name}" in line


@pytest.fixture
def two_studies(project, tmp_path, edit, monkeypatch):
    """A folder elsewhere, with a study of the name of one that the project's config.yaml names."""
    edit("config.yaml", "device: cpu", "device: cpu\npapers: [depth, gone]")
    away = tmp_path / "away"
    for folder, title in ((project, "of the project"), (away, "of another folder")):
        write_text(folder / "depth" / "study.yaml", f"title: {title}\n")
    monkeypatch.setenv("FATHOM_PROJECT", str(project))
    monkeypatch.chdir(away)
    return project / "gone"


def test_folders_of_papers_are_below_that_of_the_file_that_names_them(two_studies, call):
    """In another folder than the clone every command failed."""
    listed = call("list", "papers")
    assert "of the project" in listed.out
    place = f"fathom: config/config.yaml:3: papers {two_studies}: no such folder"
    assert listed.err.startswith(place)
    write_text(Path("config/config.yaml"), "papers: depth\n")
    listed = call("list", "papers")
    assert "of another folder" in listed.out
    assert "no such folder" not in listed.err


@pytest.mark.parametrize(
    "words",
    [
        "show gone/flat",
        "train gone/flat --seed 1",
        "table gone_table1 --partial",
        "figure gone_figure1 --partial",
        "plan gone",
        "plan gone_table1_row",
        "claims gone",
        "page gone",
        "run gone -n",
        "run gone_table1 -n",
        "validate",
    ],
)
def test_what_needs_a_folder_that_is_not_there_says_which_file_and_line_names_it(
    two_studies, call, words
):
    answer = call(*words.split())
    assert answer.code == 1
    where = f"config/config.yaml:3: papers {two_studies}"
    says("no such folder", where=where, remedy="correct the path").check(
        answer.err.splitlines()[-1].removeprefix("fathom: ")
    )
    assert "goes on without it" not in answer.err.splitlines()[-1]


def test_a_terminal_without_a_letter_shows_its_code(project, edit, call, monkeypatch):
    """`table --show` ended in a UnicodeEncodeError."""
    edit("papers/sample/paper.yaml", "A Sample Paper", "A Samplě Paper")
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    assert call("list", "papers").code == 0
    assert call("table", "sample_table1", "--partial", "--show").code == 0
    sys.stdout.flush()
    assert b"Sampl\\u011b" in out.getvalue()


@pytest.mark.parametrize(("full", "said"), [(True, "standard output: No space left"), (False, "")])
def test_an_answer_that_nobody_takes_ends_in_at_most_one_line(full, said):
    """Python complained of it after the command, and ended with 120."""
    reader, pipe = os.pipe()
    os.close(reader)
    with open("/dev/full", "w", encoding="utf-8") as disk, os.fdopen(pipe, "w") as closed:
        ended = subprocess.run(
            [*COMMAND, "--version"],
            env=os.environ | {"PYTHONUNBUFFERED": ""},
            stdout=disk if full else closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == len(said[:1])
    assert said in ended.stderr


def test_packages_print_nothing_below_a_warning(project, call):
    logger = logging.getLogger("fairseq.tasks.text_to_speech")
    logging.getLogger("fairseq").setLevel(logging.NOTSET)
    call("list")
    assert not logger.isEnabledFor(logging.INFO)
    assert logger.isEnabledFor(logging.WARNING)


# The project.


def test_the_project_is_found_from_a_folder_below_it_and_may_be_named(
    project, tmp_path_factory, monkeypatch, call
):
    (project / "notes" / "today").mkdir(parents=True)
    monkeypatch.chdir(project / "notes" / "today")
    assert open_project().root == project
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setenv("FATHOM_PROJECT", str(project))
    found, paths = open_scale(None)
    assert (found.root, paths.results) == (project, Path("results")), "below the working folder"
    monkeypatch.setenv("FATHOM_PROJECT", "")
    assert call("--project", str(project), "list", "papers").lines[1] == "sample  A Sample Paper"


def test_outside_of_a_clone_the_config_of_the_package_is_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = open_project()
    assert (found.root / "config").samefile(PACKAGE.parents[1] / "config"), "a link in a clone"
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("scale: paper\n", encoding="utf-8")
    found = open_project()
    assert (found.switches.scale, found.root) == ("paper", load.PACKAGED)


@pytest.mark.parametrize("named", [None, "/nowhere"])
def test_no_project_is_refused_with_the_folder(tmp_path, monkeypatch, named):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(load, "PACKAGED", tmp_path)
    if named:
        monkeypatch.setenv("FATHOM_PROJECT", named)
    with pytest.raises(FathomError, match="no fathom project here") as caught:
        open_project()
    assert caught.value.where == (named or str(tmp_path))


def test_the_code_of_another_clone_is_named(project, capsys):
    """A copied clone ran the code of the old one on its own config."""
    open_project()
    assert capsys.readouterr().err == ""
    (project / "lib" / "fathom").mkdir(parents=True)
    open_project()
    assert f"{project}: not the code of this folder runs" in capsys.readouterr().err


def test_data_are_named_by_their_folder_or_by_their_data_set(project, edit):
    found = open_project()
    data = data_named(found, "small", "small")
    assert data == found.spec(f"sample/{RUN}", "small").data
    assert data_named(found, data.folder, "small") == data
    edit(
        "papers/sample/runs.yaml",
        "  static_2_2: {like: base}",
        "  static_2_2: {like: base, data: {max_pieces: 32}}  # §2",
    )
    found = open_project()
    with pytest.raises(FathomError, match="cut into pieces in 2 ways") as caught:
        data_named(found, "small", "small")
    for name in found.entries:
        assert found.spec(name, "small").data.folder in caught.value.remedy


# Help and JSON of every verb.


def test_the_commands_help_shows_each_verb_within_80_columns():
    answer = help_of()
    assert answer.exit_code == 0
    lines = answer.stdout.split("\n")
    assert len(lines) <= 70
    assert all(len(line) <= 80 for line in lines)
    rows = [line.strip("│ ").split(maxsplit=1)[0] for line in lines if line.startswith("│ ")]
    assert [row for row in rows if row in NAMES] == NAMES


@pytest.fixture(scope="module")
def known(own_project):
    """The names that an example may use."""
    return {
        *(name.rpartition("/")[2] for name in own_project.entries),
        *own_project.entries,
        *own_project.papers,
        *own_project.datasets,
        *own_project.sources,
        *own_project.methods,
        *Needs(own_project, "tiny").artefacts,
        *LISTED,
        *KINDS,
        *("my_study", "results"),  # what `new` begins, and what is compared
    }


@pytest.mark.parametrize("verb", NAMES)
def test_a_verbs_help_has_a_short_option_and_an_example_of_what_there_is(verb, known, own_project):
    answer = help_of(verb)
    assert answer.exit_code == 0
    short = CliRunner().invoke(build(), [verb, "-h"], env=SCREEN)
    assert short.stdout == answer.stdout
    (line,) = (line for line in answer.stdout.split("\n") if "Example:" in line)
    fathom, first, *words = shlex.split(line.strip().removeprefix("Example: ").split(" < ")[0])
    assert (fathom, first) == ("fathom", verb)
    if words and not words[0].startswith("--"):
        assert words[0] in known or words[0].endswith((".zip", ".tar.gz"))
    if "--scale" in words:
        assert words[words.index("--scale") + 1] in own_project.scales


# These answer programs too. The page on Python has what others read of a table or a claim.
JSON = {
    "list": (),
    "plan": (),
    "status": (),
    "compare": (),
    "test": ("sample_table1: Gated", RUN),
}


@pytest.mark.parametrize("verb", NAMES)
def test_a_verb_that_answers_prints_json_alone_on_standard_output(own, summarised, call, verb):
    assert ("--json" in help_of(verb).stdout) == (verb in JSON)
    if verb in JSON:
        own(summarised)
        answer = call(verb, *JSON[verb], "--json")
        assert "Traceback" not in answer.err
        json.loads(answer.out)


def test_the_version_is_printed(call):
    answer = call("--version")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.strip().count(".") == 2


# On a finished tree all but these do without torch: they build networks or read weights.
NETWORKS = {
    "params",
    "export",
    "likelihood",
    "best-window",
    "gates",
    "sharing",
}
# What they are called with; fetch and prepare need a source.
WORDS = JSON | {
    # Seed 1 has not learned.
    "status": ("--seeds", "2-2"),
    "show": (RUN,),
    "validate": (),
    "where": (),
    "params": (),
    "table": ("sample_table1", "--partial"),
    "claims": (),
    "diff": ("results", "results"),
    "verify": (),
    "clean": (),
    "subwords": ("small",),
    "encode": ("small",),
    "train": (RUN,),
    "translate": (RUN,),
    "score": (RUN,),
    "figure": ("sample_figure1", "--partial"),
    "fetch": ("django", "--help"),
    "prepare": ("small", "--help"),
    "run": ("--help",),
    # The small corpus has no sources; test_draw.py draws pages.
    "page": ("--help",),
    "new": ("mine",),
    "adopt": ("--help",),
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
    calls = [[verb, *WORDS[verb]] for verb in NAMES if verb not in NETWORKS]
    ended = python(CALLS.format(calls=calls), folder=folder)
    assert ended.returncode == 0, ended.stderr


JOBS = """
import sys
from fathom.cli.verbs import build
for words in {calls}:
    build(words)(words, standalone_mode=False)
    assert not {{"fairseq", "fairseq.utils", "hydra"}} & {{*sys.modules}}, words
from fathom.io.fairseq_files import fairseq_files
with fairseq_files():
    from fairseq.utils import get_activation_fn
    assert all(callable(get_activation_fn(name)) for name in ("gelu_accurate", "gelu", "gelu"))
import fairseq.tasks
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel
from fairseq.models import MODEL_REGISTRY
assert MODEL_REGISTRY["transformer"] is TransformerModel
assert fairseq.tasks.TASK_REGISTRY and fairseq.modules.MultiheadAttention
words = {calls}[-1]
build(words)(words, standalone_mode=False)
"""


@pytest.mark.slow
def test_jobs_with_a_network_import_few_files_of_fairseq_which_stays_whole_for_others(own, encoded):
    script = JOBS.format(calls=[["train", RUN], ["translate", RUN]])
    ended = python(script, folder=own(encoded))
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    lines = [line for line in ended.stderr.splitlines() if "install tensorboardX" not in line]
    assert all("static_2_2" in line for line in lines), ended.stderr


@pytest.mark.slow
def test_questions_about_config_import_no_tables_no_pandas_and_no_other_verbs(project):
    for words in (["--version"], ["list"], ["show", RUN], ["where", "sample"]):
        script = f"from fathom.cli.verbs import build; build({words})({words}, standalone_mode=0)"
        script = f"import sys; {script}; print(*sys.modules, file=sys.stderr)"
        ended = python(script)
        assert ended.returncode == 0, ended.stderr
        modules = set(ended.stderr.split("\n")[-2].split())
        assert ("fathom.cli.ask" in modules) == ("pydantic" in modules) == (words != ["--version"])
        heavy = {"torch", "snakemake", "pandas", "matplotlib"}
        assert not modules & {"fathom.cli.draw", "fathom.cli.runs", *heavy}, words


def test_a_shell_completes_verbs_and_options(project, call, monkeypatch):
    monkeypatch.setenv("_FATHOM_COMPLETE", "complete_bash")
    for words, completed in (("fathom sta", "status"), ("fathom table --par", "--partial")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        assert completed in call().lines
