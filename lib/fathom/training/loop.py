"""The loop over updates and its state; killed and started again, it goes on where it was saved."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from fathom.batches.tensors import Tensors
from fathom.checkpoints import training_state as checkpoints
from fathom.io.metrics import Metrics
from fathom.methods.loader import build
from fathom.models.network import Network
from fathom.runs.spec import Spec
from fathom.training import environment, outcomes
from fathom.training.diagnostics import Diagnostics
from fathom.training.feed import Feed
from fathom.training.masked_feed import MaskedFeed
from fathom.training.ranks import Ranks
from fathom.training.start import inherited, take_up
from fathom.training.two_level import Parts, Result, TwoLevel
from fathom.training.validation import Validation, validate

COLUMNS = (
    "update", "epoch", "seconds", "tokens", "learning_rate", "loss", "nll",
    "gradient_norm", "gradient_norm_phi", "valid_nll",
)  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """Wishes that do not change what is learnt.

    Attributes:
        device: auto, cpu, cuda or cuda:<n>.
        tokens_per_device: target tokens of a micro-batch, at most; larger updates accumulate.
        log_every: updates between rows of metrics.tsv.
        diagnose_first: first updates each of which has rows in diagnostics/.
        diagnose_every: updates between rows there after them; 0 for none.
    """

    device: str
    tokens_per_device: int
    log_every: int
    diagnose_first: int
    diagnose_every: int


@dataclass(frozen=True)
class Places:
    """Where a training reads and writes.

    Attributes:
        tensors: the folder of its encoded text.
        run: the run's own folder.
        base: the folder of the training whose weights it starts from, if it does.
    """

    tensors: Path
    run: Path
    base: Path | None = None


class Stopped(Exception):
    """The training was asked to stop, and has saved its state."""

    def __init__(self, number: int, update: int):
        """Keep the signal's number and the last update."""
        super().__init__(f"stopped by signal {number} after update {update}; start again to go on")
        self.number = number


