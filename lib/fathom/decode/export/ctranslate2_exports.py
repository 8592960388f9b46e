"""A training in CTranslate2: one model for each selection of layers, checked for each task."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from torch import Tensor

from fathom.data.tensors import EOS
from fathom.decode.export import ctranslate2_model
from fathom.decode.export.ctranslate2_search import Search, require_equal
from fathom.decode.export.plain import Plain, plain
from fathom.decode.trained_run import TrainedRun


class Exports:
    """The models of one training with one kind of gates; each is made when it is first used."""

    def __init__(self, run: TrainedRun, gates: str, update: int | None = None):
        """Export nothing yet.

        Args:
            run: a finished training.
            gates: "plain", "soft" or "hard".
            update: use the weights saved after this update instead of the final ones.
        """
        self.run, self.gates, self.update = run, gates, update
        self._by_layers: dict[str, Search] = {}
        self._by_task: dict[str, Search] = {}

    def of(self, task: str) -> Search:
        """Return CTranslate2 with the network of a task.

        Raises:
            FathomError: the package is missing, the network is no plain Transformer for this task,
                or CTranslate2 computes something else.
        """
        if task not in self._by_task:
            run, number = self.run, self.run.task(task)
            where = f"{run.name}, {task}"
            network = run.network(self.gates, self.update)
            transformer = plain(network, run.spec.model, number, where)
            search = self._by_layers.get(str(transformer.active)) or _loaded(run, transformer)
            require_equal(search, network, number, run.tensors.split(task, "valid"), where)
            self._by_layers[str(transformer.active)] = self._by_task[task] = search
        return self._by_task[task]

    def best(self, sources: Sequence[Tensor], tasks: Sequence[int]) -> list[list[int]]:
        """Return the best hypothesis of each source, in the order of the sources.

        Tasks with the same layers are translated together.

        Args:
            sources: (S,) each, with its end symbol.
            tasks: the index of each source's task.

        Raises:
            FathomError: as for `of`.
        """
        numbers: dict[Search, list[int]] = defaultdict(list)
        for number, task in enumerate(tasks):
            numbers[self.of(self.run.tasks[task])].append(number)
        hypotheses: dict[int, list[int]] = {}
        for search, own in numbers.items():
            starts = [self.run.tensors.starts[tasks[number]] for number in own]
            chosen = [sources[number] for number in own]
            best = search.best(chosen, self.run.require_decoder(), starts)
            hypotheses |= dict(zip(own, best, strict=True))
        return [hypotheses[number] for number in range(len(sources))]


@lru_cache(maxsize=1)
def exports(run: TrainedRun, gates: str, update: int | None = None) -> Exports:
    """Return the models of a training; those that were asked for last stay loaded."""
    return Exports(run, gates, update)


def export(folder: Path, run: TrainedRun, transformer: Plain) -> Search:
    """Write the model of a plain Transformer to an empty folder, and load it.

    Raises:
        FathomError: the package is missing.
    """
    dictionaries = run.tensors.source_dictionary, run.tensors.target_dictionary
    source, target = map(ctranslate2_model.symbols, dictionaries)
    start = set(run.tensors.starts) == {EOS}
    ctranslate2_model.write(folder, transformer, source, target, _positions(run), start)
    return Search(folder, source, target)


def _loaded(run: TrainedRun, transformer: Plain) -> Search:
    with TemporaryDirectory() as folder:
        return export(Path(folder), run, transformer)


def _positions(run: TrainedRun) -> int:
    """Return the longest sentence or hypothesis of a run (pieces, with the end symbol)."""
    longest = run.longest_source
    # Held-out targets, of which some are scored, are not cut.
    targets = [int(pairs.target_lengths.max(initial=0)) for pairs in run.tensors.splits("valid")]
    return max(longest, run.require_decoder().cap(longest), *targets) + 1
