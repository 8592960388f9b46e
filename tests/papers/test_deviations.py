"""Deviations apply to what exists, and name settings that exist."""

from dataclasses import replace

import pytest

from fathom.config import deviations
from fathom.config.schema.run import Outcome
from tests.support.refused import prose, says
from tests.support.specs import card


def test_an_entry_keeps_its_parts(papers):
    entry = next(
        item for item in papers["latent_depth"].deviations if item.name == "layer_drop_rate"
    )
    assert entry.applies == ("layerdrop",)
    assert entry.released == ""
    assert entry.ours.startswith("0.5")


# Choices that no value of runs.yaml and no setting of a card shows, by paper and entry.
CHOICES = {
    "latent_depth": (
        "gate_sample",
        "layer_drop_draw",
        "tokens_of_an_update",
        "resting_parameters",
        "hidden_pieces",
        "norm_of_masked_language_models",
        "dlcl_form",
        "rezero_form",
        "adam_and_warmup",
        "divergence",
        "one_logit",
    ),
    "transparent_attention": (
        "recurrent_dropout",
        "adam",
        "failed",
        "tokens_of_an_update",
        "tokenisation",
    ),
    "lamgd": ("noise", "smoothing_and_adam", "tokens_of_an_update", "significance"),
}


@pytest.mark.parametrize(
    ("paper", "name"), [(paper, name) for paper, names in CHOICES.items() for name in names]
)
def test_a_choice_that_is_no_value_of_a_run_has_an_entry(papers, paper, name):
    [entry] = [entry for entry in papers[paper].deviations if entry.name == name]
    assert entry.ours
    assert entry.why


@pytest.mark.parametrize(
    ("paper", "name"), [("latent_depth", "divergence"), ("transparent_attention", "failed")]
)
def test_the_entries_on_divergence_have_the_limits_of_the_settings(papers, paper, name):
    [entry] = [entry for entry in papers[paper].deviations if entry.name == name]
    limits = Outcome()
    words = f"{limits.exploded_above:g} nats a token for {limits.exploded_for} updates in a row"
    assert words in entry.ours
    assert entry.settings == ("outcome",)


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("method.hard_treshold", "hard_threshold"),
        ("training.clipp", "clip"),
        ("metric.tokenise", "tokenize"),
        ("marks.bald", "bold"),
        ("lik", "like"),
    ],
)
def test_a_path_that_no_run_and_no_paper_has_is_found(papers, path, nearest):
    paper = papers["lamgd"]
    entry = replace(paper.deviations[0], settings=("training", path))
    methods = {"latent_layers": card("latent_layers").method}
    (finding,) = deviations.setting_findings([entry], paper.files, methods)
    says("unknown", "setting", path, where=f"{entry.name}.settings.1", nearest=nearest).check(
        [finding]
    )


FILE = "latent_depth/deviations.yaml"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "applies: [layerdrop]",
            "applies: [layerdorp]",
            says(
                "unknown",
                "family, method, table or figure",
                "layerdorp",
                where="layer_drop_rate.applies.0",
                nearest="layerdrop",
            ),
        ),
        (
            "applies: [layerdrop]",
            "applies: [m2o_diverse_6_6]",
            says("run as applies", "m2o_diverse_6_6", remedy=prose("family or method")),
        ),
        (
            "applies: [layerdrop]",
            "applies: []",
            says("limit", "[]", prose("too short"), where="layer_drop_rate.applies"),
        ),
        (
            "  title: Rate of",
            "  titel: Rate of",
            says("unknown key", "titel", where="layer_drop_rate.titel", nearest="title"),
        ),
        (
            "  applies: [transformer]\n  settings: [training.precision]\n",
            "  applies: [dlcl]\n  settings: [training.precision]\n",
            says("silent", where="families.transformer.training.precision"),
        ),
        (
            "  settings: [training.precision]\n",
            "",
            says("silent", where="families.transformer.training.precision"),
        ),
        (
            "  settings: [model.tie_embeddings]\n",
            "",
            says("silent", where="families.transformer.model.tie_embeddings"),
        ),
    ],
)
def test_a_fault_is_found_with_its_line(faults, old, new, message):
    message.check(faults(FILE, old, new))


def test_a_paper_as_a_whole_may_be_named(faults):
    assert not faults(FILE, "applies: [layerdrop]", "applies: [paper]")
