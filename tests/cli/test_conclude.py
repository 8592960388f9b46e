"""`fathom conclude`: everything that is known of a run to its manifest."""

import pytest
import yaml
from jsonschema import Draft202012Validator

from fathom.provenance.manifest import read
from tests.cli.small_project import ROOT, RUN, TEST_SENTENCES


@pytest.fixture
def run(own, concluded):
    """The folder of a run that may be changed."""
    (folder,) = own(concluded).glob("results/small/runs/*/1")
    return folder


def test_the_manifest_of_a_real_run_fits_its_schema(run, call):
    before = (run / "manifest.json").read_bytes()
    (run / "manifest.json").unlink()
    answer = call("conclude", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert (run / "manifest.json").read_bytes() == before
    manifest = read(run / "manifest.json")
    schema = ROOT / "workflow" / "schemas" / "manifest.schema.yaml"
    Draft202012Validator(yaml.safe_load(schema.read_text(encoding="utf-8"))).validate(manifest)
    assert manifest["outcome"]["kind"] == "finished"
    assert manifest["scores"]["plain"]["kor"]["sentences"] == TEST_SENTENCES


@pytest.mark.parametrize(
    "missing", ["training.json", "decodings/plain/decoding.json", "decodings/plain/scoring.json"]
)
def test_a_stage_that_is_missing_is_named(run, call, missing):
    (run / missing).unlink()
    (run / "manifest.json").unlink()
    line = call("conclude", RUN).one_line
    assert f"{run / missing}: no such file" in line
    assert not (run / "manifest.json").exists()


def test_another_seed_is_another_run(run, call):
    assert "/2/training.json: no such file" in call("conclude", RUN, "--seed", "2").one_line
