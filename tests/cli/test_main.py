"""The door: help, exit codes, and what a mistake or a bug looks like."""

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
from fathom.errors import FathomError
from fathom.project.load import load
from tests.cli.small_project import ROOT

NAMES = [verb for _, verbs in VERBS for verb in verbs]
SCREEN = {"COLUMNS": "80", "TERM": "dumb"}


def help_of(*words):
    return CliRunner().invoke(build(), [*words, "--help"], env=SCREEN)


def example_of(verb):
    (line,) = (line for line in help_of(verb).stdout.split("\n") if "Example:" in line)
    return line.strip().removeprefix("Example: ")


def test_every_file_beside_the_door_is_a_verb():
    files = {path.stem for path in Path(fathom.cli.__file__).parent.glob("*.py")}
    assert files - {"__init__", "main", "options"} == set(NAMES)


def test_the_commands_help_shows_each_verb_in_one_line_of_80_columns():
    answer = help_of()
    assert answer.exit_code == 0
    lines = answer.stdout.split("\n")
    assert len(lines) < 40
    assert all(len(line) <= 80 for line in lines)
    rows = [line.strip("│ ").split(maxsplit=1) for line in lines if line.startswith("│ ")]
    assert [verb for verb, _ in rows[1:]] == NAMES
    assert all(told.endswith(".") for _, told in rows)


@pytest.mark.parametrize("verb", NAMES)
def test_a_verbs_help_has_an_example(verb):
    answer = help_of(verb)
    assert answer.exit_code == 0
    assert example_of(verb).startswith(f"fathom {verb}")


@pytest.mark.parametrize("verb", NAMES)
def test_an_example_names_what_there_is(verb):
    catalog = load(ROOT, check=False)
    known = {
        *catalog.paper_of,
        *catalog.papers,
        *catalog.datasets,
        *catalog.sources,
        *(f"{paper.name}_{each}" for paper in catalog.papers.values() for each in paper.artefacts),
        "artefacts",
    }
    words = shlex.split(example_of(verb).split(" < ")[0])[2:]
    assert not words or words[0].startswith("--") or words[0] in known
    if "--scale" in words:
        assert words[words.index("--scale") + 1] in catalog.scales


@pytest.mark.parametrize(
    ("words", "what", "nearest"),
    [
        (("show", "static_12_21"), "no run 'static_12_21'", "static_12_12"),
        (("show", "static_12_12", "--scale", "tinny"), "no scale 'tinny'", "tiny"),
        (("list", "run"), "no kind 'run'", "runs"),
        (("where", "latent_dept"), "no paper 'latent_dept'", "latent_depth"),
        (("where", "latent_depth", "Alg. 3"), "no equation 'Alg. 3'", "Alg. "),
        (("fetch", "djangoo"), "no source 'djangoo'", "django"),
        (("prepare", "po_wheels_divers"), "no data set 'po_wheels_divers'", "po_wheels_diverse"),
        (("subwords", "po_wheels_divers"), "no data 'po_wheels_divers'", "po_wheels_diverse"),
        (("encode", "po_wheels_divers"), "no data 'po_wheels_divers'", "po_wheels_diverse"),
        (("train", "static_12_21"), "no run 'static_12_21'", "static_12_12"),
        (("translate", "ll_d_12_42"), "no run 'll_d_12_42'", "ll_d_12_24"),
        (("score", "ll_d_12_42"), "no run 'll_d_12_42'", "ll_d_12_24"),
        (("conclude", "ll_d_12_42"), "no run 'll_d_12_42'", "ll_d_12_24"),
        (("anchor", "--scale", "tinny"), "no scale 'tinny'", "tiny"),
        (("table", "latent_depth_tabel5"), "no table 'latent_depth_tabel5'", "latent_depth_table5"),
        (("figure", "latent_depth_figur4"), "no figure", "latent_depth_figure4"),
        (("compare", "--scale", "papre"), "no scale 'papre'", "paper"),
        (("params", "--scale", "tinny"), "no scale 'tinny'", "tiny"),
    ],
)
def test_an_unknown_name_ends_in_one_line_with_the_nearest(project, call, words, what, nearest):
    line = call(*words).one_line
    assert line.startswith("fathom: ")
    assert what in line
    assert f"nearest valid name: '{nearest}" in line


