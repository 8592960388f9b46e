"""What every verb starts from."""

from pathlib import Path

import pytest

from fathom.cli import options
from fathom.cli.options import (
    data_named,
    open_paths,
    open_project,
    report,
)
from fathom.io.errors import Findings
from fathom.results.recipe import PACKAGE
from tests.support.refused import refused, says
from tests.support.small_project import RUN


def test_the_project_is_found_from_a_folder_below_it(project, monkeypatch):
    (project / "notes" / "today").mkdir(parents=True)
    monkeypatch.chdir(project / "notes" / "today")
    assert open_project().root == project


def test_the_project_may_be_named_from_elsewhere(project, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setenv("FATHOM_PROJECT", str(project))
    found = open_project()
    assert found.root == project
    assert open_paths(found, None)[1].results == Path("results"), "below the working folder"


def test_outside_of_a_clone_the_config_of_the_package_is_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = open_project(check=False)
    assert (found.root / "config").samefile(PACKAGE.parents[1] / "config"), "a link in a clone"
    assert open_paths(found, None)[1].results == Path("results"), "below the working folder"


def test_switches_of_a_working_folder_come_on_top_of_the_packages(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("scale: paper\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = open_project(check=False)
    assert (found.switches.scale, found.root) == ("paper", options.PACKAGED)


@pytest.mark.parametrize("named", [None, "/nowhere"])
def test_no_project_is_refused_with_the_folder(tmp_path, monkeypatch, named):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(options, "PACKAGED", tmp_path)
    if named:
        monkeypatch.setenv("FATHOM_PROJECT", named)
    with refused("no project") as caught:
        open_project()
    assert (named or str(tmp_path)) in caught.value.where


def test_config_is_checked_unless_the_start_has_checked_it(project, edit):
    edit(
        "papers/sample/runs.yaml",
        "  static_2_2: {like: base}",
        "  static_2_2: {like: base}\n  x: {like: base}",
    )
    with refused("equal settings", error=Findings):
        open_project()
    assert "sample/x" in open_project(check=False).entries


def test_the_code_of_another_clone_is_named(project, capsys):
    """A copied clone ran the code of the old one on its own config."""
    options.open_project(check=False)
    assert capsys.readouterr().err == ""
    (project / "lib" / "fathom").mkdir(parents=True)
    options.open_project(check=False)
    says("other code", PACKAGE, where=project).check(capsys.readouterr().err)


def test_scale_and_results_are_those_of_config_unless_they_are_named(project):
    found = open_project()
    assert open_paths(found, None)[0] == "small"
    assert open_paths(found, "small", Path("/x"))[1].top == Path("/x/small")
    with refused("unknown", "scale", "smal", nearest="small"):
        open_paths(found, "smal")


def test_data_are_named_by_their_folder_or_by_their_data_set(project):
    found = open_project()
    data = data_named(found, "small", "small")
    assert data == found.spec(f"sample/{RUN}", "small").data
    assert data_named(found, data.folder, "small") == data
    with refused("unknown", "data", "smal", nearest="small"):
        data_named(found, "smal", "small")
    with refused("unknown", "data", "small-00000000"):
        data_named(found, "small-00000000", "small")


def test_a_data_set_that_is_cut_in_two_ways_must_be_named_by_its_folder(project, edit):
    edit(
        "papers/sample/runs.yaml",
        "  static_2_2: {like: base}",
        "  static_2_2: {like: base, data: {max_pieces: 32}}  # §2",
    )
    found = open_project()
    with refused("several data", ..., 2) as caught:
        data_named(found, "small", "small")
    for name in found.entries:
        assert found.spec(name, "small").data.folder in caught.value.remedy


def test_progress_goes_to_standard_error(capsys):
    report("one line")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "one line\n")
