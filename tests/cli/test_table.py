"""`fathom table` on a project without results."""

import pytest

from fathom.cli.table import table
from fathom.records.errors import FathomError


def test_missing_manifests_are_refused_and_nothing_is_written(project):
    with pytest.raises(FathomError, match="and 7 more; train with `snakemake latent_depth_table5"):
        table("latent_depth_table5", scale="tiny")
    assert not (project / "results").exists()


def test_partial_draws_what_is_there(project, capsys):
    table("latent_depth_table5", scale="tiny", partial=True)
    written = sorted(path.name for path in (project / "results/tiny/latent_depth").iterdir())
    assert written == ["table5.csv", "table5.html", "table5.md", "table5.tex"]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "table5.md, and csv, tex, html beside it" in printed.err


@pytest.mark.parametrize("width", [80, 160])
def test_show_prints_every_row_whole_at_any_width(project, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    table("latent_depth_table5", scale="tiny", partial=True, show=True)
    printed = capsys.readouterr().out
    assert all(len(line) <= width for line in printed.split("\n"))
    for row in ("6/6", "24/24 +layer drop", "LL-E, 36/12", "LL-Both, 24/24"):
        assert any(line.startswith(row) and "not run" in line for line in printed.split("\n"))
    assert "Scale: tiny." in printed
    assert "…" not in printed


def test_a_mistyped_target_is_told_the_nearest(project):
    with pytest.raises(FathomError, match="nearest valid name: 'latent_depth_table5'"):
        table("latent_depth_tabel5", scale="tiny")
