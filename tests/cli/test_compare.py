"""`fathom compare` on a project without results: it trains nothing and says so."""

import csv

import pytest

from fathom.cli.compare import compare
from fathom.errors import Findings


def test_every_reported_cell_is_not_run(project, capsys):
    compare(scale="paper")
    text = (project / "results/paper/compare.csv").read_text(encoding="utf-8")
    lines = list(csv.DictReader(text.split("\n")[:-1]))
    assert len(lines) == 90
    assert {line["verdict"] for line in lines} == {"not run"}
    assert "compare.csv: 90 not run" in capsys.readouterr().err


def test_the_ledger_and_a_page_stand_beside_it(project):
    compare(scale="tiny")
    written = sorted(path.name for path in (project / "results/tiny").iterdir())
    assert written == ["compare.csv", "compare.html", "deviations.md"]


def test_a_wrong_reported_number_is_told_with_its_line(project):
    path = project / "config/papers/latent_depth/table5.csv"
    path.write_text(path.read_text("utf-8").replace("6/6,bos,20.7", "6/6,bos,2O.7"), "utf-8")
    with pytest.raises(Findings, match=r"table5.csv:3: '2O.7' is no number"):
        compare(scale="tiny")
