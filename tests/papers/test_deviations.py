"""Deviations explain every silent value, and apply to what exists."""

import pytest

from fathom.papers import deviations
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
        assert not list(deviations.silent_findings(paper.deviations, paper.files["runs"]))


def test_without_entries_every_line_that_says_silent_is_found(papers):
    runs = papers["latent_depth"].files["runs"]
    found = list(deviations.silent_findings((), runs))
    assert len(found) > 25
    key = "training.clip"
    says("silent", where=f"families.ted.{key}", remedy=prose("name in settings", key)).check(found)


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
