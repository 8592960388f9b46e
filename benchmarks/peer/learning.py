"""The CPU time in which ours reaches the validation NLL that the peer reaches in its time.

Sampler, text, learning rates and first weights are the same. The contenders take turns update by
update; validation and the making of batches count for none of them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise

import torch

from benchmarks.peer import contenders
from benchmarks.peer.contenders import OURS, Job
from benchmarks.peer.results import Cell, Table
from benchmarks.peer.stock import CUTS, cut_all
from benchmarks.peer.timing import clock
from benchmarks.peer.workload import Workload
from fathom.nn.network import Batch, Network
from fathom.train.outcomes import validate
from fathom.train.update_batches import MicroBatches

# Seconds of a peer, and updates between two validations.
LIMIT, EVERY = 45.0, 20
COLUMNS = ("", "updates", "CPU s", "validation NLL", "CPU s of fathom to that NLL")
# Makes an update, once its batches are there.
Ready = Callable[[], object]


@dataclass
class Learner:
    """One contender and its course.

    Attributes:
        name: in tables.
        ready: returns what makes the update of a number with its batches.
        validate: returns the validation NLL, nats a token.
        seconds: spent on updates.
        updates: made.
        course: (seconds, NLL) at each validation.
    """

    name: str
    ready: Callable[[int, MicroBatches], Ready]
    validate: Callable[[], float]
    seconds: float = 0.0
    updates: int = 0
    course: list[tuple[float, float]] = field(default_factory=list)

    @property
    def nll(self) -> float:
        """The last validation NLL."""
        return self.course[-1][1]

    def make(self, number: int, batches: MicroBatches, now: Callable[[], float]) -> None:
        """Make an update, and validate after some."""
        update = self.ready(number, batches)
        start = now()
        update()
        self.seconds += now() - start
        self.updates = number
        if number % EVERY == 0:
            self.note()

    def note(self) -> None:
        """Validate, and record it."""
        self.course.append((self.seconds, self.validate()))


def time_to(course: Iterable[tuple[float, float]], nll: float) -> float | None:
    """Return the seconds at which a course first reaches an NLL, on lines between its points.

    Args:
        course: (seconds, NLL) in the order of time.
        nll: in nats a token.

    Returns:
        None if it never does.
    """
    for (before, higher), (after, lower) in pairwise(course):
        if higher > nll >= lower:
            return before + (after - before) * (higher - nll) / (higher - lower)
    return None


def trained(workload: Workload, limit: float) -> tuple[Learner, list[Learner], Network]:
    """Train ours and fairseq's layers; the latter stop after their time.

    Ours stops when it has reached the NLL of each of them, or after twice their time.

    Args:
        workload: text and device.
        limit: seconds of each peer.

    Returns:
        Our course, the peers' courses, and our network as it is at the end.
    """
    spec = workload.spec(workload.static_shapes[0])
    training = workload.training(spec)
    batches, network, two_level = training.batches, training.network, training.two_level

    def ready(number: int, micro_batches: MicroBatches) -> Ready:
        return lambda: two_level.update(number, micro_batches)

    def own_nll() -> float:
        return validate(
            network, batches.validation, len(workload.tensors.tasks), training.ranks
        ).nll

    ours = Learner(OURS, ready, own_nll)
    job = Job(workload, spec, [])
    peers = [_peer(job, cut, batches.validation) for cut in ("one pass", "halves")]
    now = clock(workload.device)
    for number in count(1):
        running = [peer for peer in peers if peer.seconds < limit]
        reached = all(peer.course and time_to(ours.course, peer.nll) for peer in peers)
        if not running and (reached or ours.seconds > 2 * limit):
            break
        micro_batches = batches.micro_batches(number)
        taking_turns = [ours, *running]
        for learner in taking_turns if number % 2 else reversed(taking_turns):
            learner.make(number, micro_batches, now)
        for peer in running:
            if peer.seconds >= limit:
                peer.note()
    return ours, peers, network


def _peer(job: Job, cut: str, validation: Sequence[Batch]) -> Learner:
    """Return fairseq's layers, trained in the passes of that name."""
    peer = contenders.stock_network(job)

    def ready(number: int, micro_batches: MicroBatches) -> Ready:
        passes = cut_all(micro_batches, CUTS[cut])

        def update() -> None:
            torch.manual_seed(number)
            peer.update(number, passes, micro_batches.tokens)

        return update

    return Learner(f"fairseq, {cut}", ready, lambda: peer.validate(validation))


def table(workload: Workload, ours: Learner, peers: Sequence[Learner], limit: float) -> Table:
    """Return what the courses give."""
    rows: list[list[Cell]] = []
    numbers: dict[str, float] = {}
    for peer in peers:
        seconds = time_to(ours.course, peer.nll)
        rows.append([peer.name, peer.updates, peer.seconds, f"{peer.nll:.3f}", seconds])
        if seconds is not None:
            numbers[f"learning.{peer.name}"] = seconds
    rows.append([OURS, ours.updates, ours.seconds, f"{ours.nll:.3f}", None])
    title = (
        f"Validation NLL (nats a token) after {limit:.0f} s of updates, "
        f"{workload.static_shapes[0].name}, and the time in which fathom reaches it"
    )
    return Table("learning", title, COLUMNS, rows, numbers)