class Training:
    """The state of one training: network, optimisers, place in the data, metrics."""

    def __init__(
        self,
        spec: Spec,
        seed: int,
        tensors: Tensors,
        places: Places,
        launch: Launch,
        report: Callable[[str], None],
    ):
        """Build everything at update 0.

        Args:
            spec: the run.
            seed: of weights, order of data, gates and dropout.
            tensors: its encoded text.
            places: where it reads and writes.
            launch: wishes that do not change the result.
            report: called with each line for the user.
        """
        self.spec, self.seed, self.tensors, self.folder = spec, seed, tensors, places.run
        self.launch, self.report = launch, report
        self.device = environment.choose_device(launch.device)
        self.ranks = Ranks.join(self.device)
        torch.manual_seed(seed)
        dictionaries = (tensors.source_dictionary, tensors.target_dictionary)
        self.network: Network = build(
            spec.model, spec.method, len(tensors.tasks), *dictionaries
        ).to(self.device)
        start = spec.training.start
        self.inherited = inherited(start, places.base) if start else None
        if start and self.inherited is None:
            take_up(self.network, start, places.base)
        self.two_level = TwoLevel(self.network, spec.training, seed, self.ranks)
        self.diagnostics = self.two_level.diagnostics = Diagnostics(
            self.network,
            tensors.tasks,
            self.folder / "diagnostics",
            launch.diagnose_every,
            launch.diagnose_first,
        )
        self.feed = self._feed()
        self.watch = outcomes.Watch(spec.outcome)
        self.metrics = Metrics(self.folder / "metrics.tsv", (*COLUMNS, *self._loss_names()))
        self.update, self.tokens, self.seconds = 0, 0, 0.0
        self.validation: Validation | None = None
        self._asked_to_stop = 0

    def _feed(self) -> Feed | MaskedFeed:
        """Return what the run is fed with: pairs of sentences, or blocks with hidden pieces."""
        training = self.spec.training
        shared = self.seed, self.ranks, self.device, self.launch.tokens_per_device
        if training.masking is None:
            return Feed(self.tensors, training.batches, *shared)
        longest = self.spec.model.learned_positions
        return MaskedFeed(self.tensors, training.batches, training.masking, longest, *shared)

    def _loss_names(self) -> tuple[str, ...]:
        every = torch.arange(len(self.tensors.tasks))
        self.network.start_update(self.seed, 1)
        return tuple(self.two_level.losses(Parts([], 1, every)))

    def resume(self) -> None:
        """Take up the newest checkpoint, if there is one, and cut all series to it."""
        folder = self.folder / "checkpoints"
        state = checkpoints.load(folder, self.report)
        if state is not None:
            self.network.load_state_dict(state["model"])
            self.two_level.load_state_dict(state["optimisers"])
            self.update, self.tokens = state["update"], state["tokens"]
            self.seconds, self.watch.exploding = state["seconds"], state["exploding"]
            torch.set_rng_state(state["rng"])
            self.report(f"{self.spec.folder}: goes on after update {self.update}")
        if self.ranks.first:
            self.metrics.cut(self.update)
            checkpoints.forget_after(folder, self.update)
            for name in self.diagnostics.cut(self.update):
                self.report(f"{self.spec.folder}: {name}: its damaged end is cut off")

    def save(self) -> None:
        """Write a checkpoint of the whole state, after the diagnostics up to it."""
        if not self.ranks.first:
            return
        self.diagnostics.write()
        state = {
            "model": self.network.state_dict(),
            "optimisers": self.two_level.state_dict(),
            "update": self.update,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "exploding": self.watch.exploding,
            "rng": torch.get_rng_state(),
        }
        checkpoints.save(self.folder / "checkpoints", state)

    def run(self) -> outcomes.Ending:
        """Train to the last update, or to where the run diverges.

        Raises:
            Stopped: a signal asked for it; the state is saved.
        """
        if self.inherited:
            return self.inherited
        settings = self.spec.training
        previous = {
            number: signal.signal(number, self._ask_to_stop)
            for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            while self.update < settings.updates:
                ending = self._one_update()
                if ending is not None:
                    return ending
                # A signal may reach one process only, or two after different updates.
                asked = self.ranks.largest(self._asked_to_stop, self.device)
                if asked:
                    self.save()
                    raise Stopped(asked, self.update)
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
        if self.validation is None:
            self.validation = self._validate()
        unigram = self.feed.unigram_nll
        return outcomes.final(self.update, self.validation.nll, unigram, self.spec.outcome)

    def _ask_to_stop(self, number: int, _frame: object) -> None:
        self._asked_to_stop = number

    def _one_update(self) -> outcomes.Ending | None:
        """Make one update, with what follows it: metrics, validation, checkpoint."""
        started = time.perf_counter()
        self.update += 1
        parts = self.feed.parts(self.update)
        result = self.two_level.update(self.update, parts)
        self.tokens += parts.tokens
        due = (
            self.update % self.spec.training.validate_every == 0
            or self.update == self.spec.training.updates
        )
        self.validation = self._validate() if due else None
        self.seconds += time.perf_counter() - started
        ending = self.watch.see(self.update, result.nll, result.gradient_norm)
        if self.ranks.first and (due or ending or self.update % self.launch.log_every == 0):
            self._log(result)
        if ending:
            self.diagnostics.write()
        elif due:
            self._keep()
            self.save()
        return ending

    def _keep(self) -> None:
        """Keep the weights to be averaged, if the run wants any."""
        if self.ranks.first:
            folder, count = self.folder / "checkpoints", self.spec.training.keep_weights
            checkpoints.keep(folder, self.update, self.network.state_dict(), count)

    def _validate(self) -> Validation:
        self.network.use_gates(self.spec.evaluation.compared_gates)
        return validate(self.network, self.feed.validation, len(self.tensors.tasks))

    def _log(self, result: Result) -> None:
        """Append a row to the metrics, and tell the user."""
        valid = self.validation.nll if self.validation else None
        self.metrics.append(
            {
                "update": self.update,
                "epoch": self.feed.epoch(self.update),
                "seconds": self.seconds,
                "tokens": self.tokens,
                "learning_rate": result.learning_rate,
                "loss": result.loss,
                "nll": result.nll,
                "gradient_norm": result.gradient_norm,
                "gradient_norm_phi": result.gradient_norm_phi,
                "valid_nll": valid,
            }
            | result.losses
        )
        shown = f", validation {valid:.3f}" if valid is not None else ""
        self.report(
            f"{self.spec.folder}: update {self.update} of {self.spec.training.updates},"
            f" NLL {result.nll:.3f}{shown} nats, {self.seconds:.0f} s"
        )
