"""A training that has ended, as translation and measurement use it: text, weights and network.

Each part is read when it is first used, and only once.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

# Before torch, which loses a signal that comes while it imports numpy.
import numpy  # noqa: F401
import torch

from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.data import tensors
from fathom.data.indexed import dictionary_path
from fathom.data.sides import sides
from fathom.data.subwords import Encoder
from fathom.data.tensors import Tensors
from fathom.data.vocabulary import Ids
from fathom.decode.ready import averaged, require_decoder, require_name
from fathom.io.errors import FathomError
from fathom.methods.build import build
from fathom.nn.network import Network
from fathom.nn.weights import (
    LAST,
    final_weights,
    load_weights,
    put_weights,
    saved_updates,
    weights_path,
)
from fathom.results import training_record
from fathom.results.training_record import OTHER_TEXT, Ended, TrainingRecord


class TrainedRun:
    """A finished, diverged or failed training of one seed."""

    def __init__(self, spec: Spec, seed: int, paths: Paths, device: torch.device):
        self.spec, self.seed, self.paths, self.device = spec, seed, paths, device
        self.folder = paths.run(spec, seed)
        self.name = f"run {spec.run}"  # in messages
        self._loaded: tuple[int | None, ...] = ()  # the update of the loaded weights, once they are

    @cached_property
    def training(self) -> TrainingRecord:
        """What its training.json says."""
        return training_record.read(self.folder / "training.json")

    @property
    def outcome(self) -> Ended:
        """How the training ended."""
        return self.training.outcome

    @property
    def checkpoints(self) -> Path:
        """The folder of the weights."""
        return self.folder / "checkpoints"

    @cached_property
    def tensors(self) -> Tensors:
        """The encoded text, if it is that of the training."""
        folder = self.paths.tensors(self.spec.data)
        encoded = tensors.load(folder)
        if encoded.sha256 != self.training.tensors_sha256:
            what = "not the text that the run was trained on"
            raise FathomError(what, str(folder / "tensors.json"), OTHER_TEXT)
        return encoded

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks' names, in the order of their indices."""
        return self.tensors.tasks

    def task(self, name: str) -> int:
        """Return the index of a task."""
        require_name(name, self.tasks, "task", self.name)
        return self.tasks.index(name)

    @property
    def longest_source(self) -> int:
        """The most pieces of a source sentence, with the token before it."""
        return self.spec.data.settings.max_pieces + max(map(len, self.tensors.before))

    @cached_property
    def saved_updates(self) -> tuple[int, ...]:
        """The updates whose weights were saved along the way, the oldest first."""
        return saved_updates(self.training.weights)

    @property
    def averaged_updates(self) -> tuple[int, ...]:
        """The updates whose weights `network` averages; one where the last state is used."""
        count = averaged(self.spec)
        return (self.outcome.update,) if count == 1 else self.saved_updates[-count:]

    def decoded_files(self, update: int | None = None) -> dict[str, str]:
        """Return the SHA-256 of the files of the weights that are decoded, by name."""
        updates = self.averaged_updates if update is None else (update,)
        names = [weights_path(self.checkpoints, each).name for each in updates]
        is_last = update is None and averaged(self.spec) == 1
        return {name: self.training.weights[name] for name in ([LAST] if is_last else names)}

    def network(self, gates: str, update: int | None = None) -> Network:
        """Return the network in evaluation mode, with the weights that are decoded.

        There is one network; a second call changes its gates, and its weights if `update` differs.
        """
        if self._loaded != (update,):
            self._load(update)
        decoding = self.spec.decoding
        return self._network.use_gates(gates, decoding.hard_at_least if decoding else 0)

    def tasks_without_layers(self, gates: str, update: int | None = None) -> tuple[str, ...]:
        """Return the tasks for which the gates leave the encoder or the decoder without a layer."""
        network, numbers = self.network(gates, update), range(len(self.tasks))
        return tuple(self.tasks[n] for n in numbers if self._without_layers(network, n))

    @cached_property
    def source_encoder(self) -> Encoder:
        """What cuts a user's source sentences into pieces."""
        return Encoder.of(self.paths.subwords(self.spec.data), sides(self.spec.data)[0])

    def source_ids(
        self, task: str, lines: Iterable[str], report: Callable[[str], None], first: int = 1
    ) -> list[list[int]]:
        """Return the ids of a user's source sentences as in training, with end symbols.

        A longer one is cut; `report` is called with a line about each of them, in which `first` is
        the number of the first sentence.
        """
        text, longest = self.tensors, self.spec.data.settings.max_pieces
        ids = Ids(dictionary_path(text.folder, "source"), text.tokens)
        before, rows = text.before[self.task(task)], []
        for line, pieces in enumerate(self.source_encoder.pieces(task, lines), start=first):
            if len(pieces) > longest:
                report(f"line {line}: {len(pieces):,} pieces, the first {longest:,} are read")
            rows.append(ids.of(pieces[:longest], *before))
        return rows

    def target_ids(self, task: str, lines: Iterable[str]) -> list[list[int]]:
        """Return the ids of a user's target sentences, with end symbols; none is cut."""
        ids = Ids(dictionary_path(self.tensors.folder, "target"), self.tensors.tokens)
        encoder = Encoder.of(self.paths.subwords(self.spec.data), sides(self.spec.data)[1])
        return [ids.of(pieces) for pieces in encoder.pieces(task, lines)]

    def require_translating(self, task: str, gates: str) -> None:
        """Refuse a run that translates nothing, and a task whose gates leave no layer."""
        require_decoder(self.spec)
        self.require_finished()
        self.task(task)
        _ = self.source_encoder  # small files are checked before the network is loaded
        if task in self.tasks_without_layers(gates):
            remedy = "choose another run, task or gates"
            raise FathomError("no layer is left", f"{self.name}, {task}", remedy)

    def require_finished(self) -> None:
        """Refuse a training that diverged or failed."""
        if not self.outcome.finished:
            raise FathomError(self.outcome.words, self.name, "choose a run that finished")

    @cached_property
    def _network(self) -> Network:
        text = self.tensors
        dictionaries = text.source_dictionary, text.target_dictionary
        network = build(self.spec.model, self.spec.method, len(text.tasks), *dictionaries)
        return network.to(self.device).eval()

    def _load(self, update: int | None) -> None:
        self._loaded, files = (), self.training.weights
        if update is None:
            weights = final_weights(self.checkpoints, files, averaged(self.spec))
            put_weights(self._network, weights, self.checkpoints)
        else:
            path = weights_path(self.checkpoints, update)
            load_weights(self._network, path, files.get(path.name, ""))
        self._loaded = (update,)

    def _without_layers(self, network: Network, task: int) -> bool:
        tasks = torch.tensor([task], device=self.device)
        for method in network.methods.values():
            method.begin(tasks)
            if not any(method.keep(layer) for layer in range(method.stack.layers)):
                return True
        return False
