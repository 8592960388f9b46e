"""Which deviations apply to a run."""

from types import SimpleNamespace

from fathom.artefacts.page.deviations import PARTS, applying, fragment
from fathom.config.deviations import Deviation


def entry(name, *applies):
    """Return an entry that applies to some names."""
    return Deviation(name, name, "Silent.", "", "One.", "Chosen.", applies, ())


ENTRIES = (entry("general", "paper"), entry("gates", "gated"), entry("one_table", "table1"))
PAPER = SimpleNamespace(deviations=ENTRIES)


def test_entries_of_the_paper_apply_to_everything():
    assert applying(PAPER, ()) == ENTRIES[:1]


def test_entries_of_a_method_family_or_table_apply_to_what_has_its_name():
    assert applying(PAPER, {"gated"}) == ENTRIES[:2]
    assert applying(PAPER, {"table1", "static"}) == (ENTRIES[0], ENTRIES[2])


def test_each_part_of_an_entry_is_an_attribute():
    assert all(hasattr(ENTRIES[0], part) for part in PARTS)
    assert fragment(ENTRIES[0]) == "deviation-general"
