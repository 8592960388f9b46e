"""`fathom compare` without results: it trains nothing."""

import csv
import json

import pytest

from fathom.cli.compare import compare
from tests.support.own_project import verbs_use_it  # noqa: F401
from tests.support.papers import PAPERS

pytestmark = pytest.mark.usefixtures("verbs_use_it")


def test_every_reported_cell_of_every_table_has_a_line(tmp_path, capsys):
    compare(scale="paper", results=tmp_path)
    with open(tmp_path / "paper/compare.csv", encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    lines = [line for line in lines if line["paper"] in PAPERS]
    assert len(lines) == 806
    assert len({(line["paper"], line["table"]) for line in lines}) == 22
    runs = {line["verdict"] for line in lines if "/" in line["run"]}
    assert runs == {"not run"}
    assert "not run" in capsys.readouterr().err


def test_the_page_and_the_deviations_are_next_to_it(tmp_path):
    compare(scale="tiny", results=tmp_path)
    written = sorted(path.name for path in (tmp_path / "tiny").iterdir())
    assert written == ["compare.csv", "compare.html", "deviations.md"]


def test_one_table_can_be_printed_alone_and_as_json(tmp_path, capsys):
    compare(scale="tiny", results=tmp_path, table="latent_depth_table9", as_json=True)
    cells = json.loads(capsys.readouterr().out)
    assert {(cell["paper"], cell["table"]) for cell in cells} == {("latent_depth", "table9")}
    first = cells[0]
    assert (first["verdict"], first["reproduced"]) == ("not run", None)
    assert first["reported"]
    with open(tmp_path / "tiny/compare.csv", encoding="utf-8", newline="") as stream:
        assert len({line["table"] for line in csv.DictReader(stream)}) > 1
