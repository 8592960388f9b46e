"""The training loop; a run that was stopped or killed resumes from its newest checkpoint."""

import time
from dataclasses import dataclass
from pathlib import Path

# Before torch, which loses a signal that comes while it imports numpy.
import numpy  # noqa: F401
import torch

from fathom.config import schedules
from fathom.config.spec import Spec
from fathom.config.switches import Switches, require_even_shares
from fathom.data.tensors import Tensors
from fathom.io.errors import FathomError
from fathom.io.metrics import Metrics
from fathom.io.seals import OF
from fathom.methods.build import build
from fathom.nn.cpu import choose_matmul_precision
from fathom.nn.network import Batch, count_parameters
from fathom.results.training_record import Ended
from fathom.train import environment
from fathom.train import state as training_state
from fathom.train.diagnostics import Diagnostics
from fathom.train.outcomes import PendingMetrics, ValidationNll, judge, validate
from fathom.train.progress import Reporter, Speed
from fathom.train.ranks import Ranks
from fathom.train.session import Attempt
from fathom.train.state import inherited, load_weights_from
from fathom.train.stopping import Stopping
from fathom.train.two_level import StepResult, TwoLevel
from fathom.train.update_batches import MaskedUpdateBatches, MicroBatches, Prefetcher, UpdateBatches

COLUMNS = (
    "update", "epoch", "tokens", "learning_rate", "loss", "nll",
    "gradient_norm", "gradient_norm_phi", "valid_nll", "train_nll",
)  # fmt: skip
# In a separate file: all others are equal in bytes whether or not a run was stopped.
CLOCK = ("update", "seconds", "tokens_per_second")


@dataclass(frozen=True)
class TrainPaths:
    """The folders that a training reads and writes."""

    tensors: Path  # the encoded text
    run: Path  # of the run and seed
    start: Path | None = None  # of the training whose weights the run starts from, if it does


