"""Verdicts on printed parameter counts, and the counts that are remembered.

The counts themselves are in tests/contracts.
"""

import json

import pytest

from fathom.artefacts import parameters
from fathom.artefacts.parameters import NetworkSizes, PrintedCount
from fathom.config.reported import Reported
from tests.support.specs import small_spec


def printed(value, right="", reason=""):
    cell = Reported("row", "params", value, "", "", right, "", "here:1")
    return PrintedCount("paper", "table1", cell, small_spec(), None, 10, 10, reason)


@pytest.mark.parametrize(
    ("count", "ours", "verdict"),
    [
        (printed("100"), 100_900_000, "agrees"),
        (printed("100"), 101_100_000, "differs"),
        (printed("13"), 12_743_000, "agrees"),
        (printed("0"), 1_200, "agrees"),
        (printed("224", right="287"), 287_300_000, "misprint"),
        (printed("224", right="290"), 287_300_000, "misprint"),
        (printed("224", right="300"), 287_300_000, "differs"),
        (printed("120", reason="known"), 112_000_000, "unexplained"),
    ],
)
def test_a_count_agrees_within_one_percent_or_to_the_printed_digits(count, ours, verdict):
    assert count.verdict(ours) == verdict


def test_the_difference_is_a_share_of_the_printed_number():
    assert printed("100").difference(110_000_000) == pytest.approx(0.1)
    assert printed("0").difference(5) is None
    assert printed("100", reason="x").difference(100_000_000) == 0


@pytest.fixture
def counted():
    """The sizes of dictionaries of all networks that were built."""
    return []


@pytest.fixture
def sizes(tmp_path, counted):
    def opened():
        def count(spec, source, target):
            counted.append((source, target))
            return {"total": source + target}

        return NetworkSizes(tmp_path / "network_sizes.json", count)

    return opened


def remembered(sizes):
    first = sizes()
    first.total(small_spec(), 30, 20)
    first.save()


def test_a_network_is_counted_once_in_a_process_and_once_for_all_later_ones(sizes, counted):
    first = sizes()
    assert [first.total(small_spec(), 30, 20) for _ in range(2)] == [50, 50]
    first.save()
    assert sizes().total(small_spec(), 30, 20) == 50
    assert counted == [(30, 20)]


def test_other_settings_and_other_dictionaries_are_other_networks(sizes, counted):
    remembered(sizes)
    again = sizes()
    again.total(small_spec(), 30, 21)
    again.total(small_spec({"model": {"encoder_layers": 3}}), 30, 20)
    assert counted == [(30, 20), (30, 21), (30, 20)]


def damaged(path, monkeypatch):
    path.write_text(path.read_text().replace("50", "51"))
    assert json.loads(path.read_text())["totals"]


def of_other_code(path, monkeypatch):
    monkeypatch.setattr(parameters, "hashed", lambda folder: "other")


def not_to_be_written(path, monkeypatch):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("change", [damaged, of_other_code, not_to_be_written])
def test_a_file_that_cannot_be_used_counts_again(sizes, counted, tmp_path, monkeypatch, change):
    remembered(sizes)
    change(tmp_path / "network_sizes.json", monkeypatch)
    again = sizes()
    assert again.total(small_spec(), 30, 20) == 50
    again.save()
    assert len(counted) == 2
