"""The estimate adds what runs, starts, translations and jobs cost."""

import pytest

from benchmarks.estimate import BUSY, CORES, JOB, JOBS, Cost, asked, table
from benchmarks.peer.contenders import OURS
from benchmarks.peer.start_up import OURS as START
from fathom.artefacts.needs import Needs

NUMBERS = {f"first_update.{START}": 2.0, f"translation.beam_5.{OURS}.sets_per_second": 0.5}


def test_updates_times_their_cost_and_everything_besides():
    costs = [Cost("one", 100, 0.1), Cost("one", 300, 0.2), Cost("two", 10, 1.0)]
    made = table(costs, translations=7, numbers=NUMBERS)
    rows = {row[0]: row[1:] for row in made.rows}
    assert rows["one"] == pytest.approx([2, 400, 150.0, 70.0])
    assert rows["two"] == pytest.approx([1, 10, 1000.0, 10.0])
    total = 70 + 10 + 2 * 3 * 2.0 + 7 / 0.5 + 3 * JOBS * JOB
    assert made.rows[-1][-1] == pytest.approx(total)
    assert made.numbers["estimate.minutes"] == pytest.approx(total / CORES / BUSY / 60)


def test_every_run_of_every_table_and_figure_counts_once(own_project):
    demands = Needs(own_project, "tiny")
    specs, translations = asked(demands)
    names = {run for item in demands.artefacts.values() for run in item.runs}
    assert len(specs) == len(names)
    assert translations > len(names)
