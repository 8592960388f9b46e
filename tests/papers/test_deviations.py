"""Deviations explain every silent value, and apply to what exists."""

import pytest

from fathom.papers import deviations
from fathom.runs.families import read_runs
from fathom.runs.settings import Outcome
from tests.support.refused import prose, says


def test_an_entry_keeps_its_parts(papers):
    entry = next(
        item for item in papers["latent_depth"].deviations if item.name == "layer_drop_rate"
    )
    assert entry.applies == ("layerdrop",)
    assert entry.released == ""
    assert entry.ours.startswith("0.5")


def test_every_silent_value_of_all_papers_is_explained(papers):
    for paper in papers.values():
        runs, artefacts = paper.files["runs"], {*paper.tables, *paper.figures}
        shown = {name: artefacts for name in read_runs(runs)}
        assert not list(deviations.silent_findings(paper.deviations, runs, shown))


def test_without_entries_every_line_that_says_silent_is_found(papers):
    runs = papers["latent_depth"].files["runs"]
    found = list(deviations.silent_findings((), runs, {}))
    assert len(found) > 25
    key = "training.clip"
    says("silent", where=f"families.ted.{key}", remedy=prose("name in settings", key)).check(found)


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
    ),
    "transparent_attention": ("recurrent_dropout", "adam", "failed", "tokens_of_an_update"),
    "lamgd": ("noise", "smoothing_and_adam", "tokens_of_an_update"),
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
