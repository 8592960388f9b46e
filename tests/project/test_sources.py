"""Values of runs and papers that have no source."""

from fathom.config import source_findings as sources
from fathom.config.yaml_values import read

RUNS = """\
families:
  base:
    layers: 6/6
    model:
      width: 512  # §2
      heads: 8
    training: {updates: 10, clip: 1.0}  # §3
runs:
  one: {like: base, start: {run: two}, method: {name: dlcl}}
"""
PAPER = """\
title: Deep
metric: {tokenize: 13a}  # §4
marks:
  bold:
    means: gain  # Table 1
    to: base
"""


def test_a_value_of_a_run_needs_a_source_and_a_name_does_not(tmp_path):
    (tmp_path / "runs.yaml").write_text(RUNS, encoding="utf-8")
    wrong = sources.of_runs(read(tmp_path / "runs.yaml", tmp_path))
    assert [finding.where for finding in wrong] == ["runs.yaml:6: families.base.model.heads"]


def test_the_metric_and_the_marks_of_a_paper_need_one(tmp_path):
    (tmp_path / "paper.yaml").write_text(PAPER, encoding="utf-8")
    wrong = sources.of_paper(read(tmp_path / "paper.yaml", tmp_path))
    assert [finding.where for finding in wrong] == ["paper.yaml:6: marks.bold.to"]
