"""Which sentences an update holds: a pure function of the seed and the update's number.

Every task has an endless stream of sentences (`Stream`). A block of P updates (`batch.pool`) takes
from each task's stream the next P × share target tokens. Where that stretch starts follows from the
number of the block, so no update has to be replayed to find another. Within a block each task's
sentences are sorted by length and cut into P chunks of equal target tokens. One chunk of each task,
all of the same rank, make an update, and the ranks are shuffled. So the sentences of an update have
similar lengths, every token is used once per pass, and each task has its share of tokens. With
P = 1 sentences are used in the order of the stream.

A task's tokens in an update differ from its share by at most (1 + 1 / P) times its longest sentence
and half a token, because chunks and blocks end between sentences.

If tasks are drawn (`DrawnTasks`), an update has n equal parts of one task each. Each task has its
own blocks: P parts that hold this task, or fewer, so that a block is no longer than a pass. Else
copies of a sentence, which have one length, would meet in an update.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np

from fathom.config.schema.run import BatchSettings, TasksPerUpdate, Temperature, length
from fathom.io.errors import FathomError

# The second word of every seed, so that draws are independent: orders of texts and of ranks, and
# the tasks. Others are in update_batches.py and held_out.py.
_TEXTS, _RANKS, _TASKS = 0, 1, 4

Shares = Literal["equal", "proportional"] | Temperature

# (task, sentence), or (task, block) of text without pairs.
Member = tuple[int, int]


def permutation(size: int, *where: int) -> np.ndarray:
    """Return a permutation of 0 … size − 1, (size,), a pure function of its arguments.

    It uses only the raw bits of the generator: numpy guarantees their sequence, but not that of its
    shuffling. `where` is the seed and the words that identify the draw, integers of at least 0.
    """
    bits = np.random.PCG64(np.random.SeedSequence(where)).random_raw(size)
    return np.argsort(bits, kind="stable")


class Stream:
    """One task's sentences, pass after pass, each pass in a different order.

    A sentence's place is the number of tokens before it in all passes. Which sentences are between
    two places depends on the places alone. A pass is drawn by the seed, the task and its number.
    """

    def __init__(self, lengths: np.ndarray, *where: int):
        self.lengths, self.where = lengths, where
        self.tokens = int(lengths.sum())
        self._pass = lru_cache(maxsize=1)(self._order)

    def between(self, begin: int, end: int) -> np.ndarray:
        """Return the sentences whose first token is in [begin, end), in the stream's order.

        Both are tokens before a place, counted from the start of the first pass.
        """
        stretches = []
        for number in range(begin // self.tokens, (end - 1) // self.tokens + 1):
            order, places = self._pass(number)
            before = number * self.tokens
            first, last = np.searchsorted(places, (begin - before, end - before))
            stretches.append(order[first:last])
        return np.concatenate(stretches)

    def _order(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a pass's order of sentences and the tokens before each."""
        order = permutation(len(self.lengths), *self.where, number)
        lengths = self.lengths[order]
        return order, np.cumsum(lengths) - lengths


class AllTasks:
    """Every update holds all tasks, in one part.

    `tokens`, (N,), are a task's target tokens in a part that holds it; an update has `parts`.
    """

    drawn = False  # whether a part holds one task, which is drawn

    def __init__(self, tokens: Sequence[float], parts: int = 1):
        self.tokens, self.parts = list(tokens), parts
        self._every_task = tuple(range(len(self.tokens)))

    def at(self, update: int) -> list[tuple[tuple[int, ...], int]]:
        """Return the tasks of each part of an update, and how many parts before it held them."""
        return [(self._every_task, update - 1)]

    def times(self, task: int, updates: int) -> int:
        """Return how many parts of the first `updates` updates hold a task."""
        return updates

    def update_of(self, task: int, time: int) -> int:
        """Return the update with a task's `time`-th part; both count from 1."""
        return time


