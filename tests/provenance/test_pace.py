"""How fast a training goes, from its series."""

import pytest

from fathom.results.pace import ROWS, last_update, pace


def write(folder, *rows):
    """Write update, tokens, seconds and NLL of each row."""
    lines = [f"{update}\t{tokens}\t{nll}" for update, tokens, _, nll in rows]
    (folder / "metrics.tsv").write_text("\n".join(["update\ttokens\tnll", *lines, ""]))
    lines = [f"{update}\t{seconds}" for update, _, seconds, _ in rows]
    (folder / "times.tsv").write_text("\n".join(["update\tseconds", *lines, ""]))


def test_before_the_first_row_nothing_is_known(tmp_path):
    assert pace(tmp_path) is None
    assert last_update(tmp_path / "metrics.tsv") is None
    write(tmp_path)
    assert pace(tmp_path) is None


def test_the_first_row_is_compared_with_the_beginning(tmp_path):
    write(tmp_path, (50, 5000, 25, 6.5))
    known = pace(tmp_path)
    assert (known.update, known.nll) == (50, 6.5)
    assert known.tokens_per_second == pytest.approx(200)
    assert known.seconds_per_update == pytest.approx(0.5)


def test_the_pace_is_that_of_the_last_rows(tmp_path):
    slow = [(number, 10 * number, 100 * number, 6) for number in range(1, 21)]
    fast = [(20 + number, 200 + 10 * number, 2000 + number, 5) for number in range(1, ROWS + 1)]
    write(tmp_path, *slow, *fast)
    assert pace(tmp_path).seconds_per_update == pytest.approx(1)
    assert pace(tmp_path).tokens_per_second == pytest.approx(10)


def test_a_row_whose_time_is_not_written_yet_says_where_the_training_is(tmp_path):
    write(tmp_path, (50, 5000, 25, 6.5), (100, 10_000, 50, ""))
    text = (tmp_path / "times.tsv").read_text()
    (tmp_path / "times.tsv").write_text(text[:-1])
    known = pace(tmp_path)
    assert (known.update, known.nll) == (100, None)
    assert known.seconds_per_update == pytest.approx(0.5)


def test_a_damaged_series_says_nothing(tmp_path):
    write(tmp_path, (50, "x", 25, 6.5))
    assert pace(tmp_path) is None
