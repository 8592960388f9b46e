"""Algorithm 2: Θ moves at every update, φ at the last of I with that update's own gradient.

[latent_depth Alg. 1] is the case of one task. T, N and the utilisation go over the whole update:
all tasks, micro-batches and processes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from fathom.batches.fused import Batch
from fathom.batches.tensors import PAD
from fathom.models.hooks import stream_seed
from fathom.models.network import Network
from fathom.runs.spec import Training
from fathom.training import objective, schedules
from fathom.training.diagnostics import Diagnostics
from fathom.training.optimisers import LazyAdam, clip, clip_each, rate_of, theta_adam
from fathom.training.ranks import Ranks


@dataclass(frozen=True)
class Parts:
    """One update's batch as this process sees it.

    Attributes:
        mine: this process's micro-batches.
        tokens: T, target tokens of the update over all processes.
        tasks: the tasks that the update holds, over all processes.
    """

    mine: Sequence[Batch]
    tokens: int
    tasks: Tensor


@dataclass(frozen=True)
class Result:
    """What an update was like; losses in nats, norms before clipping."""

    loss: float
    nll: float
    learning_rate: float
    gradient_norm: float
    gradient_norm_phi: float | None
    losses: dict[str, float]


class TwoLevel:
    """The parameters' optimisers, and the update that moves them.

    Attributes:
        diagnostics: what looks at some updates, where it is given.
    """

    def __init__(self, network: Network, training: Training, seed: int, ranks: Ranks):
        """Split the network's parameters into Θ and the groups of its methods.

        Args:
            network: both stacks with their methods.
            training: the settings.
            seed: of gates and dropout.
            ranks: the processes that share an update.
        """
        self.network, self.training, self.seed, self.ranks = network, training, seed, ranks
        self.diagnostics: Diagnostics | None = None
        self.phi = [
            group for method in network.methods.values() for group in method.parameter_groups()
        ]
        in_phi = {id(each) for group in self.phi for each in group.parameters}
        self.theta = [
            each for each in network.parameters() if each.requires_grad and id(each) not in in_phi
        ]
        added = {id(each) for method in network.methods.values() for each in method.parameters()}
        own = [each for each in self.theta if id(each) not in added]
        of_methods = [each for each in self.theta if id(each) in added]
        self.theta_adam = theta_adam(own, of_methods, training)
        self.phi_adam = [
            LazyAdam(group, training.adam_betas, training.adam_eps) for group in self.phi
        ]
        schedule = training.schedule
        self.rate = partial(getattr(schedules, schedule.name), **schedule.settings)

    def update(self, number: int, parts: Parts) -> Result:
        """Make one update.

        [latent_depth Alg. 2]

        Args:
            number: of the update, from 1.
            parts: its batch.
        """
        # Dropout is a function of (seed, update, rank), so that a resumed run draws the same.
        torch.manual_seed(stream_seed(self.seed, number, "dropout", self.ranks.rank))
        self.network.start_update(self.seed, number)
        if self.diagnostics:
            self.diagnostics.watch(number)
        sums, losses = self._gradients(parts)
        self.ranks.sum_gradients(self.network.parameters())
        if self.diagnostics:
            self.diagnostics.read(number, self.ranks)
        rate = self.rate(number)
        norm = clip(self.theta, self.training.clip)
        if torch.isfinite(norm):
            self._move_theta(rate)
        norm_phi = self._move_phi(number, rate, parts.tasks) if self.phi else None
        self.network.zero_grad(set_to_none=True)
        nll, loss = (self.ranks.sum(sums) / parts.tokens).tolist()
        extra = sum(each.weight * float(each.value.detach()) for each in losses.values())
        return Result(
            loss=loss + extra,
            nll=nll,
            learning_rate=rate,
            gradient_norm=float(norm),
            gradient_norm_phi=norm_phi,
            losses={name: float(each.value.detach()) for name, each in losses.items()},
        )

    def _gradients(self, parts: Parts):
        """Run all micro-batches forward and backward; return the sums of NLL and loss."""
        device = next(self.network.parameters()).device
        sums = torch.zeros(2, dtype=torch.float64, device=device)
        losses = self.losses(parts)
        # Each is counted once in an update: by the first process, with its first micro-batch.
        extra = objective.weighted(losses) if self.ranks.first else None
        low = self.training.precision == "bf16"
        for batch in parts.mine:
            with torch.autocast(device.type, torch.bfloat16, enabled=low):
                logits = self.network(batch.source, batch.previous_target, batch.tasks)
            smoothed, nll = objective.token_losses(
                logits, batch.target, PAD, self.training.label_smoothing
            )
            objective.total(smoothed, parts.tokens, extra).backward()
            extra = None
            sums += torch.stack([nll.detach(), smoothed.detach()])
        return sums, losses

    def losses(self, parts: Parts) -> dict:
        """Return the losses of both stacks' methods, named by side."""
        named = {}
        for side, method in self.network.methods.items():
            for name, loss in method.losses(parts.tokens, parts.tasks).items():
                named[f"{side}_{name}"] = loss
        return named

    def _move_theta(self, rate: float) -> None:
        for group in self.theta_adam.param_groups:
            group["lr"] = rate
        self.theta_adam.step()

    def _move_phi(self, number: int, rate: float, tasks: Tensor) -> float:
        """Move φ where this update is the last of its I; other gradients of φ are dropped."""
        norms = []
        for group, adam in zip(self.phi, self.phi_adam, strict=True):
            if number % group.every:
                continue
            norm = (clip_each if group.clip_each else clip)(group.parameters, group.clip)
            norms.append(norm)
            if torch.isfinite(norm):
                adam.step(rate_of(group, rate), tasks)
        return float(torch.stack(norms).norm()) if norms else None

    def state_dict(self) -> dict:
        """Return both optimisers' state."""
        return {
            "theta": self.theta_adam.state_dict(),
            "phi": [each.state_dict() for each in self.phi_adam],
        }

    def load_state_dict(self, state: dict) -> None:
        """Take over both optimisers' state."""
        self.theta_adam.load_state_dict(state["theta"])
        for adam, saved in zip(self.phi_adam, state["phi"], strict=True):
            adam.load_state_dict(saved)
