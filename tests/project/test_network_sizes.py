"""Networks are counted once, as long as the code is the same."""

import json

import pytest

from fathom.artefacts import network_sizes
from fathom.artefacts.network_sizes import NetworkSizes
from tests.support.specs import small_spec


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


def test_other_code_counts_again(sizes, counted, monkeypatch):
    remembered(sizes)
    monkeypatch.setattr(network_sizes, "hashed", lambda folder: "other")
    sizes().total(small_spec(), 30, 20)
    assert len(counted) == 2


def test_a_damaged_file_counts_again(sizes, counted, tmp_path):
    remembered(sizes)
    path = tmp_path / "network_sizes.json"
    path.write_text(path.read_text().replace("50", "51"))
    assert json.loads(path.read_text())["totals"]
    assert sizes().total(small_spec(), 30, 20) == 50
    assert len(counted) == 2


def test_a_folder_that_cannot_be_written_is_no_reason_to_count_nothing(sizes, counted, tmp_path):
    (tmp_path / "network_sizes.json").mkdir()
    remembered(sizes)
    assert sizes().total(small_spec(), 30, 20) == 50
    assert len(counted) == 2
