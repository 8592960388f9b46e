"""The ledger names what exists, and passes its schema."""

import pytest

from fathom.config.yaml_files import read
from fathom.papers.deviations import findings, from_mapping


@pytest.fixture
def ledger(catalog):
    """The ledger of the project's paper: its file, entries, paper and runs."""
    name = "latent_depth"
    file = read(catalog.root / "config" / "papers" / name / "deviations.yaml", catalog.root)
    runs = catalog.run_files[name].value["runs"]
    return file, from_mapping(file.value), catalog.papers[name], runs


def test_the_ledger_of_the_project_is_right(catalog, ledger):
    file, entries, paper, runs = ledger
    assert list(catalog.schemas.findings("deviations", file)) == []
    assert list(findings(entries, paper, runs, [], file)) == []


def test_an_entry_keeps_its_parts(ledger):
    entry = next(each for each in ledger[1] if each.name == "layer_drop_rate")
    assert entry.applies == ("layerdrop_24_24",)
    assert entry.released == ""
    assert entry.ours.startswith("0.5")


def test_every_latent_run_has_entries_of_its_own(ledger):
    _, entries, _, runs = ledger
    touched = {name for entry in entries for name in entry.applies}
    assert {run for run in runs if run.startswith("ll_")} <= touched


def test_an_entry_that_applies_to_nothing_is_found(ledger):
    file, _, paper, runs = ledger
    value = file.value | {"norm": file.value["norm"] | {"applies": ["tabel5"]}}
    found = [str(each) for each in findings(from_mapping(value), paper, runs, [], file)]
    assert len(found) == 1
    assert (
        "norm.applies.0: no artefact, run or method 'tabel5'; nearest valid name: 'table5'"
        in found[0]
    )
