import threading

import pytest

from fathom.train.update_batches import Prefetcher


def test_batches_come_in_the_order_in_which_they_are_taken_each_made_once():
    made = []

    def make(number):
        made.append(number)
        return number**2

    with Prefetcher(make, last=9) as ahead:
        assert [ahead.take(number) for number in range(4, 10)] == [n**2 for n in range(4, 10)]
    assert made == list(range(4, 10))


def test_the_next_batches_are_made_while_one_is_used():
    made = {number: threading.Event() for number in range(1, 6)}

    def make(number):
        made[number].set()

    with Prefetcher(make, last=5, depth=2) as ahead:
        ahead.take(1)
        assert made[2].wait(10)
        assert made[3].wait(10)
        assert not made[4].is_set()


def test_an_error_is_raised_where_its_batch_is_taken():
    def make(number):
        return 1 / (3 - number)

    with Prefetcher(make, last=5) as ahead:
        assert ahead.take(1) == 0.5
        assert ahead.take(2) == 1.0
        with pytest.raises(ZeroDivisionError):
            ahead.take(3)


def taken_and_interrupted(make):
    with Prefetcher(make, last=100) as ahead:
        ahead.take(1)
        raise KeyboardInterrupt


def test_no_thread_is_left_and_nothing_is_made_after_the_end():
    made, before = [], threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        taken_and_interrupted(made.append)
    assert threading.active_count() == before
    assert set(made) <= {1, 2, 3}
