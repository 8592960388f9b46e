"""A run's settings with their places; what `fathom show` prints is tested with the command."""

import pytest

from fathom.config.show import describe


@pytest.fixture(scope="module")
def settings(own_project):
    name = "latent_depth/m2o_diverse_ll_d_12_36"
    return {setting.path: setting for setting in describe(own_project, name, "tiny")}


def test_every_setting_of_the_run_is_described_once(own_project, settings):
    run = own_project.run("latent_depth/m2o_diverse_ll_d_12_36", "tiny")
    assert settings["model.decoder_layers"].value == run.model.decoder_layers == 9
    assert set(run.method.settings) <= {
        path.removeprefix("method.") for path in settings if path.startswith("method.")
    }


def test_a_value_that_the_scale_changes_keeps_the_papers_source(settings):
    layers = settings["model.decoder_layers"]
    assert (layers.changed, layers.paper) == (True, 36)
    assert layers.where.startswith("config/scales/tiny.yaml:")
    updates = settings["training.updates"]
    assert (updates.paper, updates.source) == (14_000, "App. C.2, counted as updates of Θ")


def test_a_value_that_the_scale_leaves_is_not_changed(settings):
    norm = settings["model.norm"]
    assert (norm.changed, norm.paper) == (False, None)
    assert norm.where.startswith("config/papers/latent_depth/runs.yaml:")


def test_a_part_that_is_null_is_one_setting(settings):
    assert settings["masking"].value is None
    assert settings["start"].value is None
