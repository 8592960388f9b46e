"""The goals for a CPU, and what a benchmark reached of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.peer.contenders import HALVES, ONE_PASS, OURS, REFERENCE
from benchmarks.peer.hugging_face import MARIAN
from benchmarks.peer.results import Cell, Table
from benchmarks.peer.start_up import OURS as OUR_START
from benchmarks.peer.translation import CTRANSLATE2


@dataclass(frozen=True)
class Goal:
    """One goal.

    Attributes:
        text: what is measured.
        number: its name among the numbers of a benchmark.
        required: the number that is asked for.
        prototype: what a prototype reached.
        at_most: whether the number must not be larger; else it must not be smaller.
    """

    text: str
    number: str
    required: float
    prototype: float | None = None
    at_most: bool = False

    def verdict(self, reached: float) -> str:
        """Return whether a number reaches the goal."""
        enough = reached <= self.required if self.at_most else reached >= self.required
        return "reached" if enough else "missed"


def _speed(depth: str, peer: str, required: float, prototype: float | None = None) -> Goal:
    number = f"static_{depth.replace('/', '_')}.faster_than.{peer}"
    return Goal(f"training {depth}: times {peer}", number, required, prototype)


def _latent(depth: str, prototype: float | None = None) -> Goal:
    number = f"latent_{depth.replace('/', '_')}.faster_than.{REFERENCE}"
    return Goal(f"training, latent {depth}: times {REFERENCE}", number, 1.5, prototype)


def _learning(peer: str, prototype: float | None = None) -> Goal:
    text = f"CPU s to the NLL of {peer} after 45 CPU s"
    return Goal(text, f"learning.{peer}", 27, prototype, at_most=True)


def _translation(beam: int, name: str, required: float, prototype: float | None = None) -> Goal:
    text = f"translation, beam {beam}: {name}, times fairseq"
    return Goal(text, f"translation.beam_{beam}.{name}", required, prototype)


def _depth(stack: str) -> Goal:
    text = f"cost of an {stack} layer, 6 to 100 layers: largest change".replace("an d", "a d")
    number = f"growth.{stack}_depth.ms an update.{OURS}.change"
    return Goal(text, number, 0.15, at_most=True)


GOALS = (
    _speed("3/3", ONE_PASS, 1.7, 1.85),
    _speed("12/12", ONE_PASS, 1.6, 1.72),
    _speed("3/3", HALVES, 1.4),
    _speed("12/12", HALVES, 1.4),
    _speed("3/3", MARIAN, 1.3),
    _speed("12/12", MARIAN, 1.3),
    _latent("6/6", 1.64),
    _latent("12/12"),
    _learning(ONE_PASS, 24.5),
    _learning(HALVES),
    _translation(5, OURS, 3.0, 2.06),
    _translation(5, CTRANSLATE2, 4.0, 4.65),
    _translation(1, OURS, 1.3),
    Goal("first update, user s", f"first_update.{OUR_START}", 2.6, at_most=True),
    *(_depth(stack) for stack in ("encoder", "decoder")),
    Goal(
        "start of a command in a project of 1,000 runs, user s",
        "growth.runs.user s.fathom score.largest",
        0.35,
        at_most=True,
    ),
)


def table(machines: Mapping[str, Mapping[str, float]]) -> Table:
    """Return each goal with what each machine reached; the slowest machine decides.

    Args:
        machines: by the head of a machine's column, its numbers by name.
    """
    rows: list[list[Cell]] = []
    for goal in GOALS:
        reached = [numbers.get(goal.number) for numbers in machines.values()]
        measured = [number for number in reached if number is not None]
        worst = (max if goal.at_most else min)(measured, default=None)
        verdict = "not measured" if worst is None else goal.verdict(worst)
        bound = f"{'at most' if goal.at_most else 'at least'} {goal.required}"
        rows.append([goal.text, bound, *reached, goal.prototype, verdict])
    columns = ("goal", "required", *machines, "prototype", "")
    title = "Goals, on a CPU with one thread and tiny shapes; the slowest machine decides"
    return Table("goals", title, columns, rows)
