"""Work in several processes: the same results in the same order, and little read ahead."""

import multiprocessing
import os
import signal
import time
from itertools import islice, repeat

import pytest

from fathom.data.processes import mapped
from tests.support.refused import refused


def double(number):
    return 2 * number


def whose(_):
    return os.getpid()


def refuse(number):
    if number == 90:
        raise ValueError("ninety")
    return number


def killed(number):
    if number == 200:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("count", [0, 1, 127, 128, 129, 300])
def test_results_come_in_the_order_of_the_items(count):
    expected = [2 * number for number in range(count)]
    assert list(mapped(double, range(count), processes=1)) == expected
    assert list(mapped(double, range(count), processes=2)) == expected


def test_few_items_stay_in_this_process_and_more_do_not():
    assert set(mapped(whose, range(10), processes=2)) == {os.getpid()}
    assert os.getpid() not in set(mapped(whose, range(200), processes=2))


def test_few_items_are_read_ahead():
    read = []

    def items():
        for number in range(100_000):
            read.append(number)
            yield number

    results = mapped(double, items(), processes=2)
    assert next(results) == 0
    assert len(read) < 150
    assert list(islice(results, 299)) == [2 * number for number in range(1, 300)]
    assert len(read) < 450
    results.close()


def test_an_error_of_an_item_or_of_the_reader_is_raised():
    with pytest.raises(ValueError, match="ninety"):
        list(mapped(refuse, range(300), processes=2))

    def breaks_off():
        yield from range(200)
        raise EOFError

    with pytest.raises(EOFError):
        list(mapped(double, breaks_off(), processes=2))


def test_a_process_that_is_killed_ends_all_with_what_to_do():
    """The kernel kills one where memory is full; its items were waited for without end."""
    results = mapped(killed, iter(range(1000)), processes=2)
    with refused("killed process", where="memory", remedy="taskset --cpu-list 0"):
        list(results)
    assert multiprocessing.active_children() == []


def read_without_end(pipe):
    for process in mapped(whose, repeat(0), processes=2):
        pipe.send(process)


@pytest.mark.slow
def test_processes_end_with_the_one_that_asked_where_it_is_killed():
    """They waited for work without end."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    asked = multiprocessing.Process(target=read_without_end, args=(writer,))
    asked.start()
    others = {reader.recv() for _ in range(100)}
    asked.kill()
    asked.join()
    for _ in range(1000):
        others = {process for process in others if os.path.exists(f"/proc/{process}")}
        time.sleep(0.01 if others else 0)
    assert not others