class DrawnTasks(AllTasks):
    """Every part of an update holds one task, drawn with the probability of its share.

    With one part this is line 2 of lamgd's Alg. 1, whose gradients are those of
    methods/group_dropout. Draws are independent, so parts of an update may hold the same task.
    Shares are (N,), up to a common factor; `tokens` are those of an update.
    """

    drawn = True

    def __init__(self, tokens: int, shares: Sequence[float], seed: int, parts: int = 1):
        super().__init__([tokens / parts] * len(shares), parts)
        bounds = np.cumsum(shares)
        self._bounds, self._seed = bounds / bounds[-1], seed
        self._tasks = self._before = np.zeros(0, dtype=np.int64)

    def at(self, update: int) -> list[tuple[tuple[int, ...], int]]:
        """Return the task of each part of an update, and how many parts before it held it."""
        tasks = self._first(update)[-self.parts :]
        before = self._before[(update - 1) * self.parts : update * self.parts]
        return [((task,), held) for task, held in zip(tasks.tolist(), before.tolist(), strict=True)]

    def times(self, task: int, updates: int) -> int:
        """Return how many parts of the first `updates` updates hold a task."""
        return int(np.count_nonzero(self._first(updates) == task))

    def update_of(self, task: int, time: int) -> int:
        """Return the update with a task's `time`-th part; both count from 1."""
        updates = -(-time // self.parts)
        while self.times(task, updates) < time:
            updates *= 2
        return int(np.flatnonzero(self._first(updates) == task)[time - 1]) // self.parts + 1

    def _first(self, updates: int) -> np.ndarray:
        """Return the tasks of the parts of the first `updates` updates, (updates · parts,)."""
        parts = updates * self.parts
        if parts > len(self._tasks):
            # A longer draw starts with the shorter one. Twice as many, so that few draws are made.
            stream = np.random.PCG64(np.random.SeedSequence((self._seed, _TASKS)))
            uniform = (stream.random_raw(2 * parts) >> 11) * 2.0**-53
            self._tasks = np.searchsorted(self._bounds, uniform, side="right")
            self._before = np.zeros_like(self._tasks)
            for task in range(len(self.tokens)):
                held = np.flatnonzero(self._tasks == task)
                self._before[held] = np.arange(len(held))
        return self._tasks[:parts]


def tasks_of_updates(
    lines: Sequence[int],
    batch: BatchSettings,
    shares: Shares,
    seed: int,
    per_update: TasksPerUpdate,
) -> AllTasks:
    """Return which of N tasks each update of a run holds."""
    tokens = task_tokens(lines, batch, shares)
    if per_update == "all":
        return AllTasks(tokens)
    return DrawnTasks(batch.tokens, tokens, seed, per_update)


def task_tokens(lines: Sequence[int], batch: BatchSettings, shares: Shares) -> list[float]:
    """Return the target tokens of each of N tasks in an update of all, by their training pairs."""
    total = batch.tokens * (len(lines) if batch.per == "task" else 1)
    if isinstance(shares, Temperature):
        return (total * temperature_shares(lines, shares.temperature)).tolist()
    weights = lines if shares == "proportional" else [1] * len(lines)
    return [total * weight / sum(weights) for weight in weights]


def temperature_shares(lines: Sequence[int], temperature: float) -> np.ndarray:
    """Return how often each of N tasks is drawn, (N,), in all 1: q_n ∝ (lines_n / Σ lines)^α.

    XLM-R's sampling (Lample and Conneau, 2019, §3.1): α = 1 draws tasks by their size, 0 equally.
    """
    counts = np.asarray(lines, dtype=np.float64)
    weights = (counts / counts.sum()) ** temperature
    return weights / weights.sum()


class Order:
    """Where an update's texts lie in the streams of N tasks, from the lengths of each task's texts.

    Each task has its P in `pools`: the updates that share a stretch of its stream. Passes of the
    largest task are the epochs.
    """

    def __init__(
        self,
        lengths: Sequence[np.ndarray],
        tasks: AllTasks,
        seed: int,
        pools: Sequence[int],
        largest: int,
    ):
        self._lengths, self._tasks, self._pools, self._largest = lengths, tasks, pools, largest
        # Tokens of a stretch; whole numbers, so that places in a stream are exact.
        self._quotas = [
            max(1, round(pool * tokens)) for pool, tokens in zip(pools, tasks.tokens, strict=True)
        ]
        self._streams = [
            Stream(of_task, seed, _TEXTS, task) for task, of_task in enumerate(lengths)
        ]

    def length(self, member: Member) -> int:
        """Return the tokens of a text."""
        task, text = member
        return int(self._lengths[task][text])

    def passes(self, n: int) -> float:
        """Return the epochs of n updates: passes over the largest task."""
        task = self._largest
        drawn = self._tasks.times(task, n) * self._quotas[task] / self._pools[task]
        return drawn / self._streams[task].tokens

    def updates_until(self, updates: int | str) -> int:
        """Return a number of updates as it is, and "75 epochs" in updates, rounded up."""
        if isinstance(updates, int):
            return updates
        task, epochs = self._largest, length(updates)
        # In integers, so that an exact number of updates is not rounded up.
        tokens = epochs * self._streams[task].tokens
        return self._tasks.update_of(task, -(-tokens * self._pools[task] // self._quotas[task]))

    def _stretch(self, task: int, number: int) -> np.ndarray:
        """Return the texts of a task's stretch; stretches count from 0."""
        quota = self._quotas[task]
        return self._streams[task].between(number * quota, (number + 1) * quota)


class Sampler(Order):
    """The order of data of one run on pairs of sentences, from the lengths of each task's.

    An update draws `per_update` tasks by their shares; with "all" it holds every task.
    """

    def __init__(
        self,
        target_lengths: Sequence[np.ndarray],
        source_lengths: Sequence[np.ndarray],
        batch: BatchSettings,
        shares: Shares,
        seed: int,
        per_update: TasksPerUpdate = "all",
    ):
        self.seed = seed
        self._target = [np.asarray(lengths, dtype=np.int64) for lengths in target_lengths]
        self._source = [np.asarray(lengths, dtype=np.int64) for lengths in source_lengths]
        self._target_tokens = sum(int(lengths.sum()) for lengths in self._target)
        self._source_tokens = sum(int(lengths.sum()) for lengths in self._source)
        lines = [len(lengths) for lengths in self._target]
        if 0 in lines:
            what = f"task {lines.index(0)} has no training pairs"
            raise FathomError(what, "tensors", "check the counts in corpus.json")
        tasks = tasks_of_updates(lines, batch, shares, seed, per_update)
        pools = [batch.pool] * len(lines)
        if tasks.drawn:
            passes = [lengths.sum() // tasks.tokens[0] for lengths in self._target]
            pools = [max(1, min(batch.pool, int(parts))) for parts in passes]
        super().__init__(self._target, tasks, seed, pools, lines.index(max(lines)))
        # If tasks are drawn, a block of each is in use.
        self._block = lru_cache(maxsize=2 * len(lines) if tasks.drawn else 1)(self._parts)

    def update(self, n: int) -> list[Member]:
        """Return the sentences of update n as (task, sentence); updates count from 1."""
        members: list[Member] = []
        for tasks, before in self._tasks.at(n):
            block, place = divmod(before, self._pools[tasks[0]])
            members += self._block(tasks, block)[place]
        if not members:
            remedy = f"raise it; the longest sentence has {max(map(np.max, self._target))} tokens"
            raise FathomError(f"update {n} has no sentence", "training.batch.tokens", remedy)
        return members

    def _parts(self, tasks: tuple[int, ...], block: int) -> list[list[Member]]:
        """Return the parts of updates in a block of some tasks."""
        pool = self._pools[tasks[0]]
        ranks: list[list[Member]] = [[] for _ in range(pool)]
        for task in tasks:
            drawn = self._stretch(task, block)
            source, target = self._source[task][drawn], self._target[task][drawn]
            order = np.argsort(self._sort_key(source, target), kind="stable")
            chunks = equal_mass(target[order], pool)
            for rank, sentence in zip(chunks.tolist(), drawn[order].tolist(), strict=True):
                ranks[rank].append((task, sentence))
        order = permutation(pool, self.seed, _RANKS, block)
        return [ranks[rank] for rank in order.tolist()]

    def _sort_key(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return the length by which pairs are sorted, that of the longer side, (n,)."""
        # Each side in its mean length over all tasks; in integers, so equal lengths are equal.
        return np.maximum(source * self._target_tokens, target * self._source_tokens)

    def split(self, members: list[Member], parts: int) -> list[list[Member]]:
        """Cut an update, sorted by length, into micro-batches of about equal target tokens.

        If there are fewer sentences than parts, the last parts are empty.
        """
        if parts == 1:
            return [members]
        source = np.array([self._source[task][sentence] for task, sentence in members])
        target = np.array([self._target[task][sentence] for task, sentence in members])
        order = np.argsort(self._sort_key(source, target), kind="stable")
        filled = min(parts, len(members))
        group = equal_mass(target[order], filled)
        cuts = [0, *np.searchsorted(group, np.arange(1, filled)).tolist(), len(members)]
        for part in range(1, filled):
            cuts[part] = max(cuts[part], cuts[part - 1] + 1)
        for part in range(filled - 1, 0, -1):
            cuts[part] = min(cuts[part], cuts[part + 1] - 1)
        places = [order[cuts[part] : cuts[part + 1]] for part in range(filled)]
        split = [[members[place] for place in part.tolist()] for part in places]
        return split + [[] for _ in range(parts - filled)]


def equal_mass(tokens: np.ndarray, parts: int) -> np.ndarray:
    """Return the part of each sentence, (n,), if a list is cut into parts of equal tokens.

    A sentence belongs to the part in which its middle is, so a part's tokens differ from the mean
    by at most the longest sentence.
    """
    middles = 2 * np.cumsum(tokens) - tokens
    return middles * parts // (2 * int(tokens.sum()) or 1)
