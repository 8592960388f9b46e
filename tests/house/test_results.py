"""docs/results.md says what the kept results say, and `fathom diff` reads them."""

import csv
import re

from docs.evidence import KEPT, PAGE, PAPER, REPORT, SCALE, TABLE, parts
from fathom.results.diff import compare
from fathom.results.tree import Tree

BYTES = 2_500_000


def test_the_page_has_the_parts_that_follow_from_the_kept_files():
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts().items():
        marked = f"<!-- begin: {name} -->\n{part}<!-- end: {name} -->"
        assert marked in text, "docs/results.md is stale; run python -m docs.evidence"


def test_each_row_of_the_table_has_its_trainings():
    with open(KEPT / SCALE / PAPER / f"{TABLE}.csv", encoding="utf-8", newline="") as stream:
        rows = {(line["run"], line["seeds"]) for line in csv.DictReader(stream) if line["seeds"]}
    with open(KEPT / SCALE / "runs.csv", encoding="utf-8", newline="") as stream:
        trained = [line["run"] for line in csv.DictReader(stream)]
    assert {(run, str(trained.count(run))) for run in trained} == rows


def test_a_tree_of_results_can_be_compared_with_the_kept_one():
    target = f"{PAPER}_{TABLE}"
    compared = compare(Tree.at(KEPT), Tree.at(KEPT), table=target, scale=SCALE)
    assert (compared.equal, compared.counts) == (True, {"files": 1})


def test_the_kept_page_of_the_paper_needs_no_other_file():
    page = (KEPT / SCALE / REPORT).read_text(encoding="utf-8")
    linked = re.findall(r'(?:href|src)="(?!#|data:|https?://|mailto:)([^"]*)"', page)
    assert not linked


def test_the_kept_files_are_small():
    assert sum(path.stat().st_size for path in KEPT.rglob("*") if path.is_file()) < BYTES
