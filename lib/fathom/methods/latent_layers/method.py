"""The class that connects the equations of latent layers to the hooks."""

from collections.abc import Mapping

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

    alpha is 0 at first; config/methods/latent_layers.yaml describes the settings.
    """

    temperature: Tensor

    def __init__(
        self,
        stack: Stack,
        *,
        posterior: str,
        gate_on: str,
        sample: str,
        straight_through_after: int,
        tau: float,
        tau_end: float | None,
        tau_updates: int,
        hard_threshold: float,
        kl: str,
        prior: str,
        prior_a: float,
        prior_b: float,
        kl_weight: float,
        kl_scale: str,
        kl_anneal_start: int,
        kl_anneal_length: int,
        target_depth: float | None,
        target_depth_stacks: list[str],
        depth_loss: str,
        utilisation_entropy: bool,
        depth_weight: float,
        depth_anneal_start: int,
        depth_anneal_length: int,
        inner_updates: int,
        phi_learning_rate_multiplier: float,
        phi_clip: float,
    ):
        super().__init__(stack)
        self.inference = "soft"
        self.posterior, self.gate_on, self.sample = posterior, gate_on, sample
        self.straight_through_after = straight_through_after
        self.tau, self.tau_end, self.tau_updates = tau, tau_end, tau_updates
        self.hard_threshold = hard_threshold
        self.kl, self.prior, self.beta_prior = kl, prior, beta_prior(prior_a, prior_b)
        self.kl_weight, self.kl_scale = kl_weight, kl_scale
        self.kl_anneal = (kl_anneal_start, kl_anneal_length)
        self.target_depth = target_depth if stack.name in target_depth_stacks else None
        self.squared, self.entropy = depth_loss == "square", utilisation_entropy
        self.depth_weight = depth_weight
        self.depth_anneal = (depth_anneal_start, depth_anneal_length)
        self.phi = (phi_learning_rate_multiplier, inner_updates, phi_clip)
        rows = stack.tasks if posterior == "per_task" else 1
        self.alpha = nn.Parameter(torch.zeros(rows, stack.layers))
        # Saved with the weights: translation needs the last temperature of the training.
        self.register_buffer("temperature", torch.tensor(float(tau)))
        self.update, self.noise = 0, None
        self.active_layers = [True] * stack.layers
        # The hook where no gate is costs nothing.
        if gate_on == "block":
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
        tasks = range(self.stack.tasks) if self.posterior == "per_task" else [None]
        streams = [generator(seed, update, name, task) for task in tasks]
        noise = torch.stack([logistic_noise(layers, stream) for stream in streams])
        self.noise = to_device(noise, self.alpha.device)
        self.update = update
        tau = annealed_temperature(self.tau, self.tau_end, update, self.tau_updates)
        self.temperature.fill_(tau)

    def noise_free(self) -> Tensor:
        """Return the soft weights σ(alpha / τ), (N, L)."""
        return gumbel_sample(self.logits(), torch.zeros_like(self.alpha), self.temperature)

    def samples(self) -> Tensor:
        """Return this update's samples z, (N, L), with their gradient."""
        if self.sample == "noise_free":
            return self.noise_free()
        if self.noise is None:
            raise RuntimeError("call start_update before the first forward pass of an update")
        z = gumbel_sample(self.logits(), self.noise, self.temperature)
        hard = self.sample == "straight_through" and self.update > self.straight_through_after
        return released.straight_through(z) if hard else z

    def gates(self) -> Tensor:
        """Return the gates in use, (N, L): samples in training, otherwise without noise."""
        if self.training:
            return self.samples()
        if self.inference == "hard":
            return hard_gates(self.logits(), self.hard_threshold, self.hard_at_least)
        return self.noise_free()

    def begin(self, tasks: Tensor, counts: Mapping[int, int] | None = None) -> None:
        """Select the gates of each sentence, and the layers that any sentence uses."""
        gates = self.gates().t().index_select(1, tasks)  # (L, B)
        # The gradient of a layer's part of one tensor would have the size of all layers' gates.
        self.sentence_gates = gates[:, None, :, None].unbind()  # L of (1, B, 1)
        # If all sub-layers are closed, a layer is the identity only with a plain skip path.
        plain = self.stack.residuals and self.stack.norm in ("pre", "none")
        identity = self.gate_on == "block" or plain
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
        per_task = scaled_kl(self.divergence(tasks), self.kl_scale, target_tokens / len(tasks))
        weight = annealed(self.kl_weight, self.update, *self.kl_anneal)
        losses = {"kl": Loss(per_task.mean(), weight)}
        if self.target_depth is not None:
            used = utilisation(self.samples()[tasks])
            distance = released.squared_depth_loss if self.squared else depth_loss
            weight = annealed(self.depth_weight, self.update, *self.depth_anneal)
            losses["depth"] = Loss(distance(used, self.target_depth), weight)
            if self.entropy:
                losses["entropy"] = Loss(released.utilisation_entropy(used), weight)
        return losses

    def divergence(self, tasks: Tensor) -> Tensor:
        """Return the KL of each gate, or its replacement, for the tasks of an update (n,): (n, L).

        The aggregated posterior is a constant. If an update has all tasks, its gradients cancel in
        the sum of the KLs; if not, a task's gradient is the same as with all others present.
        """
        if self.kl == "selected_half":
            z = self.samples()
            prior = self.beta_prior[0] if self.prior == "beta" else released.log_mean(z)
            return released.selected_half(z[tasks], prior)
        logits = self.logits()
        aggregated = self.prior == "aggregated"
        prior = aggregated_posterior(logits.detach()) if aggregated else self.beta_prior
        return kl_divergence(logits[tasks], prior)

    def parameter_groups(self) -> list[ParameterGroup]:
        """Return φ: the logits, updated at every I-th update of Θ."""
        multiplier, every, clip = self.phi
        per_task = self.posterior == "per_task"
        return [ParameterGroup("phi", (self.alpha,), multiplier, every, clip, per_task)]

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
        return depth_of(self.logits().detach(), self.hard_threshold)
