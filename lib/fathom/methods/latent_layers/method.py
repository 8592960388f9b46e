"""The class that connects the equations of latent layers to the hooks."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from fathom.methods.latent_layers import released
from fathom.methods.latent_layers.equations import (
    aggregated_posterior,
    annealed,
    annealed_temperature,
    beta_prior,
    depth_loss,
    depth_of,
    gated_block,
    gumbel_sample,
    hard_gates,
    kl_divergence,
    logistic_noise,
    scaled_kl,
    utilisation,
)
from fathom.nn.device import to_device
from fathom.nn.hooks import Depth, DiagnosticArray, Loss, Method, ParameterGroup, Stack, generator


class LatentLayers(Method):
    """A learnt posterior selects or skips each layer: one for each task, or one that all share.

    alpha is 0 at first; config/methods/latent_layers.yaml names and describes the settings.
    """

    temperature: Tensor

    def __init__(self, stack: Stack, **settings: Any):
        super().__init__(stack)
        self.settings = SimpleNamespace(**settings)
        self.inference = "soft"
        rows = stack.tasks if self.settings.posterior == "per_task" else 1
        self.alpha = nn.Parameter(torch.zeros(rows, stack.layers))
        # Saved with the weights: translation needs the last temperature of the training.
        self.register_buffer("temperature", torch.tensor(float(self.settings.tau)))
        self.update, self.noise = 0, None
        self.active_layers = [True] * stack.layers
        # The hook where no gate is costs nothing.
        if self.settings.gate_on == "block":
            self.residual = super().residual
        else:
            self.block = super().block

    def logits(self) -> Tensor:
        """Return alpha of every task, (N, L), also if all share one posterior."""
        return self.alpha.expand(self.stack.tasks, self.stack.layers)

    def start_update(self, seed: int, update: int) -> None:
        """Draw the noise of every task, all layers at once, and set the temperature.

        The noise is ε in line 7 of Algorithm 2; `samples` computes z from it.
        """
        name, layers = self.stack.name, self.stack.layers
        # A shared posterior is Algorithm 1: one sample per update.
        tasks = range(self.stack.tasks) if self.settings.posterior == "per_task" else [None]
        streams = [generator(seed, update, name, task) for task in tasks]
        noise = torch.stack([logistic_noise(layers, stream) for stream in streams])
        self.noise = to_device(noise, self.alpha.device)
        self.update = update
        tau, tau_end = self.settings.tau, self.settings.tau_end
        tau = annealed_temperature(tau, tau_end, update, self.settings.tau_updates)
        self.temperature.fill_(tau)

    def noise_free(self) -> Tensor:
        """Return the soft weights σ(alpha / τ), (N, L)."""
        return gumbel_sample(self.logits(), torch.zeros_like(self.alpha), self.temperature)

    def samples(self) -> Tensor:
        """Return this update's samples z, (N, L), with their gradient."""
        sample = self.settings.sample
        if sample == "noise_free":
            return self.noise_free()
        if self.noise is None:
            raise RuntimeError("call start_update before the first forward pass of an update")
        z = gumbel_sample(self.logits(), self.noise, self.temperature)
        late = self.update > self.settings.straight_through_after
        return released.straight_through(z) if late and sample == "straight_through" else z

    def gates(self) -> Tensor:
        """Return the gates in use, (N, L): samples in training, otherwise without noise."""
        if self.training:
            return self.samples()
        if self.inference == "hard":
            return hard_gates(self.logits(), self.settings.hard_threshold, self.hard_at_least)
        return self.noise_free()

    def begin(self, tasks: Tensor, counts: Mapping[int, int] | None = None) -> None:
        """Select the gates of each sentence, and the layers that any sentence uses."""
        gates = self.gates().t().index_select(1, tasks)  # (L, B)
        # The gradient of a layer's part of one tensor would have the size of all layers' gates.
        self.sentence_gates = gates[:, None, :, None].unbind()  # L of (1, B, 1)
        # If all sub-layers are closed, a layer is the identity only with a plain skip path.
        plain = self.stack.residuals and self.stack.norm in ("pre", "none")
        identity = self.settings.gate_on == "block" or plain
        skips = self.inference == "hard" and not self.training and identity
        every = [True] * self.stack.layers
        self.active_layers = (gates > 0).any(dim=1).tolist() if skips else every

    def keep(self, layer: int) -> bool:
        """Return whether any sentence of the batch uses the layer."""
        return self.active_layers[layer]

    def residual(self, layer: int, part: str, x: Tensor, fx: Tensor) -> Tensor:
        """Return x + z fx, (T, B, D), if gates are on sub-layers."""
        return x + self.sentence_gates[layer].to(x.dtype) * fx

    def block(self, layer: int, x: Tensor, y: Tensor) -> Tensor:
        """Return x + z (y − x), (T, B, D), if gates are on layers."""
        # In half precision a layer without residuals may return another type than it got.
        wide = torch.promote_types(x.dtype, y.dtype)
        return gated_block(x.to(wide), y.to(wide), self.sentence_gates[layer].to(wide))

    def losses(self, target_tokens: int, tasks: Tensor) -> dict[str, Loss]:
        """Return β D_KL and λ L_K of Eq. 8; `objective` adds the network's −log p(y | x, z).

        D_KL is the mean of the KL over the tasks in the update, in the scale of the setting.
        """
        settings, update = self.settings, self.update
        per_task = scaled_kl(self.divergence(tasks), settings.kl_scale, target_tokens / len(tasks))
        start, length = settings.kl_anneal_start, settings.kl_anneal_length
        weight = annealed(settings.kl_weight, update, start, length)
        losses = {"kl": Loss(per_task.mean(), weight)}
        if settings.target_depth is not None and self.stack.name in settings.target_depth_stacks:
            used = utilisation(self.samples()[tasks])
            squared = settings.depth_loss == "square"
            distance = released.squared_depth_loss if squared else depth_loss
            start, length = settings.depth_anneal_start, settings.depth_anneal_length
            weight = annealed(settings.depth_weight, update, start, length)
            losses["depth"] = Loss(distance(used, settings.target_depth), weight)
            if settings.utilisation_entropy:
                losses["entropy"] = Loss(released.utilisation_entropy(used), weight)
        return losses

    def divergence(self, tasks: Tensor) -> Tensor:
        """Return the KL of each gate, or its replacement, for the tasks of an update (n,): (n, L).

        The aggregated posterior is a constant. If an update has all tasks, its gradients cancel in
        the sum of the KLs; if not, a task's gradient is the same as with all others present.
        """
        settings = self.settings
        fixed = beta_prior(settings.prior_a, settings.prior_b)
        aggregated = settings.prior == "aggregated"
        if settings.kl == "selected_half":
            z = self.samples()
            prior = released.log_mean(z) if aggregated else fixed[0]
            return released.selected_half(z[tasks], prior)
        logits = self.logits()
        prior = aggregated_posterior(logits.detach()) if aggregated else fixed
        return kl_divergence(logits[tasks], prior)

    def parameter_groups(self) -> list[ParameterGroup]:
        """Return φ: the logits, updated at every I-th update of Θ."""
        return [
            ParameterGroup(
                name="phi",
                parameters=(self.alpha,),
                learning_rate_multiplier=self.settings.phi_learning_rate_multiplier,
                every=self.settings.inner_updates,
                clip=self.settings.phi_clip,
                rows_are_tasks=self.settings.posterior == "per_task",
            )
        ]

    def diagnostics(self) -> dict[str, DiagnosticArray]:
        """Return the logits, this update's samples of all tasks, and their u_l."""
        readings = {"alpha": DiagnosticArray(("task", "layer"), self.logits().detach())}
        if self.noise is not None:
            z = self.samples().detach()
            readings["samples"] = DiagnosticArray(("task", "layer"), z)
            readings["utilisation"] = DiagnosticArray(("layer",), utilisation(z))
        return readings

    def depth(self) -> Depth:
        """Return how many layers each task uses, by hard gates and by probability."""
        return depth_of(self.logits().detach(), self.settings.hard_threshold)
