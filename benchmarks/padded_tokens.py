"""How much text an update holds here and in fairseq, for the same number of tokens.

Here `training.batch.tokens` are a task's real target tokens. fairseq's multilingual task joins one
sentence of each task to a tuple, and takes tuples until the longest side of all of them, times
their number, is more than its limit. Run it on encoded text of many tasks:

    python benchmarks/padded_tokens.py results/tensors/po_wheels_diverse-4733ce81 --tokens 4096

It prints both directions of the pairs: target tokens of an update in all, and each task's share.
`--joined` takes the text of all tasks as one pair, as an example of bilingual translation.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from fathom.config.schema.run import BatchSettings
from fathom.data.tensors import load
from fathom.train.batches.sampler import Sampler

# fairseq's default for --required-batch-size-multiple.
MULTIPLE = 8
UPDATES = 200


def batches(lengths: Iterable[int], limit: int) -> Iterator[tuple[int, int]]:
    """Yield fairseq's batches of a sequence, as the first place and the place after the last.

    Args:
        lengths: of each tuple, its longest side.
        limit: the most tokens of a batch, padding included.
    """
    first = longest = 0
    lengths = list(lengths)
    for place, length in enumerate(lengths):
        if place > first and (place + 1 - first) * max(longest, length) > limit:
            count = place - first
            count = max(MULTIPLE * (count // MULTIPLE), count % MULTIPLE)
            yield first, first + count
            first += count
            longest = max(lengths[first:place], default=0)
        longest = max(longest, length)
    yield first, len(lengths)


def of_fairseq(source: list[np.ndarray], target: list[np.ndarray], limit: int) -> np.ndarray:
    """Return the real target tokens of each task in an update, their mean, (N,)."""
    shuffle = np.random.default_rng(1).permutation
    orders = []
    for sources, targets in zip(source, target, strict=True):
        order = shuffle(len(targets))
        order = order[np.argsort(targets[order], kind="stable")]
        orders.append(order[np.argsort(sources[order], kind="stable")])
    most = max(map(len, orders))
    # A smaller task starts again at its shortest sentence.
    orders = [np.resize(order, most) for order in orders]
    sides = [side[order] for of in (source, target) for side, order in zip(of, orders, strict=True)]
    tokens = np.stack([side[order] for side, order in zip(target, orders, strict=True)])
    longest = np.max(sides, axis=0).tolist()
    cuts = list(batches(longest, limit))
    return np.stack([tokens[:, first:end].sum(axis=1) for first, end in cuts]).mean(axis=0)


def of_fathom(source: list[np.ndarray], target: list[np.ndarray], limit: int) -> np.ndarray:
    """Return the same of an update of this project."""
    batch = BatchSettings(tokens=limit, per="task", pool=8)
    sampler = Sampler(target, source, batch, "equal", seed=1)
    tokens = np.zeros(len(target))
    for number in range(1, UPDATES + 1):
        for task, sentence in sampler.update(number):
            tokens[task] += target[task][sentence]
    return tokens / UPDATES


Count = Callable[[list[np.ndarray], list[np.ndarray], int], np.ndarray]


def main() -> None:
    """Print both counts of both directions."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tensors", type=Path, help="a folder of results/tensors")
    parser.add_argument("--tokens", type=int, default=4096, help="of a task in an update")
    parser.add_argument("--joined", action="store_true", help="take all tasks as one")
    options = parser.parse_args()
    tensors = load(options.tensors)
    splits = tensors.splits("train")
    sides = [[each.source_lengths for each in splits], [each.target_lengths for each in splits]]
    tasks = list(tensors.tasks)
    if options.joined:
        sides, tasks = [[np.concatenate(side)] for side in sides], ["all"]
    counts: dict[str, Count] = {"fairseq": of_fairseq, "fathom": of_fathom}
    for direction, (source, target) in (("as encoded", sides), ("reversed", sides[::-1])):
        means = {name: count(source, target, options.tokens) for name, count in counts.items()}
        ratio = means["fathom"].sum() / means["fairseq"].sum()
        lines = [f"{direction}: {ratio:.1f} times as many target tokens in an update here"]
        for name, mean in means.items():
            shares = (100 * mean / mean.sum()).round(1).tolist()
            shown = ", ".join(f"{t} {s}" for t, s in zip(tasks, shares, strict=True))
            lines.append(f"  {name}: {mean.sum():.0f} target tokens; % of each task: {shown}")
        sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