class Training:
    """The state of one training: network, optimisers, place in the data, metrics."""

    def __init__(
        self,
        spec: Spec,
        seed: int,
        tensors: Tensors,
        paths: TrainPaths,
        switches: Switches,
        reporter: Reporter,
    ):
        self.spec, self.seed, self.tensors, self.folder = spec, seed, tensors, paths.run
        self.settings, self.switches, self.reporter = spec.training, switches, reporter
        self.device = environment.choose_device(switches.device)
        matmul = self.settings.matmul or switches.matmul
        environment.require_arithmetic(self.device, matmul, self.settings.precision)
        self.ranks = Ranks.join(self.device)
        torch.manual_seed(seed)
        dictionaries = tensors.source_dictionary, tensors.target_dictionary
        self.network = build(spec.model, spec.method, len(tensors.tasks), *dictionaries)
        self.network.initialise()
        self.network.to(self.device)
        tf32 = matmul == "tf32" and self.settings.precision == "fp32"
        self.network.set_matmul(choose_matmul_precision(self.device, tf32))
        if switches.compile:
            self.network.compile_layers()
        self.inherited: Ended | None = None
        if spec.start is not None:
            if paths.start is None:
                raise RuntimeError("give the folder of the training that the run starts from")
            self.inherited = inherited(spec.start, paths.start)
            if self.inherited is None:
                load_weights_from(self.network, spec.start, paths.start)
        self.batches = self._update_batches()
        self.updates = self.batches.updates
        of_text = self.batches.sampler.updates_until
        self.validate_every = of_text(self.settings.validate_every)
        self.save_every = of_text(self.settings.save_every or self.settings.validate_every)
        schedule = schedules.learning_rate(spec.training.schedule, spec.model.width, self.updates)
        self.two_level = TwoLevel(self.network, spec.training, schedule, seed, self.ranks)
        due, folder = (switches.diagnose_every, switches.diagnose_first), paths.run / "diagnostics"
        self.diagnostics = Diagnostics(self.network, tensors.tasks, folder, *due)
        self.two_level.diagnostics = self.diagnostics
        self.pending = PendingMetrics(spec.outcome)
        scale = ("loss_scale",) if self.two_level.loss_scale else ()
        columns = (*COLUMNS, *scale, *self._loss_names())
        self.metrics = Metrics(self.folder / "metrics.tsv", columns)
        self.times = Metrics(self.folder / "times.tsv", CLOCK)
        self.update, self.seconds = 0, 0.0
        self.save_seconds = 0.0  # of the longest save
        self.validation: ValidationNll | None = None
        self.train_nll: float | None = None
        self.speed = Speed()
        self._saved = time.monotonic()
        self.attempt: Attempt | None = None  # notes each save; the first process sets it

    def _update_batches(self) -> UpdateBatches | MaskedUpdateBatches:
        """Return the batches of the run: pairs of sentences, or blocks with hidden pieces."""
        kind = UpdateBatches if self.spec.masking is None else MaskedUpdateBatches
        bounds = self._tokens_per_device(), self.switches.micro_batches
        return kind(self.tensors, self.spec, self.seed, self.ranks, self.device, *bounds)

    def _tokens_per_device(self) -> int:
        """Return the bound of a micro-batch's tokens, one for all processes."""
        if isinstance(given := self.switches.tokens_per_device, int):
            return given
        if self.device.type == "cpu":
            return environment.TOKENS
        # Free memory would change how an update is cut, and with it what dropout draws.
        _, total = torch.cuda.mem_get_info(self.device)
        parameters = count_parameters(self.network)["trainable"]
        entries = len(self.tensors.target_dictionary)
        fits = environment.tokens_that_fit(total, parameters, self.spec.model, entries)
        # The number of micro-batches is the same in all processes.
        tokens = int(self.ranks.bounds(fits)[0])
        if self.ranks.is_main:
            estimate = f"{tokens:,} target tokens, an estimate for {total / 1e9:.0f} GB"
            self.reporter.line(f"{self.spec.folder}: tokens_per_device: auto is {estimate}")
        return tokens

    def _loss_names(self) -> tuple[str, ...]:
        every_task = torch.arange(len(self.tensors.tasks))
        self.network.start_update(self.seed, 1)
        return tuple(self.two_level.losses(MicroBatches([], 1, every_task)))

    @property
    def checkpoints(self) -> Path:
        """The folder of states and weights."""
        return self.folder / "checkpoints"

    def resume(self) -> None:
        """Load the newest checkpoint, if there is one, and truncate all series to it."""
        recorded: list = []
        of = [self.spec.identity, self.seed]
        state = training_state.load(self.checkpoints, self.reporter.line, of)
        if state is not None:
            self.network.load_state_dict(state["model"])
            self.two_level.load_state_dict(state["optimisers"])
            self.update, self.seconds = state["update"], state["seconds"]
            self.pending.tokens, self.pending.exploding = state["tokens"], state["exploding"]
            torch.set_rng_state(state["rng"])
            self.speed.tokens = self.pending.tokens
            recorded = state.get("diagnostics", recorded)
            self._share_as_before(state.get("micro_batches", 0))
            self.reporter.line(f"{self.spec.folder}: resuming after update {self.update}")
        self._require_one_checkpoint()
        if self.ranks.is_main:
            training_state.delete_weights_after(self.checkpoints, self.update)
            every = (self.metrics, self.times)
            damaged = [series.path.name for series in every if series.cut(self.update)]
            for name in damaged + self.diagnostics.resume(self.update, recorded):
                self.reporter.line(f"{self.spec.folder}: {name}: damaged rows are dropped")

    def _share_as_before(self, micro_batches: int) -> None:
        """Cut updates as the attempts before did, so that fewer devices train the same.

        A number that the user gives counts more; a process that trained alone has left none.
        """
        if not micro_batches or self.switches.micro_batches:
            return
        try:
            require_even_shares(micro_batches, self.ranks.world)
        except FathomError:
            if not self.ranks.is_main:
                raise SystemExit(1) from None
            raise
        self.batches.multiple = micro_batches

    def _require_one_checkpoint(self) -> None:
        """Refuse processes that have loaded different checkpoints, before anything is changed."""
        first, last = self.ranks.bounds(self.update)
        # No two trainings take equally long.
        if first == last and len(set(self.ranks.bounds(self.seconds))) == 1:
            return
        if not self.ranks.is_main:
            raise SystemExit(1)
        updates = f"{first:.0f} and {last:.0f}" if first != last else f"{first:.0f}, each its own"
        what = f"processes have different checkpoints, of updates {updates}"
        remedy = "give all hosts one folder of results, or move wrong checkpoints away"
        raise FathomError(what, str(self.checkpoints), remedy)

    def save(self) -> None:
        """Write a checkpoint of the state, after the series up to it."""
        if not self.ranks.is_main:
            return
        if self.attempt:
            self.attempt.held.require()
        started = time.monotonic()
        self.metrics.sync()
        self.diagnostics.write(complete=self.update)
        state = {
            OF: [self.spec.identity, self.seed],
            "model": self.network.state_dict(),
            "optimisers": self.two_level.state_dict(),
            "update": self.update,
            "tokens": self.pending.tokens,
            "micro_batches": self.batches.multiple,
            "seconds": self.seconds,
            "exploding": self.pending.exploding,
            "rng": torch.get_rng_state(),
            "diagnostics": self.diagnostics.state(),
        }
        training_state.save(self.checkpoints, state)
        self._saved = time.monotonic()
        self.save_seconds = max(self.save_seconds, self._saved - started)
        if self.attempt:
            self.attempt.write(update=self.update)

    def run(self, stopping: Stopping) -> Ended:
        """Train to the last update, or until the run diverges; raise Stopped if asked to stop."""
        if self.inherited:
            return self.inherited
        self._stopping = stopping
        ended = None
        with Prefetcher(self.batches.micro_batches, self.updates) as self._prefetcher:
            if self.ranks.is_main:
                self.reporter.start(self.spec.folder, self.update, self.updates)
            try:
                while self.update < self.updates and ended is None:
                    ended = self._one_update()
            finally:
                self.reporter.stop()
        if self.ranks.is_main:
            self.diagnostics.write()
        if ended:
            return ended
        if self.validation is None:
            self.validation = self._validate(self.batches.validation)
        unigram = self.batches.unigram_nll
        return judge(self.update, self.validation.nll, unigram, self.spec.outcome)

    def _one_update(self) -> Ended | None:
        """Make one update, and what follows it: validation, files, then lines for the user.

        After the last update nothing stops a training: it ends in the time that a stop would take.
        """
        started = time.perf_counter()
        self.update += 1
        micro_batches = self._prefetcher.take(self.update)
        result, ended = self.two_level.update(self.update, micro_batches), None
        self.pending.add(result)
        reads = self._reads()
        if reads:
            result, ended = self._read()
        self.speed.seconds += time.perf_counter() - started
        self.validation, self.train_nll = None, None
        if self._is_due(self.validate_every):
            self.validation = self._validate(self.batches.validation)
            self.train_nll = self._validate(self.batches.training_sample).nll
        self.seconds += time.perf_counter() - started
        # A signal may reach one process only, or two after different updates.
        number = self.ranks.all_reduce_max(self._stopping.asked(self.save_seconds))
        if self.update == self.updates:
            number = 0
        if number and not reads:
            result, ended = self._read()
        logged = ended is not None or self._is_logged()
        if self.ranks.is_main:
            if logged:
                self.metrics.append(self._row(result))
                self.speed.read(self.pending.tokens)
                clock = {"update": self.update, "seconds": self.seconds}
                self.times.append(clock | {"tokens_per_second": self.speed.rate})
            if ended is None and (reads or number):
                self._save_if_due(now=self.validation is not None or number > 0)
            self._show(logged)
        if number and ended is None:
            raise self._stopping.stopped(number, self.update)
        return ended

    def _reads(self) -> bool:
        """Return whether this update is read from the device, with those since the last reading."""
        at_once = environment.reads_at_once(self.device)
        return at_once or self._is_logged() or self._is_due(self.save_every)

    def _read(self) -> tuple[StepResult, Ended | None]:
        """Read the updates since the last reading, and go back to the one that diverged."""
        result, ended = self.pending.read()
        if ended:
            self.update = result.update
            self.diagnostics.drop_after(result.update)
        return result, ended

    def _save_if_due(self, now: bool) -> None:
        """Save weights and state where they are due; the state also `now`."""
        if self._is_due(self.save_every):
            weights, count = self.network.state_dict(), self.settings.keep_weights
            training_state.save_weights(self.checkpoints, self.update, weights, count)
        minutes = (time.monotonic() - self._saved) / 60
        if now or 0 < self.switches.save_minutes <= minutes:
            self.save()

    def _is_logged(self) -> bool:
        validates = self._is_due(self.validate_every)
        return validates or self.update % self.switches.log_every == 0

    def _is_due(self, every: int) -> bool:
        """Return whether something is done at this update; the last update does everything."""
        return self.update % every == 0 or self.update == self.updates

    def _validate(self, batches: list[Batch]) -> ValidationNll:
        self.network.use_gates(self.spec.gates[0])
        return validate(self.network, batches, len(self.tensors.tasks), self.ranks)

    def _row(self, result: StepResult) -> dict[str, float | int | None]:
        """Return the update's row of metrics.tsv."""
        return {
            "update": self.update,
            "epoch": self.batches.sampler.passes(self.update),
            "tokens": self.pending.tokens,
            "valid_nll": self.validation.nll if self.validation else None,
            "train_nll": self.train_nll,
        } | result.numbers()

    def _show(self, logged: bool) -> None:
        """Show the user an update, with its main numbers if it is logged."""
        self.reporter.update(self.update, self.pending.nll)
        if logged:
            valid = self.validation.nll if self.validation else None
            validation = f", validation {valid:.3f}" if valid is not None else ""
            self.reporter.row(
                f"{self.spec.folder}: update {self.update} of {self.updates},"
                f" NLL {self.pending.nll:.3f}{validation} nats, {self.seconds:.0f} s, {self.speed}"
            )
