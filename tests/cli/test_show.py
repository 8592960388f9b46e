"""`fathom show`: a run's settings, and where each value comes from."""

import json

import pytest

from tests.support.refused import prose, says
from tests.support.small_project import GATED, RUN

SCALE = """\
title: half
times: {width: 1/2}
rules:
  - set: {training.updates: 2}
"""


@pytest.fixture
def half(project):
    """The project with a scale of half the width."""
    (project / "config/scales/half.yaml").write_text(SCALE)
    return project


@pytest.fixture
def lines(half, call):
    """The lines of a run with gates, by setting."""
    title, *rest = call("show", GATED, "--scale", "half").lines
    assert title.startswith(f"sample/{GATED} at scale half: results/runs/sample/{GATED}-")
    return {line.split()[0]: line for line in rest}


def test_a_setting_has_the_line_and_the_source_of_its_value(half, lines):
    value, place, source = lines["model.norm"].split()[1:4]
    file, number = place.split(":")
    written = (half / file).read_text(encoding="utf-8").split("\n")[int(number) - 1]
    assert file == "config/papers/sample/runs.yaml"
    assert "norm: pre" in written
    assert (value, source) == ("pre", "§3")


def test_lines_fit_a_terminal(half, call, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    _, *others = call("show", GATED, "--scale", "half").lines
    assert max(map(len, others)) <= 80
    assert any(line.startswith("    ") for line in others)


def test_what_the_scale_changes_is_next_to_the_papers_value(lines):
    assert lines["model.width"].split()[1:6] == [
        "8",
        "config/scales/half.yaml:2",
        "paper:",
        "16;",
        "§3",
    ]
    assert "paper: 4" in lines["training.updates"]


def test_a_default_of_a_method_comes_from_its_card(lines):
    value, place = lines["method.tau"].split()[1:3]
    assert value == "1.0"
    assert place.startswith("config/methods/latent_layers.yaml:")


def test_a_default_of_a_class_has_its_source(lines):
    assert lines["decoding.length_penalty"].split(maxsplit=2)[2] == "default  fairseq's default"


def test_values_are_written_as_in_config(lines):
    assert lines["method.tau_end"].split()[1] == "null"
    assert lines["method.target_depth_stacks"].split()[1] == '["decoder"]'


def test_only_what_the_scale_changes_is_shown_on_request(half, call, lines):
    changed = {
        line.split()[0] for line in call("show", GATED, "--scale", "half", "--changed").lines[1:]
    }
    assert changed == {"model.width", "model.ffn", "training.updates"} | {
        name for name, line in lines.items() if "paper: " in line
    }


def test_json_has_the_same_settings(half, call, lines):
    shown = json.loads(call("show", GATED, "--scale", "half", "--json").out)
    assert shown["run"] == f"sample/{GATED}"
    assert len(shown["identity"]) == 64
    assert set(shown["settings"]) == set(lines)
    width = shown["settings"]["model.width"]
    assert (width["value"], width["paper"], width["changed"]) == (8, 16, True)


def test_a_run_has_its_full_name_its_short_name_and_its_folder(project, edit, call):
    identity = json.loads(call("show", RUN, "--json").out)["identity"]
    folder = f"{RUN}-{identity[:8]}"
    assert call("show", folder).out == call("show", RUN).out == call("show", f"sample/{RUN}").out
    edit("papers/sample/runs.yaml", "updates: 4", "updates: 5")
    line = call("show", folder).one_line
    says("settings changed", remedy=prose("run is now", f"{RUN}-")).check(line)
