"""NLL and perplexity: the arithmetic, and the records."""

import math

import pytest

from fathom.decode.perplexity import bits, mean, records, table
from fathom.results.measurements import Measurements
from tests.support.refused import refused

NATS, TOKENS = {"kor": 30.0, "eng": 10.0}, {"kor": 10, "eng": 10}


def test_a_guess_among_equals_has_as_many_as_its_perplexity():
    found = records({"kor": 10 * math.log(8)}, {"kor": 10}, (), "valid", "plain")
    assert found["perplexity.valid.plain"].tasks["kor"].value == pytest.approx(8.0, abs=1e-12)
    assert bits(found["nll.valid.plain"].all.value) == pytest.approx(3.0, abs=1e-12)
    assert found["nll.valid.plain"].all.n == 10
    assert found["nll.valid.plain"].unit == "nats"


@pytest.mark.parametrize("nats", [0.0, 0.3, 1.0, 2.6, 9.99])
def test_powers_of_two_and_of_e_agree(nats):
    assert 2 ** bits(nats) == pytest.approx(math.exp(nats), rel=1e-12)


def test_over_all_tasks_each_token_counts_once():
    found = records(NATS, TOKENS, (), "test", "soft")
    nll, perplexity = found["nll.test.soft"], found["perplexity.test.soft"]
    assert {task: number.value for task, number in nll.tasks.items()} == {"kor": 3.0, "eng": 1.0}
    assert (nll.all.value, nll.all.n) == (2.0, 20)
    assert perplexity.all.value == pytest.approx(math.exp(2.0))
    uneven = records(NATS, {"kor": 30, "eng": 5}, (), "test", "soft")["perplexity.test.soft"]
    # Not the mean of the tasks' means, which is 1.5, nor of their perplexities.
    assert uneven.all.value == pytest.approx(math.exp(40 / 35))


def test_a_task_without_layers_is_missing_and_so_is_the_number_over_all():
    for record in records(NATS, TOKENS, ("bos",), "test", "hard").values():
        assert list(record.tasks) == ["kor", "eng"]
        assert record.all is None
        assert record.missing == {"bos": "no layer is left with hard gates"}


@pytest.mark.parametrize("nats", [math.nan, math.inf, 1e6])
def test_a_perplexity_that_is_not_finite_is_refused(nats):
    with refused("no perplexity", where="kor"):
        mean(nats, 10, "kor")


def test_no_token_is_an_error_that_names_the_task():
    with refused("no token", where="kor"):
        records({"kor": 0.0}, {"kor": 0}, (), "test", "plain")


def test_the_table_has_a_line_for_each_task_and_one_for_all():
    found = records(NATS, TOKENS, (), "test", "plain")
    file = Measurements(
        rule="likelihood",
        recipe={"scoring": 1},
        run="paper/run",
        identity="0",
        seed=1,
        measurements=found,
    )
    assert list(table(file)) == [
        "task\ttokens\tnats\tbits\tperplexity",
        f"kor\t10\t3.0000\t{bits(3):.4f}\t{math.exp(3):.4f}",
        f"eng\t10\t1.0000\t{bits(1):.4f}\t{math.exp(1):.4f}",
        f"all\t20\t2.0000\t{bits(2):.4f}\t{math.exp(2):.4f}",
    ]
