"""Algorithm 2: Θ moves at every update, φ at every I-th update with the gradient of that update.

[latent_depth Alg. 1] is the case of one task. T, N and the utilisation are those of all tasks,
micro-batches and processes of an update.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from fathom.config import schedules
from fathom.config.schema.run import TrainingSettings
from fathom.nn.hooks import Loss, stream_seed
from fathom.nn.loss import smoothed_loss
from fathom.nn.network import LowPrecision, Network
from fathom.train.diagnostics import Diagnostics
from fathom.train.optimisers import LazyAdam, LossScale, clip, clip_each, rate_of, theta_adam
from fathom.train.ranks import GradientSums, Ranks
from fathom.train.update_batches import MicroBatches


@dataclass(frozen=True)
class StepResult:
    """What happened in an update; losses in nats per token, norms before clipping.

    Everything stays on the device until `numbers` reads it.
    """

    update: int  # its number
    tokens: int  # target tokens of the update
    nll: Tensor  # without label smoothing
    learning_rate: float  # of Θ
    gradient_norm: Tensor  # of Θ
    smoothed: Tensor  # the label-smoothed loss, without the methods' losses
    gradient_norm_phi: Tensor | None  # of the groups of φ that moved; None if none did
    losses: dict[str, Loss]  # the methods' losses by stack and name, without gradients
    loss_scale: Tensor | None = None  # of float16, after the update

    @property
    def watched(self) -> Tensor:
        """The number that says whether the run has diverged: the norm, or the loss scale."""
        return self.gradient_norm if self.loss_scale is None else self.loss_scale

    def numbers(self) -> dict[str, float | None]:
        """Read all numbers from the device, with one transfer, by their columns in metrics.tsv."""
        phi = self.gradient_norm_phi
        tensors = {"nll": self.nll, "loss": self.smoothed, "gradient_norm": self.gradient_norm}
        tensors |= {} if phi is None else {"gradient_norm_phi": phi}
        tensors |= {} if self.loss_scale is None else {"loss_scale": self.loss_scale}
        tensors |= {name: loss.value for name, loss in self.losses.items()}
        values = dict(zip(tensors, read_together(tensors.values()), strict=True))
        weighted = sum(loss.weight * values[name] for name, loss in self.losses.items())
        values["loss"] += weighted
        return {"learning_rate": self.learning_rate, "gradient_norm_phi": None} | values


def read_together(tensors: Iterable[Tensor]) -> list[float]:
    """Return numbers, () each, from the device with one transfer."""
    return torch.stack([tensor.double() for tensor in tensors]).tolist()


class TwoLevel:
    """The optimisers of all parameters, and the update that moves them.

    `schedule` gives Θ's learning rate at an update, and `seed` determines gates and dropout.
    """

    def __init__(
        self,
        network: Network,
        training: TrainingSettings,
        schedule: schedules.LearningRate,
        seed: int,
        ranks: Ranks,
    ):
        self.network, self.training, self.seed, self.ranks = network, training, seed, ranks
        self.schedule = schedule
        self.diagnostics: Diagnostics | None = None  # records some updates
        self.phi = [
            group for method in network.methods.values() for group in method.parameter_groups()
        ]
        in_phi = {id(parameter) for group in self.phi for parameter in group.parameters}
        self.theta = [
            parameter
            for parameter in network.parameters()
            if parameter.requires_grad and id(parameter) not in in_phi
        ]
        methods = network.methods.values()
        added = {id(parameter) for method in methods for parameter in method.parameters()}
        of_network = [parameter for parameter in self.theta if id(parameter) not in added]
        of_methods = [parameter for parameter in self.theta if id(parameter) in added]
        self.theta_adam = theta_adam(of_network, of_methods, training)
        self.phi_adam = [LazyAdam(group, training.adam) for group in self.phi]
        device = next(network.parameters()).device
        self.loss_scale = LossScale(device) if training.precision == "fp16" else None

    def update(self, number: int, micro_batches: MicroBatches) -> StepResult:
        """Make an update, from number 1 on: one passage through lines 5 to 10 of the algorithm.

        [latent_depth Alg. 2]

        A batch holds all tasks, so there is no loop over them (line 5).
        """
        self._seed_dropout(number, 0)
        self.network.start_update(self.seed, number)  # line 7: ε of each task, all layers at once
        if self.diagnostics:
            self.diagnostics.start_update(number)
        with self.network.matmul.applied():
            sums, losses = self._gradients(micro_batches, number)  # lines 7 and 8, with gradients
        if self._gradient_sums:
            self._gradient_sums.finish()
        if self.loss_scale:
            self.loss_scale.unscale(self.network.parameters(), micro_batches.tokens)
        if self.diagnostics:
            self.diagnostics.end_update(number, self.ranks)
        nll, smoothed = self.ranks.sum(sums) / micro_batches.tokens
        rate = self.schedule(number) * self.training.rate_factor
        norm = clip(self.theta, self.training.clip).to(nll.device)
        # line 10: at the last of I updates of Θ; φ's gradients of the others are lost
        groups = zip(self.phi, self.phi_adam, strict=True)
        due = [(group, adam) for group, adam in groups if number % group.every == 0]
        norms = [
            (clip_each if group.clip_each else clip)(group.parameters, group.clip).to(nll.device)
            for group, _ in due
        ]
        # A gradient that is not finite moves nothing; the host does not wait to know.
        finite = [each.isfinite() for each in (norm, *norms)]
        if self.loss_scale:
            finite = [torch.stack(finite).all()] * len(finite)
            self.loss_scale.update(finite[0])
        self.theta_adam.step(rate, finite[0])  # line 9
        for (group, adam), moves in zip(due, finite[1:], strict=True):
            adam.step(rate_of(group, rate), micro_batches.tasks, moves)
        self.network.zero_grad(set_to_none=True)
        return StepResult(
            update=number,
            tokens=micro_batches.tokens,
            nll=nll,
            learning_rate=rate,
            gradient_norm=norm,
            smoothed=smoothed,
            gradient_norm_phi=torch.stack(norms).norm() if norms else None,
            losses=losses,
            loss_scale=self.loss_scale and self.loss_scale.scale,
        )

    @cached_property
    def _gradient_sums(self) -> GradientSums | None:
        """The sums of gradients over several processes; None for a process alone."""
        return GradientSums(self.network.parameters()) if self.ranks.world > 1 else None

    @cached_property
    def _low_precision(self) -> LowPrecision:
        return LowPrecision(self.network, torch.float16 if self.loss_scale else torch.bfloat16)

    def _seed_dropout(self, update: int, micro_batch: int) -> None:
        # So a resumed run draws the same, and so does another number of processes.
        torch.manual_seed(stream_seed(self.seed, update, "dropout", micro_batch))

    def _gradients(
        self, micro_batches: MicroBatches, update: int
    ) -> tuple[Tensor, dict[str, Loss]]:
        """Run all micro-batches forward and backward; return the sums of NLL and smoothed loss."""
        device = next(self.network.parameters()).device
        sums = torch.zeros(2, dtype=torch.float64, device=device)
        losses = self.losses(micro_batches)
        # The losses count once in an update: in the first process, with its first micro-batch.
        added = losses if self.ranks.is_main else {}
        predict = self.network.predict
        if self.training.precision != "fp32":
            self._low_precision.start_update()
            predict = self._low_precision.predict
        numbers = micro_batches.numbers
        for place, batch in enumerate(micro_batches.batches):
            if numbers:
                self._seed_dropout(update, numbers[place])
            logits, target, _ = predict(batch)
            smoothing, entries = self.training.label_smoothing, self.network.entries
            smoothed, nll = smoothed_loss(logits, target, smoothing, entries)
            if self._gradient_sums and place == len(micro_batches.batches) - 1:
                self._gradient_sums.expect_last()
            loss = objective(smoothed, micro_batches.tokens, added)
            if self.loss_scale:
                loss = loss * (self.loss_scale.scale * micro_batches.tokens)
            loss.backward()
            added = {}
            sums += torch.stack([nll.detach(), smoothed.detach()])
        return sums, {name: Loss(loss.value.detach(), loss.weight) for name, loss in losses.items()}

    def losses(self, micro_batches: MicroBatches) -> dict[str, Loss]:
        """Return the losses of all methods, by stack and name."""
        return {
            f"{stack}_{name}": loss
            for stack, method in self.network.methods.items()
            for name, loss in method.losses(micro_batches.tokens, micro_batches.tasks).items()
        }

    def state_dict(self) -> dict:
        """Return the state of all optimisers."""
        return {
            "theta": self.theta_adam.state_dict(),
            "phi": [adam.state_dict() for adam in self.phi_adam],
        } | ({"loss_scale": self.loss_scale.state_dict()} if self.loss_scale else {})

    def load_state_dict(self, state: dict) -> None:
        """Restore the state of all optimisers."""
        self.theta_adam.load_state_dict(state["theta"])
        for adam, saved in zip(self.phi_adam, state["phi"], strict=True):
            adam.load_state_dict(saved)
        if self.loss_scale:
            self.loss_scale.load_state_dict(state["loss_scale"])


def objective(smoothed: Tensor, update_tokens: int, losses: dict[str, Loss]) -> Tensor:
    """Return a micro-batch's part of L_LL = −(1/T) Σ log p(y | x, z) + β D_KL + λ L_K, in nats.

    [latent_depth Eq. 8]

    T are the target tokens of the update over all micro-batches and processes. The first term is
    label-smoothed; other methods have other losses than D_KL and L_K, with weights as β and λ, for
    one micro-batch of the update alone. `smoothed` is the sum of the micro-batch's token losses.
    """
    likelihood = smoothed / update_tokens
    terms = [loss.weight * loss.value for loss in losses.values() if loss.weight != 0]
    return likelihood + torch.stack(terms).sum() if terms else likelihood
