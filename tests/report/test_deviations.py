"""The ledger as a page."""

from pathlib import Path

import pytest
from fathom.report.ledger import ledgers, page, write

from fathom.project.load import load

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def catalog():
    return load(ROOT, check=False)


def test_every_paper_with_a_ledger_is_read(catalog):
    found = ledgers(ROOT, catalog.papers)
    assert set(found) == set(catalog.papers)
    assert all(found.values())


def test_a_paper_without_a_ledger_is_left_out(tmp_path, catalog):
    assert ledgers(tmp_path, catalog.papers) == {}


def test_each_entry_is_told_whole(catalog):
    text = page(catalog.papers, ledgers(ROOT, catalog.papers))
    for name, entries in ledgers(ROOT, catalog.papers).items():
        of_paper = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        for entry in entries:
            part = of_paper.split(f"### {entry.name}: {entry.title}\n\n")[1].split("\n\n")[0]
            assert f"- **Paper:** {entry.paper}" in part
            assert f"- **Here:** {entry.ours}" in part
            assert f"- **Because:** {entry.why}" in part
            assert ("**Released code:**" in part) == bool(entry.released)
            assert all(f"`{each}`" in part for each in entry.applies)


def test_writing_twice_gives_the_same_bytes(tmp_path, catalog):
    entries = ledgers(ROOT, catalog.papers)
    for name in ("one", "two"):
        write(catalog.papers, entries, tmp_path / f"{name}.md")
    assert (tmp_path / "one.md").read_bytes() == (tmp_path / "two.md").read_bytes()
