"""The model card of a training."""

import re
from pathlib import Path

import yaml

from fathom.artefacts.model_card import model_card
from fathom.config.measurement_keys import rule_of
from fathom.config.paths import Paths
from fathom.results.measurements import Measurements
from fathom.results.training_record import TrainingRecord
from fathom.results.tree import RunResults
from tests.support.own_project import own_project
from tests.support.run_files import training

SCORES = {
    "bleu.test.soft.13a": {
        "unit": "BLEU",
        "tasks": {"bos": {"value": 3.1, "low": 2.6, "high": 3.7}, "fra": {"value": 4.0}},
        "how": "nrefs:1|case:mixed",
    },
    "last_validation": {"unit": "nats", "all": {"value": 4.25}},
    "unigram_nll": {"unit": "nats", "all": {"value": 6.5}},
    "parameters": {"all": {"value": 722288}},
}


def card(run="latent_depth/m2o_diverse_ll_d_12_24", scale="tiny", measurements=SCORES):
    """Return the card of a run with some measurements."""
    files = {}
    for rule in ("training", "scores"):
        own = {key: record for key, record in measurements.items() if rule_of(key) == rule}
        files[rule] = Measurements(rule=rule, recipe={}, identity="b" * 64, measurements=own)
    record = TrainingRecord.model_validate(training())
    found = RunResults(Path("1"), run, 1, record, files)
    project, paths = own_project(), Paths(Path("results"), scale)
    return model_card(project, project.spec(run, scale), paths, found, "transformers")


def test_the_head_is_yaml_with_the_languages():
    _, head, _ = card().split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["pipeline_tag"] == "translation"
    assert about["library_name"] == "transformers"
    assert about["language"][:3] == ["bos", "eng", "mar"]


def test_scores_are_those_that_were_measured_with_intervals():
    text = card()
    assert "| bos | 3.10 (2.60 to 3.70) |" in text
    assert "| fra | 4.00 |" in text
    assert "nrefs:1|case:mixed" in text
    assert "4.250 nats per token; the unigram baseline has 6.500" in text


def test_settings_that_a_scale_changes_are_listed_with_the_papers():
    assert re.search(r"\| `model.width` \| 64 \| 512 \|", card())
    assert "no evidence about the paper" in card()
    at_paper = card(scale="paper")
    assert "no evidence about the paper" not in at_paper
    assert "model.width" not in at_paper


def test_a_run_without_scores_and_decoding_has_neither():
    text = card("latent_depth/masked_lm_24", measurements={})
    assert "None: nothing was scored." in text
    assert "fathom translate" not in text
    assert "Validation NLL" not in text
