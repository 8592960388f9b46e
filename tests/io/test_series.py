"""The long tables of a training survive a kill, and nothing half-written is believed."""

import gzip
import math

import pytest

from fathom.io.series import append, cut, read
from tests.support.refused import refused

AXES = ("task", "layer")
PLACES = (("bos", "1"), ("bos", "2"), ("nan", "1"), ("nan", "2"))


def rows(*updates):
    """Return four rows of each update: two tasks, two layers; 6 digits are kept."""
    return [
        (update, place, update + number / 8)
        for update in updates
        for number, place in enumerate(PLACES)
    ]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "diagnostics" / "decoder_samples.tsv.gz"


def text(path):
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def test_rows_stand_below_one_header_in_one_gzip_member_each_without_the_clock(path):
    append(path, AXES, [])
    assert not path.exists()
    append(path, AXES, rows(1, 2))
    first = path.read_bytes()
    append(path, AXES, rows(7))
    second = path.read_bytes()[len(first) :]
    assert path.read_bytes().startswith(first)
    for member in (first, second):
        # RFC 1952: four bytes of time, which are 0.
        assert member[:3] == b"\x1f\x8b\x08"
        assert member[4:8] == bytes(4)
    assert (
        gzip.decompress(first)
        .decode()
        .startswith("update\ttask\tlayer\tvalue\n1\tbos\t1\t1\n1\tbos\t2\t1.125\n")
    )
    assert gzip.decompress(second).decode() == "".join(
        f"7\t{task}\t{layer}\t{value:.6g}\n" for _, (task, layer), value in rows(7)
    )
    assert read(path) == {
        "update": [1] * 4 + [2] * 4 + [7] * 4,
        "task": ["bos", "bos", "nan", "nan"] * 3,
        "layer": ["1", "2"] * 6,
        "value": [update + number / 8 for update in (1, 2, 7) for number in range(4)],
    }


def test_a_series_may_have_no_axes_and_a_value_that_is_not_finite_is_an_empty_field(path):
    values = (0.5, math.nan, math.inf, -math.inf)
    append(path, (), [(update, (), value) for update, value in enumerate(values, 1)])
    assert text(path) == "update\tvalue\n1\t0.5\n2\t\n3\t\n4\t\n"
    assert read(path) == {"update": [1, 2, 3, 4], "value": [0.5, None, None, None]}


def test_other_columns_are_refused_and_leave_the_file_alone(path):
    append(path, AXES, rows(1))
    before = path.read_bytes()
    with refused("columns 'update task layer value'"):
        append(path, ("layer",), [(2, ("1",), 0.0)])
    assert path.read_bytes() == before


def test_a_cut_series_goes_on_as_if_it_had_not_been_cut(path, tmp_path):
    complete = tmp_path / "complete.tsv.gz"
    append(complete, AXES, rows(1, 2, 3, 4, 5))
    append(path, AXES, rows(1, 2))
    before = path.read_bytes()
    append(path, AXES, rows(3))
    append(path, AXES, rows(4))
    assert cut(path, 2) is False
    assert path.read_bytes() == before
    append(path, AXES, rows(3, 4, 5))
    assert text(path) == text(complete)


@pytest.mark.parametrize(
    ("update", "left"), [(0, None), (1, [1]), (3, [1, 2, 3]), (4, [1, 2, 3]), (9, [1, 2, 3, 5, 8])]
)
def test_a_cut_inside_what_was_appended_at_once_drops_the_rows_after_it(path, update, left):
    append(path, AXES, rows(1, 2))
    append(path, AXES, rows(3, 5, 8))
    cut(path, update)
    assert path.exists() == (left is not None)
    if left:
        assert read(path)["update"] == [update for update in left for _ in range(4)]
        assert text(path).count("update") == 1


def test_however_much_of_the_last_member_is_missing_the_rest_stays(path):
    append(path, AXES, rows(1, 2))
    before = path.read_bytes()
    append(path, AXES, rows(3, 4))
    both = path.read_bytes()
    for length in range(len(before) + 1, len(both)):
        path.write_bytes(both[:length])
        with refused("damaged after 9 lines"):
            read(path)
        assert cut(path, 99) is True
        assert path.read_bytes() == before


def test_neither_a_flipped_bit_nor_an_end_that_is_no_member_is_believed(path):
    append(path, AXES, rows(1))
    before = path.read_bytes()
    append(path, AXES, rows(2))
    both = path.read_bytes()
    damaged = [before + end for end in (b"\0" * 512, b"\x1f\x8b", b"3\tbos\t1\t0.5\n")]
    for place in range(len(before) + 10, len(both)):
        damaged.append(both[:place] + bytes([both[place] ^ 1]) + both[place + 1 :])
    for content in damaged:
        path.write_bytes(content)
        assert cut(path, 99) is True
        assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["a\tb\n", "update\tvalue\n1\n", "update\tvalue\nx\t1\n"])
def test_a_whole_file_of_something_else_is_refused(path, content):
    path.parent.mkdir()
    path.write_bytes(gzip.compress(content.encode()))
    with refused("no table of a training"):
        read(path)


@pytest.mark.parametrize("content", [b"", b"\x1f", b"no gzip"])
def test_a_file_that_was_damaged_from_the_start_is_deleted(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    with refused("damaged after 0 lines"):
        read(path)
    with refused("columns ''"):
        append(path, AXES, rows(1))
    assert cut(path, 99) is bool(content)
    assert not path.exists()
    with refused("no such file"):
        read(path)


@pytest.mark.slow
def test_more_rows_than_one_chunk_come_back(path):
    # Numbers that do not pack: two members of several chunks of 65,536 bytes.
    first = [(1, (str(place),), math.sin(place)) for place in range(40_000)]
    second = [(2, (str(place),), math.cos(place)) for place in range(40_000)]
    append(path, ("layer",), first)
    assert path.stat().st_size > 3 * 65_536
    append(path, ("layer",), second)
    columns = read(path)
    assert len(columns["value"]) == 80_000
    assert columns["value"][-1] == pytest.approx(math.cos(39_999), abs=1e-5)
    cut(path, 1)
    assert read(path)["update"] == [1] * 40_000
