"""`fathom claims` without results: it trains nothing."""

import csv
import json

import pytest

from fathom.artefacts.claims.view import NONE
from fathom.cli.claims import claims
from fathom.io.errors import FathomError
from tests.support.own_project import verbs_use_it  # noqa: F401
from tests.support.papers import PAPERS
from tests.support.refused import says

pytestmark = pytest.mark.usefixtures("verbs_use_it")


def test_every_part_of_every_claim_has_a_line(tmp_path, capsys):
    claims(scale="tiny", results=tmp_path)
    with open(tmp_path / "tiny/claims.csv", encoding="utf-8", newline="") as stream:
        lines = [line for line in csv.DictReader(stream) if line["paper"] in PAPERS]
    assert len(lines) == 95
    assert {line["answer"] for line in lines} == {"not run"}
    assert sorted(path.name for path in (tmp_path / "tiny").iterdir()) == [
        "claims.csv",
        "claims.html",
    ]
    printed = capsys.readouterr()
    assert "latent_depth/depth_grows_with_beta" in printed.out
    claims(scale="tiny", results=tmp_path, counts=True)
    assert "depth_grows_with_beta" not in capsys.readouterr().out
    assert "claims.csv" in printed.err


def test_one_paper_or_one_table_can_be_printed_and_as_json(tmp_path, capsys):
    claims("lamgd", scale="tiny", results=tmp_path, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert {one["paper"] for one in shown} == {"lamgd"}
    claims(scale="tiny", results=tmp_path, table="lamgd_table6", as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in shown] == ["sharing_grows_with_k", "chosen_k_is_best"]
    first = shown[0]
    assert (first["answer"], first["reported_answer"]) == ("not run", "holds")
    assert first["reported_evidence"][0]["difference"] == pytest.approx(-0.1)


def test_a_table_without_claims_says_so(tmp_path, capsys):
    claims(scale="tiny", results=tmp_path, table="lamgd_table1")
    assert capsys.readouterr().out == f"{NONE}\n"


def test_a_table_that_no_paper_has_is_refused(tmp_path):
    with pytest.raises(FathomError) as raised:
        claims(scale="tiny", results=tmp_path, table="lamgd_tabel6")
    says("unknown", "table or figure", "lamgd_tabel6", nearest="lamgd_table6").check(raised.value)
