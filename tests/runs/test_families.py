"""runs.yaml: families, `like`, `for`, and the short forms."""

import pytest
from fathom.config.families import family_findings, read_families, read_runs

from fathom.config.yaml_values import read
from fathom.io.errors import Findings
from tests.support.refused import refused, says

TEXT = """\
families:
  base:
    layers: 6/6
    method: static
    model: {width: 8}  # §3
  deep: {like: base, layers: 12/6}
runs:
  run_<n>:
    for: {n: [1, 2]}
    like: deep
    model: {heads: <n>}  # Table 1
  started: {like: base, start: run_1, method: dlcl}
"""


@pytest.fixture
def runs_of(tmp_path):
    def load(text=TEXT):
        (tmp_path / "runs.yaml").write_text(text)
        return read_runs(read(tmp_path / "runs.yaml", tmp_path))

    return load


def test_a_run_has_what_its_families_give(runs_of):
    runs = runs_of()
    assert list(runs) == ["run_1", "run_2", "started"]
    run = runs["run_2"]
    assert run.get(("model",)) == {
        "encoder_layers": 12,
        "decoder_layers": 6,
        "width": 8,
        "heads": 2,
    }
    assert run.ancestors == ("base", "deep", "run_2")


def test_a_value_keeps_its_line_and_its_source(runs_of):
    run = runs_of()["run_1"]
    assert run.where(("model", "width")) == "runs.yaml:5: families.base.model.width"
    assert run.source(("model", "width")) == "§3"
    assert run.source(("model", "heads")) == "Table 1"
    assert run.where(("model", "encoder_layers")).startswith("runs.yaml:6: ")


def test_short_forms_are_written_out(runs_of):
    run = runs_of()["started"]
    assert run.get(("start",)) == {"run": "run_1"}
    assert run.get(("method",)) == {"name": "dlcl"}
    assert run.get(("layers",)) is None


@pytest.mark.parametrize("layers", ["6", "6/x", "6/6/6", "6.0/6"])
def test_layers_of_another_form_are_refused(runs_of, layers):
    with refused("layers", layers, where="runs.yaml:3: families.base.layers", remedy="12/24"):
        runs_of(TEXT.replace("layers: 6/6", f"layers: {layers}"))


def test_a_wrong_key_of_a_family_that_no_run_uses_is_found(tmp_path):
    text = TEXT.replace("  deep:", "  unused: {model: {widht: 8}}\n  deep:")
    (tmp_path / "runs.yaml").write_text(text)
    families = read_families(read(tmp_path / "runs.yaml", tmp_path))
    (finding,) = family_findings(families.values())
    place = "runs.yaml:6: families.unused.model.widht"
    says("unknown key", "widht", where=place, nearest="width").check(finding)


def test_another_section_is_refused(runs_of):
    with refused("unknown key", "defaults", error=Findings):
        runs_of(TEXT + "defaults: {}\n")


def test_families_are_read_without_runs(tmp_path):
    (tmp_path / "runs.yaml").write_text(TEXT)
    assert list(read_families(read(tmp_path / "runs.yaml", tmp_path))) == ["base", "deep"]
