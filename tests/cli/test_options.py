"""What every verb starts from."""

import pytest

from fathom.cli.options import data_named, debug, open_catalog, open_paths, report
from fathom.errors import FathomError, Findings


def test_the_project_is_found_from_a_folder_below_it(project, monkeypatch):
    (project / "notes" / "today").mkdir(parents=True)
    monkeypatch.chdir(project / "notes" / "today")
    assert open_catalog().root == project


def test_no_project_is_told_with_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FathomError, match="no fathom project here") as caught:
        open_catalog()
    assert caught.value.where == str(tmp_path)


def test_config_is_checked_unless_the_start_has_checked_it(project):
    path = project / "config" / "scales" / "tiny.yaml"
    path.write_text(path.read_text("utf-8") + "more: 1\n", encoding="utf-8")
    with pytest.raises(Findings, match=r"tiny\.yaml"):
        open_catalog()
    assert "tiny" in open_catalog(check=False).scales


def test_without_a_scale_it_is_that_of_the_config(project):
    catalog = open_catalog()
    name, paths = open_paths(catalog, None)
    assert (name, paths.top) == ("tiny", project / "results" / "tiny")
    name, paths = open_paths(catalog, "paper")
    assert (name, paths.top) == ("paper", project / "results" / "paper")


def test_data_go_by_their_folder_and_by_their_data_set(project):
    catalog = open_catalog()
    data = data_named(catalog, "po_wheels_diverse", "tiny")
    assert data == catalog.spec("static_12_12", "tiny").data
    assert data_named(catalog, data.folder, "tiny") == data


def test_data_of_another_scale_are_told_the_nearest_of_this_one(project):
    with pytest.raises(FathomError, match="scale paper: no data 'po_wheels_diverse'; nearest"):
        data_named(open_catalog(), "po_wheels_diverse", "paper")
    with pytest.raises(FathomError, match="no data 'po_wheels_diverse-00000000'"):
        data_named(open_catalog(), "po_wheels_diverse-00000000", "tiny")


def test_a_data_set_that_is_cut_in_two_ways_must_be_named_by_its_folder(project):
    path = project / "config" / "papers" / "latent_depth" / "runs.yaml"
    old, new = "  static_12_12: {}", "  static_12_12: {data: {max_pieces: 512}}"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    catalog = open_catalog()
    with pytest.raises(FathomError, match="cut into pieces in 2 ways") as caught:
        data_named(catalog, "po_wheels_diverse", "tiny")
    for run in ("static_12_12", "static_6_6"):
        folder = catalog.spec(run, "tiny").data.folder
        assert folder in caught.value.remedy
        assert data_named(catalog, folder, "tiny") == catalog.spec(run, "tiny").data


def test_progress_goes_to_standard_error(capsys):
    report("one line")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "one line\n")


@pytest.mark.parametrize(("value", "wanted"), [(None, False), ("0", False), ("1", True)])
def test_only_1_asks_for_tracebacks(monkeypatch, value, wanted):
    monkeypatch.delenv("FATHOM_DEBUG", raising=False)
    if value is not None:
        monkeypatch.setenv("FATHOM_DEBUG", value)
    assert debug() is wanted
