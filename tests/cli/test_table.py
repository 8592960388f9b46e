"""`fathom table` on a project without results."""

import pytest

from fathom.cli.table import print_sheet, table
from fathom.errors import FathomError
from fathom.tables.layout import Grid, Sheet, Shown


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


def test_a_terminal_of_eighty_columns_shows_every_column(monkeypatch, capsys):
    """The last column of ten was cut to one letter, without a word."""
    monkeypatch.setenv("COLUMNS", "80")
    titles = [f"{what} {side}." for side in ("enc", "dec") for what in ("E[L]", "Σp", "|alpha|")]
    header = ("Model", "Avg., hard", *titles, "undec. enc.", "undec. dec.")
    numbers = ("2.50", "4.45", "0.04", "4.88", "3.19", "0.14", "100 %", "60 %")
    body = ((Shown("LL-Both, 24/24"), Shown("1.84†", "±0.43"), *map(Shown, numbers)),)
    print_sheet(Sheet("t", "c", (Grid("", header, body),), ()))
    printed = capsys.readouterr().out
    assert printed.count("undec.") == 2
    assert all(number in printed for number in numbers)


def test_a_mistyped_target_is_told_the_nearest(project):
    with pytest.raises(FathomError, match="nearest valid name: 'latent_depth_table5'"):
        table("latent_depth_tabel5", scale="tiny")