def test_debug_shows_where_a_mistake_was_found(project, call, monkeypatch):
    call("show", "static_12_21")
    monkeypatch.setenv("FATHOM_DEBUG", "1")
    with pytest.raises(FathomError, match="no run 'static_12_21'"):
        main()


def test_the_command_as_a_shell_starts_it(project):
    command = [sys.executable, "-c", "from fathom.cli.main import main; main()"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "lib")}
    for debug, shown in (("0", False), ("1", True)):
        ended = subprocess.run(
            [*command, "show", "static_12_21"],
            env=environment | {"FATHOM_DEBUG": debug},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 1
        assert ("Traceback" in ended.stderr) == shown
        assert "no run 'static_12_21'" in ended.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("train",),
        ("trian", "static_12_12"),
        ("show", "static_12_12", "static_6_6"),
        ("show", "static_12_12", "--sclae", "tiny"),
        ("train", "static_12_12", "--seed", "one"),
        ("train", "static_12_12", "--seed", "-1"),
    ],
)
def test_a_wrong_command_line_ends_in_2(project, call, words):
    answer = call(*words)
    assert answer.code == 2
    assert "Usage: " in answer.err
    assert "Traceback" not in answer.err


def test_every_finding_in_config_is_told(project, call):
    scale, switches = project / "config/scales/tiny.yaml", project / "config/config.yaml"
    text = scale.read_text(encoding="utf-8")
    scale.write_text(text.replace("layers: 0.25", "layrs: 0.25"), encoding="utf-8")
    switches.write_text(switches.read_text("utf-8") + "scael: tiny\n", encoding="utf-8")
    answer = call("list")
    assert (answer.code, answer.out) == (1, "")
    unknown, missing, misspelt = sorted(answer.err.removesuffix("\n").split("\n"))
    assert unknown.startswith("config/config.yaml:")
    assert "'scale'" in unknown
    assert all(line.startswith("config/scales/tiny.yaml") for line in (missing, misspelt))


def test_a_file_that_is_no_yaml_is_told_with_its_line(project, call):
    (project / "config/datasets/ted8_diverse.yaml").write_text("title: a\n  b: [\n", "utf-8")
    assert "config/datasets/ted8_diverse.yaml:2: not YAML here" in call("list").one_line


@pytest.mark.parametrize("verb", ["train", "translate", "score", "conclude"])
def test_a_wrong_key_is_told_also_by_verbs_that_do_not_check_first(project, call, verb):
    path = project / "config/papers/latent_depth/runs.yaml"
    old, new = "{encoder_layers: 6, decoder_layers: 6}", "{encoder_layer: 6}"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    line = call(verb, "static_6_6").one_line
    assert "unknown key 'encoder_layer'; nearest valid name: 'encoder_layers'" in line


def test_a_bug_shows_its_traceback_and_ends_in_70(concluded, own, call):
    """A manifest that no stage writes so: its validation is no mapping."""
    from fathom.io.files import read_json, write_json

    (path,) = own(concluded).glob("results/small/runs/*/1/manifest.json")
    write_json(path, read_json(path) | {"validation": []})
    answer = call("anchor")
    assert answer.code == 70
    assert "Traceback" in answer.err
    assert "TypeError" in answer.err
    assert answer.err.endswith("this is a bug of fathom; please report it with the lines above\n")


def test_a_place_that_cannot_be_written_is_a_line_and_no_bug(project, call):
    config = project / "config/config.yaml"
    text = config.read_text(encoding="utf-8")
    # The kernel's own file system refuses new folders, to root as well.
    config.write_text(text.replace("results: results", "results: /sys/fathom"), encoding="utf-8")
    answer = call("compare")
    assert answer.code == 1
    assert answer.one_line.startswith("fathom: /sys/fathom")
    assert "make room or give the right to write there" in answer.one_line


def test_outside_a_project_every_verb_says_so(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    assert "no fathom project here; go to the folder of the clone" in call("list").one_line


def test_packages_are_not_heard_below_a_warning(project, call):
    logger = logging.getLogger("fairseq.tasks.text_to_speech")
    logging.getLogger("fairseq").setLevel(logging.NOTSET)
    call("list")
    assert not logger.isEnabledFor(logging.INFO)
    assert logger.isEnabledFor(logging.WARNING)
