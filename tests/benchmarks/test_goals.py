"""Goals are judged from the numbers of a benchmark, and what was not measured is not judged."""

from benchmarks.peer.goals import GOALS, Goal, table


def test_a_goal_is_reached_or_missed_on_its_own_side():
    least, most = Goal("a", "n", 2.0), Goal("b", "n", 2.0, at_most=True)
    assert [least.verdict(x) for x in (1.9, 2.0, 2.1)] == ["missed", "reached", "reached"]
    assert [most.verdict(x) for x in (1.9, 2.0, 2.1)] == ["reached", "reached", "missed"]


def test_a_goal_without_a_number_is_not_measured():
    goal = GOALS[0]
    rows = {row[0]: row for row in table({goal.number: goal.required}).rows}
    assert rows[goal.text][2:] == [goal.required, goal.prototype, "reached"]
    assert {row[-1] for row in rows.values()} == {"reached", "not measured"}


def test_no_two_goals_are_of_the_same_number():
    assert len({goal.number for goal in GOALS}) == len(GOALS)
