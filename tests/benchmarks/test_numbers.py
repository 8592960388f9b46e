"""Numbers of benchmarks: rounds, goals, curves, stages, the estimate, and how they are shown."""

import json
from base64 import b64encode
from pathlib import Path

import pytest

from benchmarks import page
from benchmarks.estimate import BUSY, CORES, JOB, JOBS, Cost, asked
from benchmarks.estimate import table as estimate_of
from benchmarks.growth.curves import Curve, Panel, write
from benchmarks.peer.contenders import OURS
from benchmarks.peer.goals import GOALS, Goal
from benchmarks.peer.goals import table as goals_of
from benchmarks.peer.learning import EVERY, Learner, time_to
from benchmarks.peer.results import cell
from benchmarks.peer.start_up import OURS as START
from benchmarks.peer.timing import alternate, faster, turns
from benchmarks.stages import Job, jobs
from benchmarks.stages import table as stages_of
from fathom.artefacts.needs import Needs


def test_the_order_of_the_contenders_is_reversed_in_every_second_round():
    assert list(turns(["a", "b"], 3)) == [
        (1, "a"), (1, "b"), (2, "b"), (2, "a"), (3, "a"), (3, "b"),
    ]  # fmt: skip


def test_rounds_that_warm_up_do_not_count_and_every_contender_makes_the_same_rounds():
    made = {"a": [], "b": []}
    contenders = {
        name: lambda number, own=own: own.append(number) or number for name, own in made.items()
    }
    assert alternate(contenders, rounds=2, warm_up=1) == {"a": [2, 3], "b": [2, 3]}
    assert made == {"a": [1, 2, 3], "b": [1, 2, 3]}


def test_how_much_faster_is_the_median_of_the_ratios_of_equally_many_rounds():
    assert faster([2.0, 30.0, 8.0], [1.0, 10.0, 8.0]).middle == 2.0
    with pytest.raises(ValueError, match="argument"):
        faster([1.0, 2.0], [1.0])


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


def test_a_goal_is_reached_or_missed_on_its_own_side():
    least, most = Goal("a", "n", 2.0), Goal("b", "n", 2.0, at_most=True)
    assert [least.verdict(x) for x in (1.9, 2.0, 2.1)] == ["missed", "reached", "reached"]
    assert [most.verdict(x) for x in (1.9, 2.0, 2.1)] == ["reached", "reached", "missed"]


def test_the_slowest_machine_decides_and_a_goal_without_a_number_is_not_measured():
    least, most = GOALS[0], next(goal for goal in GOALS if goal.at_most)
    machines = {
        "a": {least.number: least.required, most.number: most.required},
        "b": {least.number: least.required / 2, most.number: most.required / 2},
        "c": {most.number: most.required * 2},
    }
    rows = {row[0]: row for row in goals_of(machines).rows}
    assert rows[least.text][2:5] == [least.required, least.required / 2, None]
    assert [rows[goal.text][-1] for goal in (least, most)] == ["missed", "missed"]
    assert rows[GOALS[1].text][-1] == "not measured"
    del machines["b"], machines["c"]
    assert [goals_of(machines).rows[GOALS.index(goal)][-1] for goal in (least, most)] == [
        "reached",
        "reached",
    ]
    assert len({goal.number for goal in GOALS}) == len(GOALS)


LINE = Curve("line", [(6.0, 10.0), (12.0, 22.0), (24.0, 46.0), (48.0, 118.0)])
FLAT = Curve("flat", [(1.0, 4.0), (8.0, 3.0), (25.0, 4.4)], constant=True)


def test_a_line_goes_on_as_it_begins_a_constant_stays_and_each_has_its_change():
    assert LINE.slopes == [2.0, 2.0, 3.0]
    assert LINE.slope == pytest.approx(108 / 42)
    assert LINE.change == pytest.approx(1 - 2.0 / (108 / 42))
    assert FLAT.change == pytest.approx(0.25)
    assert [LINE.expected(x) for x in (6.0, 12.0, 48.0)] == [10.0, 22.0, 94.0]
    assert [FLAT.expected(x) for x in (1.0, 25.0)] == [4.0, 4.0]


@pytest.mark.slow
def test_every_point_is_in_the_csv_next_to_what_is_expected_and_the_picture_is_drawn(tmp_path):
    write(tmp_path / "depth", [Panel("layers", "ms", [LINE]), Panel("languages", "MB", [FLAT])])
    rows = (tmp_path / "depth.csv").read_text().split("\n")
    assert rows[0] == "curve,x,value,expected"
    assert rows[4] == '"ms, line",48.0,118,94'
    assert rows[7] == '"MB, flat",25.0,4.4,4'
    assert (tmp_path / "depth.png").read_bytes().startswith(b"\x89PNG")


