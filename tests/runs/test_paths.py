from pathlib import Path

from fathom.runs.paths import Paths


def test_sources_are_shared_by_all_scales(tmp_path):
    assert Paths(tmp_path, "tiny").source("a") == Paths(tmp_path, "paper").source("a")


def test_a_runs_files_stand_in_the_folder_of_its_identity_and_seed(catalog):
    spec = catalog.spec("static_12_12", "tiny")
    paths = Paths(Path("results"), "tiny")
    run = paths.run(spec, 3)
    assert run.parts == ("results", "tiny", "runs", f"static_12_12-{spec.identity[:8]}", "3")
    assert paths.training(spec, 3) == run / "training.json"
    assert paths.manifest(spec, 3) == run / "manifest.json"
    assert paths.decoding(spec, 3, "soft") == run / "decodings" / "soft"
    assert paths.likelihood(spec, 3, "soft", "valid") == run / "likelihood" / "soft.valid.json"


def test_text_pieces_and_tensors_stand_in_folders_that_name_the_data_set(catalog):
    data = catalog.spec("static_12_12", "tiny").data
    paths = Paths(Path("results"), "tiny")
    for folder in (paths.corpus(data), paths.subwords(data), paths.tensors(data)):
        assert folder.name.startswith("po_wheels_diverse-")
