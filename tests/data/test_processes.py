"""Work in several processes: the same results in the same order, and little read ahead."""

import os

import pytest

from fathom.data.processes import mapped


def double(number):
    return 2 * number


def whose(_):
    return os.getpid()


def refuse(number):
    if number == 90:
        raise ValueError("ninety")
    return number


@pytest.mark.parametrize("count", [0, 1, 64, 65, 300])
def test_results_come_in_the_order_of_the_items(count):
    expected = [2 * number for number in range(count)]
    assert list(mapped(double, range(count), processes=1)) == expected
    assert list(mapped(double, range(count), processes=2)) == expected


def test_a_single_round_stays_in_this_process_and_more_do_not():
    assert set(mapped(whose, range(10), processes=2)) == {os.getpid()}
    assert os.getpid() not in set(mapped(whose, range(100), processes=2))


def test_items_are_read_two_rounds_ahead_at_most():
    read = []

    def items():
        for number in range(100_000):
            read.append(number)
            yield number

    results = mapped(double, items(), processes=2)
    assert next(results) == 0
    assert len(read) == 128
    results.close()


def test_an_error_of_an_item_or_of_the_reader_is_raised():
    with pytest.raises(ValueError, match="ninety"):
        list(mapped(refuse, range(200), processes=2))

    def breaks_off():
        yield from range(100)
        raise EOFError

    with pytest.raises(EOFError):
        list(mapped(double, breaks_off(), processes=2))
