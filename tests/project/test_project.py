"""Look-ups of runs: names, scales, seeds, what is comparable and what is built."""

import pytest

from fathom.config.load import load
from tests.support.papers import PAPERS
from tests.support.refused import prose, refused
from tests.support.small_project import GATED, RUN, write_config


def test_a_run_is_named_with_or_without_its_paper(own_project):
    assert own_project.run_name("m2o_diverse_12_12") == "latent_depth/m2o_diverse_12_12"
    assert own_project.run_name("lamgd/domains_hmgd") == "lamgd/domains_hmgd"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("m2o_diverse_12_13", "m2o_diverse_12_12"),
        ("lamgd/domains_hmg", "lamgd/domains_hmgd"),
    ],
)
def test_an_unknown_run_is_refused_with_the_nearest(own_project, name, nearest):
    with refused("unknown", "run", name, nearest=nearest):
        own_project.run_name(name)


def test_a_paper_in_place_of_a_run_is_refused_with_its_runs(own_project):
    with refused("a paper", "lamgd", remedy=prose("its runs", "lamgd/domains_transformer")):
        own_project.run_name("lamgd")


def test_the_ten_tiny_rows_have_the_settings_that_they_were_frozen_with(own_project):
    spec = own_project.spec("latent_depth/m2o_diverse_ll_d_12_36", "tiny")
    assert (spec.model.width, spec.model.encoder_layers, spec.model.decoder_layers) == (64, 3, 9)
    assert spec.training.updates == 300
    assert spec.training.schedule.settings == {"learning_rate": 5e-3, "warmup": 100}
    assert (spec.training.batch.tokens, spec.training.batch.pool) == (128, 16)
    assert spec.method.settings["phi_learning_rate_multiplier"] == 10.0
    assert spec.method.settings["target_depth"] == 3.0


def test_five_seeds_are_trained_where_the_paper_prints_a_deviation(own_project):
    runs = [name for name in own_project.entries if name.split("/")[0] in PAPERS]
    assert sum(len(own_project.seeds(name, "paper")) for name in runs) == 160
    assert own_project.seeds("latent_depth/en_de_ll_d_12_24", "paper") == (1, 2, 3, 4, 5)
    assert own_project.seeds("latent_depth/en_de_ll_d_12_24", "tiny") == (1,)


def test_a_run_is_comparable_only_with_the_papers_own_settings(own_project):
    assert own_project.comparable("latent_depth/m2o_diverse_12_12", "paper")
    assert not own_project.comparable("latent_depth/m2o_diverse_12_12", "tiny")


def test_a_run_that_starts_from_another_has_its_identity(own_project):
    start = own_project.spec("lamgd/m2o_related_adapters", "tiny").start
    assert start.name == "lamgd/m2o_related_transformer"
    assert start.identity == own_project.spec(start.name, "tiny").identity
    assert (start.freeze, start.average_of) == (True, 3)


@pytest.mark.parametrize("scale", [None, "tiny", "paper"])
def test_a_start_from_a_base_of_other_tasks_uses_its_pieces_and_dictionaries(own_project, scale):
    tuned = own_project.spec("lamgd/split_adapters", scale)
    base = own_project.spec("lamgd/domains_transformer", scale)
    assert tuned.start.identity == base.identity
    assert len(tuned.data.tasks) == len(base.data.tasks) + 1
    assert tuned.data.subwords_folder == base.data.subwords_folder
    assert tuned.data.corpus_folder != base.data.corpus_folder
    assert tuned.data.folder != base.data.folder


def test_what_is_not_built_says_each_reason_once(tmp_path, own_project):
    config = write_config(tmp_path) / "config"
    runs, card = config / "papers" / "sample" / "runs.yaml", config / "datasets" / "small.yaml"
    text = runs.read_text(encoding="utf-8")
    text = text.replace(f"{GATED}: {{", f"{GATED}: {{start: {{run: {RUN}}}, ")
    runs.write_text(text, encoding="utf-8")
    known = card.read_text(encoding="utf-8").split("format:")[0]
    planned = f"{known}pivot: eng\ntasks: [bos, kor]\nnot_built: no reader\n"
    card.write_text(planned, encoding="utf-8")
    reason = load(tmp_path).not_built(f"sample/{GATED}", "small")
    assert reason == "data set small: no reader"
    assert own_project.not_built("latent_depth/masked_lm_24", "tiny") == ""


def test_a_folder_whose_settings_have_changed_is_refused(own_project):
    folder = own_project.spec("latent_depth/m2o_diverse_6_6", "tiny").folder
    assert own_project.run_named(folder, "tiny").folder == folder
    with refused("settings changed", ..., "00000000"):
        own_project.run_named("m2o_diverse_6_6-00000000", "tiny")


def test_a_run_is_found_by_its_folder_at_whatever_scale(own_project):
    folder = own_project.spec("latent_depth/m2o_diverse_6_6", "paper").folder
    assert own_project.spec("latent_depth/m2o_diverse_6_6", "tiny").folder != folder
    assert own_project.run_named(f"latent_depth/{folder}", "tiny").folder == folder
