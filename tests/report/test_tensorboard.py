"""Event files for TensorBoard: every number of metrics.tsv, once."""

import sys
from struct import unpack

import pytest

from fathom.artefacts.tensorboard import write_events
from fathom.io.metrics import Metrics, read
from tests.support.refused import refused

events = pytest.importorskip("tensorboardX.proto.event_pb2")
ROWS = [
    {"update": 25, "loss": 6.5, "valid_nll": None},
    {"update": 50, "loss": 5.25, "valid_nll": 6.0},
]


def scalars(folder):
    """Return update, name and value of each scalar of the folder's event files."""

    found = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        while data:
            (length,) = unpack("<Q", data[:8])
            record, data = data[12 : 12 + length], data[16 + length :]
            event = events.Event.FromString(record)
            found += [(event.step, v.tag, v.simple_value) for v in event.summary.value]
    return found


@pytest.fixture
def rows(tmp_path):
    metrics = Metrics(tmp_path / "metrics.tsv", ("update", "loss", "valid_nll"))
    metrics.cut(0)
    for row in ROWS:
        metrics.append(row)
    return read(tmp_path / "metrics.tsv")


def test_each_number_of_a_row_is_a_scalar_at_its_update(tmp_path, rows):
    write_events(rows, tmp_path / "run" / "1")
    assert scalars(tmp_path / "run" / "1") == [
        (25, "loss", 6.5),
        (50, "loss", 5.25),
        (50, "valid_nll", 6.0),
    ]


def test_a_second_export_replaces_the_first(tmp_path, rows):
    for part in (rows, rows[:1]):
        write_events(part, tmp_path / "1")
    assert scalars(tmp_path / "1") == [(25, "loss", 6.5)]


def test_without_the_package_one_message_says_how_to_install_it(tmp_path, rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with refused("package missing", "tensorboardX"):
        write_events(rows, tmp_path / "1")
    assert not (tmp_path / "1").exists()
