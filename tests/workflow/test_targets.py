from pathlib import Path

import pytest

from fathom.errors import FathomError
from fathom.io.files import write_json
from fathom.runs.paths import Paths
from fathom.workflow.targets import Targets

TABLE = "latent_depth_table5"


def targets(catalog, results, *requested, row=None):
    return Targets(catalog, "tiny", Paths(results, "tiny"), requested, row)


def test_tables_papers_and_rows_can_be_asked_for_by_name(catalog, tmp_path):
    names = targets(catalog, tmp_path).names
    assert {"all", "compare", "latent_depth", TABLE, f"{TABLE}_row"} <= set(names)


def test_a_mistyped_target_gets_the_nearest_valid_name(catalog, tmp_path):
    with pytest.raises(FathomError, match=f"no target 'latent_depth_tabel5'.*'{TABLE}'"):
        targets(catalog, tmp_path, "latent_depth_tabel5").check()


def test_a_path_is_left_to_snakemake(catalog, tmp_path):
    targets(catalog, tmp_path, "results/tiny/compare.csv").check()


def test_a_table_needs_a_manifest_of_each_of_its_ten_rows(catalog, tmp_path):
    paths = targets(catalog, tmp_path).manifests("latent_depth", "table5")
    assert len(paths) == len(set(paths)) == 10
    assert all(path.name == "manifest.json" for path in paths)


def test_a_row_needs_its_own_manifest(catalog, tmp_path):
    asked = targets(catalog, tmp_path, f"{TABLE}_row", row="12/12")
    asked.check()
    assert asked.row_run(TABLE) == "static_12_12"


@pytest.mark.parametrize(
    ("row", "message"),
    [(None, "no row is named.*--config row="), ("12/13", "no row '12/13'.*nearest valid name")],
)
def test_a_row_that_is_missing_or_mistyped_is_told(catalog, tmp_path, row, message):
    with pytest.raises(FathomError, match=message):
        targets(catalog, tmp_path, f"{TABLE}_row", row=row).check()


def test_compare_alone_waits_for_what_exists_and_trains_nothing(catalog, tmp_path):
    asked = targets(catalog, tmp_path, "compare")
    assert asked.compared() == []
    manifest = asked.manifests("latent_depth", "table5")[3]
    write_json(manifest, {})
    assert asked.compared() == [manifest]


def test_compare_in_all_and_beside_a_table_waits_for_what_they_train(catalog, tmp_path):
    every = targets(catalog, tmp_path).manifests_of(catalog.paper_of)
    assert targets(catalog, tmp_path).compared() == every
    assert targets(catalog, tmp_path, "all").compared() == every
    beside = targets(catalog, tmp_path, "compare", TABLE)
    assert set(beside.compared()) == set(beside.manifests("latent_depth", "table5"))


def test_decoding_settings_change_with_the_beam_and_not_with_the_metric(catalog, tmp_path):
    asked = targets(catalog, tmp_path)
    run = catalog.spec("static_12_12", "tiny").folder
    assert asked.decoding_settings(run) != asked.scoring_settings(run)
    assert asked.compared_settings(run) == "plain 13a"


def test_patterns_match_artefacts_of_their_kind_alone(catalog, tmp_path):
    asked = targets(catalog, tmp_path)
    assert "table5" in asked.pattern("table").split("|")
    assert "table5" not in asked.pattern("figure").split("|")


def test_cells_are_judged_by_files_that_stand_in_config(catalog, tmp_path):
    files = targets(catalog, tmp_path).judged_by()
    folder = Path("config/papers/latent_depth")
    assert {folder / "table5.csv", folder / "paper.yaml", folder / "deviations.yaml"} <= set(files)


def test_a_run_is_tested_on_the_text_that_its_tensors_are_made_of(catalog, tmp_path):
    asked = targets(catalog, tmp_path, TABLE)
    spec = catalog.spec("static_6_6", "tiny")
    assert asked.corpus(spec.folder) == asked.paths.corpus(spec.data) / "corpus.json"
    assert asked.sources(asked.corpus(spec.folder).parent.name) == asked.sources(spec.data.folder)


def test_who_asks_for_a_table_asks_for_its_manifests_too(catalog, tmp_path):
    """A lost manifest stayed lost, since the table that was drawn from it was there."""
    asked = targets(catalog, tmp_path, TABLE)
    manifests = asked.manifests("latent_depth", "table5")
    assert set(manifests) < set(asked.wanted("latent_depth", "table5"))
    assert set(manifests) < set(asked.paper("latent_depth"))
