"""`fathom table` without results."""

import json

import pytest

from fathom.cli.table import table
from tests.support.own_project import verbs_use_it  # noqa: F401
from tests.support.refused import refused

pytestmark = pytest.mark.usefixtures("verbs_use_it")


def test_missing_measurements_are_refused_and_nothing_is_written(tmp_path):
    with refused(remedy="snakemake latent_depth_table5"):
        table("latent_depth_table5", scale="tiny", results=tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_partial_draws_what_exists(tmp_path, capsys):
    table("latent_depth_table5", scale="tiny", results=tmp_path, partial=True)
    written = sorted(path.name for path in (tmp_path / "tiny/latent_depth").iterdir())
    assert written == ["table5.csv", "table5.html", "table5.md", "table5.tex"]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "table5.md" in printed.err


def test_json_has_a_record_for_each_cell(tmp_path, capsys):
    table("latent_depth_table5", scale="tiny", results=tmp_path, partial=True, as_json=True)
    records = json.loads(capsys.readouterr().out)
    assert {"6/6", "12/12"} <= {record["row"] for record in records}
    assert {record["value"] for record in records} == {None}


@pytest.mark.parametrize("width", [80, 160])
def test_show_prints_every_row_at_any_width(tmp_path, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    table("latent_depth_table5", scale="tiny", results=tmp_path, partial=True, show=True)
    printed = capsys.readouterr().out.split("\n")
    assert all(len(line) <= width for line in printed)
    for row in ("6/6", "24/24 +layer drop", "LL-E, 36/12", "LL-Both, 24/24"):
        assert any(line.startswith(row) and "not run" in line for line in printed)
    assert any("27.73" in line and "19.9" in line for line in printed)
    assert not any("…" in line for line in printed)


def test_a_mistyped_target_has_the_nearest_name(tmp_path):
    with refused(nearest="latent_depth_table5"):
        table("latent_depth_tabel5", scale="tiny", results=tmp_path)
