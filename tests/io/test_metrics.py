"""The series of one training survives a kill."""

import math

import pytest

from fathom.io.metrics import Metrics, read
from tests.support.refused import refused

COLUMNS = ("update", "loss", "valid_nll")


@pytest.fixture
def metrics(tmp_path):
    series = Metrics(tmp_path / "run" / "metrics.tsv", COLUMNS)
    series.cut(0)
    return series


def updates(metrics):
    return [row["update"] for row in read(metrics.path)]


def add(metrics, content):
    with open(metrics.path, "ab") as stream:
        stream.write(content)


def test_a_new_series_has_its_columns_and_rows_come_back_with_none_for_what_is_not_given(metrics):
    assert metrics.path.read_bytes() == b"update\tloss\tvalid_nll\n"
    assert read(metrics.path) == []
    metrics.append({"update": 1, "loss": 5.25, "unknown": 3.0})
    for number, value in enumerate((math.nan, math.inf, -math.inf, None), 123_456_789):
        metrics.append({"update": number, "loss": value, "valid_nll": 1 / 3})
    metrics.sync()
    assert metrics.path.read_text(encoding="utf-8").split("\n")[2] == "123456789\t\t0.333333"
    assert read(metrics.path) == [
        {"update": 1.0, "loss": 5.25, "valid_nll": None},
        *(
            {"update": 123_456_789.0 + more, "loss": None, "valid_nll": 0.333333}
            for more in range(4)
        ),
    ]


def test_a_cut_drops_what_was_logged_after_the_checkpoint(metrics):
    for update in range(1, 6):
        metrics.append({"update": update, "loss": 6.0 - update})
    metrics.cut(3)
    assert updates(metrics) == [1.0, 2.0, 3.0]
    metrics.append({"update": 4, "loss": 2.0})
    assert updates(metrics) == [1.0, 2.0, 3.0, 4.0]


def test_a_series_of_older_code_gets_empty_fields_for_new_columns_and_loses_others(metrics):
    metrics.path.write_text("update\tvalid_nll\n1\t5\n2\t4.0\n")
    assert metrics.cut(2) == 0
    assert metrics.path.read_text() == "update\tloss\tvalid_nll\n1\t\t5\n2\t\t4.0\n"
    metrics.append({"update": 3, "loss": 2.0})
    assert [row["loss"] for row in read(metrics.path)] == [None, None, 2.0]
    metrics.path.write_text("update\tloss\tshare\tvalid_nll\n1\t5\t0.25\t6\n2\t4.0\t\t\n")
    assert metrics.cut(2) == 0
    assert metrics.path.read_text() == "update\tloss\tvalid_nll\n1\t5\t6\n2\t4.0\t\n"


@pytest.mark.parametrize("half", [b"2", b"2\t4.", b"2\t4.0\t4.5"])
def test_a_row_that_a_kill_left_half_written_is_not_read_and_dropped_by_a_cut(metrics, half):
    metrics.append({"update": 1, "loss": 5.0})
    before = metrics.path.read_bytes()
    add(metrics, half)
    assert updates(metrics) == [1.0]
    assert metrics.cut(9) == 1
    assert metrics.path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        b"\0" * 40 + b"\n",
        b"2\t\xff\xfe\t4.0\n",
        b"two\t4.0\t4.5\n",
        b"2\tfour\t4.5\n",
        b"\n",
        b"1\t5.0\t\n",
        b"0\t5.0\t\n",
        b"nan\t5.0\t\n",
        b"2\tinf\t\n",
        b"2\t4.0\n",
        b"2\t4.0\t4.5\t1\n",
    ],
)
def test_a_damaged_row_is_dropped_and_counted_and_the_others_stay(metrics, damage):
    """After a power cut a run could not be resumed."""
    metrics.append({"update": 1, "loss": 5.0})
    before = metrics.path.read_bytes()
    add(metrics, damage)
    metrics.append({"update": 3, "loss": 3.0})
    assert metrics.cut(9) == 1
    assert metrics.path.read_bytes() == before + b"3\t3\t\n"
    assert metrics.cut(9) == 0


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (b"\0\t\0\t\0\n", "not a row of numbers"),
        (b"2\tfour\t\n", "not a row of numbers"),
        (b"\xff\t\t\n", "not a row of numbers"),
        (b"2\t4.0\n", "2 fields, not 3"),
    ],
)
def test_a_row_that_is_not_a_row_of_numbers_is_named_with_its_line(metrics, damage, what):
    add(metrics, damage)
    with refused(what, where=f"{metrics.path}:2", remedy="cannot be made again without training"):
        read(metrics.path)


def test_an_empty_file_is_a_new_series_and_a_missing_one_is_named(metrics):
    metrics.path.write_bytes(b"")
    assert read(metrics.path) == []
    metrics.cut(9)
    metrics.append({"update": 1, "loss": 5.0})
    assert updates(metrics) == [1.0]
    metrics.path.unlink()
    with pytest.raises(OSError, match=r"metrics\.tsv"):
        metrics.sync()
