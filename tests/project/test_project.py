import pytest

from fathom.errors import FathomError


def test_the_tiny_scale_trains_a_quarter_of_the_depth(catalog):
    model = catalog.spec("ll_d_12_36", "tiny").model
    assert (model.encoder_layers, model.decoder_layers) == (3, 9)
    assert (model.width, model.ffn, model.heads) == (64, 128, 4)


def test_the_paper_scale_keeps_what_the_paper_prints(catalog):
    spec = catalog.spec("static_12_12", "paper")
    assert (spec.model.encoder_layers, spec.model.width, spec.model.ffn) == (12, 512, 1024)
    assert (spec.training.updates, spec.training.schedule.settings["warmup"]) == (14000, 8000)
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


def test_a_default_of_a_card_is_placed_at_its_line(catalog):
    setting = catalog.settings("ll_d_12_24", "tiny")[("method", "settings", "kl_weight")]
    file, line, key = setting.where.split(":")
    assert (file, key.strip()) == ("config/methods/latent_layers.yaml", "settings.kl_weight")
    text = (catalog.root / file).read_text(encoding="utf-8").split("\n")
    assert text[int(line) - 1].strip().startswith("kl_weight:")


def test_methods_with_gates_are_decoded_twice(catalog):
    assert catalog.gates(catalog.spec("ll_d_12_24", "tiny")) == ("soft", "hard")
    assert catalog.gates(catalog.spec("static_12_12", "tiny")) == ("plain",)


def test_data_is_found_by_the_names_of_its_folders(catalog):
    data = catalog.spec("static_12_12", "tiny").data
    assert catalog.data(data.folder, "tiny") == data
    assert catalog.data(data.corpus_folder, "tiny") == data
    with pytest.raises(FathomError, match="no data 'other-00000000'"):
        catalog.data("other-00000000", "tiny")
