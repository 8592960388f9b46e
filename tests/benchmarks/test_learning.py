"""When a course reaches an NLL, and how a contender's course is recorded."""

import pytest

from benchmarks.peer.learning import EVERY, Learner, time_to

COURSE = [(1.0, 5.0), (2.0, 4.0), (3.0, 4.5), (5.0, 3.5)]


@pytest.mark.parametrize(
    ("nll", "seconds"), [(4.5, 1.5), (4.0, 2.0), (3.75, 4.5), (3.4, None), (5.5, None)]
)
def test_the_time_to_an_nll_is_the_first_on_lines_between_validations(nll, seconds):
    assert time_to(COURSE, nll) == (None if seconds is None else pytest.approx(seconds))


def test_neither_batches_nor_validation_count_as_time_of_a_contender():
    times = iter(range(10**6))
    made = []

    def ready(number, batches):
        next(times)
        return lambda: made.append((number, batches))

    learner = Learner("name", ready, lambda: float(next(times)))
    for number in range(1, EVERY + 1):
        learner.make(number, "batches", lambda: next(times))
    assert made[-1] == (EVERY, "batches")
    assert learner.seconds == learner.updates == EVERY
    assert [seconds for seconds, _ in learner.course] == [EVERY]
