import pytest

from fathom.catalog.catalog import Catalog
from fathom.records.errors import FathomError, Findings


def test_the_tiny_scale_trains_a_quarter_of_the_depth(catalog):
    model = catalog.spec("ll_d_12_36", "tiny").model
    assert (model.encoder_layers, model.decoder_layers) == (3, 9)
    assert (model.width, model.ffn, model.heads) == (64, 128, 4)


def test_the_paper_scale_keeps_what_the_paper_prints(catalog):
    spec = catalog.spec("static_12_12", "paper")
    assert (spec.model.encoder_layers, spec.model.width, spec.model.ffn) == (12, 512, 1024)
    assert (spec.training.updates, spec.training.warmup) == (14000, 8000)
    assert spec.data.dataset == "ted8_diverse"


def test_a_targeted_depth_shrinks_with_the_layers(catalog):
    assert catalog.spec("ll_d_12_24", "paper").method.settings["target_depth"] == 12
    assert catalog.spec("ll_d_12_24", "tiny").method.settings["target_depth"] == 3


def test_a_run_is_found_by_its_name_and_by_its_folder(catalog):
    spec = catalog.spec("ll_d_12_24", "tiny")
    assert catalog.run_named("ll_d_12_24", "tiny") is spec
    assert catalog.run_named(spec.folder, "tiny") is spec


def test_a_folder_of_other_settings_is_refused(catalog):
    with pytest.raises(FathomError, match="are no longer those of 00000000"):
        catalog.run_named("ll_d_12_24-00000000", "tiny")


@pytest.mark.parametrize(
    ("run", "scale", "message"),
    [
        ("static_12_21", "tiny", "no run 'static_12_21'; nearest valid name: 'static_12_12'"),
        ("static_12_12", "tinny", "no scale 'tinny'; nearest valid name: 'tiny'"),
    ],
)
def test_a_mistyped_name_gets_the_nearest_valid_one(catalog, run, scale, message):
    with pytest.raises(FathomError) as caught:
        catalog.spec(run, scale)
    assert str(caught.value).endswith(message)


def test_methods_with_gates_are_decoded_twice(catalog):
    assert catalog.gates(catalog.spec("ll_d_12_24", "tiny")) == ("soft", "hard")
    assert catalog.gates(catalog.spec("static_12_12", "tiny")) == ("plain",)


def test_data_is_found_by_the_names_of_its_folders(catalog):
    data = catalog.spec("static_12_12", "tiny").data
    assert catalog.data(data.folder, "tiny") == data
    assert catalog.data(data.corpus_folder, "tiny") == data
    with pytest.raises(FathomError, match="no data 'other-00000000'"):
        catalog.data("other-00000000", "tiny")


def test_all_findings_of_all_files_stand_in_one_message(project, edit):
    edit("config/scales/tiny.yaml", "layers: 0.25", "layer: 0.25")
    edit("config/papers/latent_depth/runs.yaml", "learning_rate: 1.5e-3", "learning_rate: 1e-3")
    edit("config/config.yaml", "device: auto", "device: gpu")
    with pytest.raises(Findings) as caught:
        Catalog.load(project)
    lines = str(caught.value).split("\n")
    assert any("config/scales/tiny.yaml:4: layer: unknown key 'layer'" in line for line in lines)
    assert any("YAML reads 1e-3 as text; write 1.0e-3" in line for line in lines)
    assert any("config/config.yaml:" in line and "device" in line for line in lines)


def test_a_changed_comment_changes_no_identity(project, edit, catalog):
    edit("config/scales/tiny.yaml", "# Two cores", "# Other words. Two cores")
    again = Catalog.load(project).spec("static_12_12", "tiny")
    assert again.identity == catalog.spec("static_12_12", "tiny").identity


def test_a_changed_setting_is_another_folder(project, edit, catalog):
    edit("config/scales/tiny.yaml", "warmup: 100", "warmup: 101")
    again = Catalog.load(project).spec("static_12_12", "tiny")
    assert again.folder != catalog.spec("static_12_12", "tiny").folder
