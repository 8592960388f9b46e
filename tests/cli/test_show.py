"""`fathom show`: a run's settings, and whence each comes."""

import json

import pytest


@pytest.fixture
def lines(project, call):
    """The lines of a run with gates, by setting."""
    title, *rest = call("show", "ll_d_12_24", "--scale", "tiny").out.removesuffix("\n").split("\n")
    assert title.startswith(f"ll_d_12_24 at scale tiny: {project}/results/tiny/runs/ll_d_12_24-")
    return {line.split()[0]: line for line in rest}


def test_a_setting_is_told_with_the_line_that_it_comes_from(project, lines):
    place = lines["model.norm"].split()[2]
    file, number = place.split(":")
    written = (project / file).read_text(encoding="utf-8").split("\n")[int(number) - 1]
    assert file == "config/papers/latent_depth/runs.yaml"
    assert written.strip() == "norm: pre"
    assert "  App. C.2, pre-norm for all baselines" in lines["model.norm"]


def test_what_the_scale_changes_is_told_beside_the_papers_value(lines):
    assert lines["training.updates"].split()[1:6] == [
        "300",
        "config/scales/tiny.yaml:6",
        "instead",
        "of",
        "14000;",
    ]
    assert "instead of 24" in lines["model.decoder_layers"]


def test_a_default_comes_from_the_methods_card(lines):
    value, place = lines["method.settings.tau"].split()[1:3]
    assert value == "1.0"
    assert place.startswith("config/methods/latent_layers.yaml:")


def test_values_stand_as_config_has_them(lines):
    assert lines["method.settings.tau_end"].split()[1] == "null"
    assert lines["method.settings.target_depth_sides"].split()[1] == '["decoder"]'
    assert lines["model.residuals"].split(maxsplit=1)[1].startswith('["encoder", "decoder"]')


def test_json_has_the_same_settings(project, call, lines):
    told = json.loads(call("show", "ll_d_12_24", "--scale", "tiny", "--json").out)
    assert told["run"] == "ll_d_12_24"
    assert len(told["identity"]) == 64
    assert set(told["settings"]) == set(lines)
    updates = told["settings"]["training.updates"]
    assert (updates["value"], updates["paper"]) == (300, 14000)
    assert updates["where"].startswith("config/scales/tiny.yaml:6")


def test_at_the_papers_scale_nothing_is_changed(project, call):
    assert "instead of" not in call("show", "ll_d_12_24", "--scale", "paper").out


def test_a_run_goes_by_its_folder_as_long_as_its_settings_are_those(project, call):
    identity = json.loads(call("show", "static_6_6", "--json").out)["identity"]
    folder = f"static_6_6-{identity[:8]}"
    assert call("show", folder).out == call("show", "static_6_6").out
    path = project / "config" / "scales" / "tiny.yaml"
    text = path.read_text(encoding="utf-8").replace("updates: 300", "updates: 400")
    path.write_text(text, encoding="utf-8")
    line = call("show", folder).one_line
    assert "no longer those" in line
    assert "start again: the run is now static_6_6-" in line
