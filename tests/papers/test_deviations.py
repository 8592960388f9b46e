"""Deviations explain every silent value, and apply to what exists."""

import pytest

from fathom.papers import deviations


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
    found = [str(finding) for finding in deviations.silent_findings((), runs)]
    assert len(found) > 25
    assert any(
        "families.ted.training.clip: the paper is silent, and deviations.yaml says nothing; "
        "name one of its values in the `settings` of an entry, as training.clip" in line
        for line in found
    )


FILE = "latent_depth/deviations.yaml"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("applies: [layerdrop]", "applies: [layerdorp]", "layer_drop_rate.applies.0: no family, m"),
        ("applies: [layerdrop]", "applies: [m2o_diverse_6_6]", "'m2o_diverse_6_6' is a run; name"),
        ("applies: [layerdrop]", "applies: []", "layer_drop_rate.applies: [] is too short"),
        ("  title: Rate of", "  titel: Rate of", "layer_drop_rate.titel: unknown key 'titel'; n"),
        (
            "  settings: [training.precision]\n",
            "",
            "families.transformer.training.precision: the paper is silent, and deviations.yaml",
        ),
    ],
)
def test_a_fault_is_found_with_its_line(faults, old, new, message):
    found = "\n".join(faults(FILE, old, new))
    assert message in found


def test_a_paper_as_a_whole_may_be_named(faults):
    assert not faults(FILE, "applies: [layerdrop]", "applies: [paper]")