RUN = "results/runs/some_paper/small-00000000"


def _record(folder: Path, output: str, began: float, ended: float | None) -> None:
    name = b64encode(output.encode()).decode()
    path = folder / f"@{name[:8]}" / name[8:]
    path.parent.mkdir(parents=True, exist_ok=True)
    times = {"starttime": began, "endtime": ended, "incomplete": ended is None}
    path.write_text(json.dumps({"rule": "train_run", **times}), encoding="utf-8")


def test_a_job_that_has_ended_counts_once_however_many_files_it_has(tmp_path: Path) -> None:
    _record(tmp_path, f"{RUN}/1/training.json", 10.0, 14.0)
    _record(tmp_path, f"{RUN}/1/metrics.tsv", 10.0, 14.0)
    _record(tmp_path, f"{RUN}/2/training.json", 10.0, None)
    (job,) = jobs(tmp_path)
    assert (job.rule, job.seconds) == ("train_run", 4.0)


def test_seconds_are_summed_by_rule_and_kind_of_network() -> None:
    done = [
        Job("train_run", 0.0, 6.0, f"{RUN}/1/training.json"),
        Job("train_run", 1.0, 3.0, f"{RUN}/2/training.json"),
        Job("draw_table", 7.0, 9.0, "results/tiny/some_paper/table1.md"),
    ]
    made = stages_of(done, {"some_paper/small-00000000": "some_paper, transformer"})
    assert made.rows == [
        ["train_run", "some_paper, transformer", 2, 4.0, 8.0, 80.0],
        ["draw_table", "–", 1, 2.0, 2.0, 20.0],
        ["all", "–", 3, pytest.approx(10 / 3), 10.0, 100.0],
    ]


NUMBERS = {f"first_update.{START}": 2.0, f"translation.beam_5.{OURS}.sets_per_second": 0.5}


def test_updates_times_their_cost_and_everything_besides():
    costs = [Cost("one", 100, 0.1), Cost("one", 300, 0.2), Cost("two", 10, 1.0)]
    made = estimate_of(costs, translations=7, numbers=NUMBERS)
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


def test_a_number_has_three_significant_digits_and_nothing_is_a_dash():
    numbers = {1.847: "1.85", 61.24: "61.2", 0.834: "0.83", 107.2: "107"}
    numbers |= {16504.0: "16,504", 0.0: "0", 14: "14"}
    assert {value: cell(value) for value in numbers} == numbers
    assert (cell(None), cell("as it is")) == ("–", "as it is")


FACTS = {
    "processor": "A processor", "cores": 2, "threads": 1, "device": "cpu", "load": 0.1,
    "busy": False,
    "python": "3.11.7", "packages": {"torch": "2.13.0"}, "commit": "abc1234", "date": "2026-01-02",
}  # fmt: skip


def bench(folder, goal):
    table = {"name": "t", "title": "A title", "columns": ["", "a"], "rows": [["x", 1.5]]}
    table |= {"numbers": {goal.number: goal.required}}
    old = {"name": "goals", "title": "Old", "columns": [], "rows": [], "numbers": {}}
    content = {"facts": FACTS, "tables": [table, old]}
    (folder / "cpu.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_the_page_has_a_place_for_every_part_with_the_machine_and_its_tables(tmp_path):
    measured = tmp_path / "measured"
    assert dict(page.parts(tmp_path, measured)) == {}, "nothing was measured"
    parts = dict(page.parts(bench(tmp_path, GOALS[0]), measured))
    assert set(parts) == {"cpu", "goals"}
    assert "A processor, 2 cores" in parts["goals"]
    (tmp_path / "cpu.json").unlink()
    assert dict(page.parts(tmp_path, measured)) == {"goals": parts["goals"]}, "it is kept"
    for text in ("A processor", "abc1234", "A title", "| --- | --: |\n| x | 1.50 |\n"):
        assert text in parts["cpu"]
    assert "Old" not in parts["cpu"]
    text = page.PAGE.read_text(encoding="utf-8")
    for part in (*page.FILES, "goals"):
        assert text.count(f"<!-- begin: {part} -->\n") == 1
        assert text.count(f"<!-- end: {part} -->") == 1
