"""Manifests as cells need them."""

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from fathom.errors import FathomError
from fathom.runs.paths import Paths
from fathom.tables.manifests import Manifest, read, require, rows_of

SCHEMA = Path(__file__).parents[2] / "workflow" / "schemas" / "manifest.schema.yaml"


def test_the_manifests_of_these_tests_are_manifests(typical):
    validator = Draft202012Validator(yaml.safe_load(SCHEMA.read_text(encoding="utf-8")))
    for row in typical:
        for manifest in read(row, "paper"):
            assert list(validator.iter_errors(manifest.value)) == []


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("finished", ""),
        ("diverged", "diverged at update 122"),
        ("failed_to_train", "failed to train"),
    ],
)
def test_an_outcome_is_told_in_words(made, kind, words):
    assert Manifest(1, made.manifest(outcome=made.ended(kind))).outcome == words


def test_a_score_has_half_its_interval(made):
    manifest = Manifest(1, made.manifest({"plain": {"bos": made.score(20.0, half=1.5)}}))
    score = manifest.score("plain", "bos", "13a")
    assert (score.value, score.half_width, score.stderr) == (20.0, 1.5, 0.75)
    assert (score.sentences, score.signature) == (500, made.signature)


def test_a_score_without_an_interval_has_none(made):
    entry = made.score(20.0)
    entry["metrics"]["intl"] = {"value": 19.0, "signature": "other"}
    score = Manifest(1, made.manifest({"plain": {"bos": entry}})).score("plain", "bos", "intl")
    assert (score.value, score.half_width, score.stderr) == (19.0, None, None)


def test_what_is_not_scored_is_none(made):
    manifest = Manifest(1, made.manifest({"plain": {"bos": made.score(20.0)}}))
    assert manifest.score("hard", "bos", "13a") is None
    assert manifest.score("plain", "fra", "13a") is None
    assert manifest.score("plain", "bos", "intl") is None


def test_a_number_is_found_by_its_path_and_nothing_else_is(made):
    manifest = Manifest(1, made.manifest())
    assert manifest.number(("parameters", "total")) == 66_300_000
    assert manifest.number(("parameters", "nothing")) is None
    assert manifest.number(("depth", "decoder", "sum_p")) is None
    assert manifest.number(("run",)) is None


def test_tasks_without_a_layer_count_as_tasks(made):
    scores = {"hard": {"fra": made.score(20.0)}}
    manifest = Manifest(1, made.manifest(scores, no_layer={"hard": ["bos"]}))
    assert manifest.tasks == ("bos", "fra")
    assert manifest.without_layer("hard", "bos")
    assert not manifest.without_layer("soft", "bos")


def test_only_existing_manifests_are_read_in_the_order_of_seeds(rows, table, made):
    row = rows(table.rows, small=[None, made.manifest(), made.manifest()])[0]
    assert [manifest.seed for manifest in read(row, "paper")] == [2, 3]
    assert row.missing == (1,)


def test_a_manifest_of_another_scale_is_refused(rows, table, made):
    row = rows(table.rows, small=[made.manifest(scale="tiny")])[0]
    with pytest.raises(FathomError, match="a manifest of scale tiny among those of paper"):
        read(row, "paper")


def test_a_manifest_of_another_run_is_refused(rows, table, made):
    """A manifest that was copied into another run's folder was taken for that run's."""
    row = rows(table.rows, small=[made.manifest(identity="1" * 64)])[0]
    with pytest.raises(FathomError, match="the manifest of small-11111111 seed 1, not of small-0"):
        read(row, "paper")


def test_a_manifest_of_another_schema_is_refused(rows, table, made):
    row = rows(table.rows, small=[made.manifest(schema=0)])[0]
    with pytest.raises(FathomError, match="schema 0, but 1 is read here"):
        read(row, "paper")


def test_missing_manifests_are_refused_with_both_commands(rows, table, made):
    some = rows(table.rows, small=[made.manifest()])
    with pytest.raises(FathomError) as caught:
        require(some, "a_paper_main", "table", "tiny")
    told = str(caught.value)
    assert "no manifest of deep-00000000 seed 1, gated-00000000 seed 1" in told
    assert "`snakemake a_paper_main --config scale=tiny`" in told
    assert "`fathom table a_paper_main --scale tiny --partial`" in told


def test_nothing_missing_is_not_refused(typical):
    require(typical, "a_paper_main", "table", "paper")


def test_rows_stand_in_the_papers_order_with_a_manifest_a_seed(tmp_path):
    from fathom.project.load import load

    catalog = load(Path(__file__).parents[2], check=False)
    artefact = catalog.papers["latent_depth"].artefacts["table5"]
    found = rows_of(artefact, catalog, Paths(tmp_path, "tiny"))
    assert [row.name for row in found] == list(artefact.rows)
    for row in found:
        assert list(row.manifests) == [1]
        assert row.manifests[1] == tmp_path / "tiny" / "runs" / row.run / "1" / "manifest.json"
