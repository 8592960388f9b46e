"""Latent layers (Li, Stickland, Tang and Kong, NeurIPS 2020: Deep Transformers with Latent Depth).

Whether a layer is selected is a latent variable z_l of each task. Its posterior q is learnt beside
the network by variational inference: soft Gumbel samples of z scale each layer's block F_l in
training, a KL term draws q towards a prior, and L_K draws the expected depth to a target K.

    paper   here              shape, range
    α       alpha             (N, L), or (1, L) for a shared posterior; one logit: only the
                              difference α(1) − α(0) of Eq. 5 matters
    ε       noise             (N, L); ε(1) − ε(0), the difference of two Gumbels, is logistic
    z       z                 (N, L), within [0, 1]
    q_φ     σ(alpha)          (N, L), the probability that a layer is selected
    p(z)    prior             (L,) or one value, as the logarithms of p(z = 1) and p(z = 0)
    τ       tau               more than 0
    u_l     utilisation       (L,)
    β, λ    kl_weight, depth_weight
    K       target_depth      layers
    I       inner_updates     updates of Θ for one of φ

The equations stand first, in the paper's order, Eqs. 2, 4, 5, 7 and L_K; Eq. 8 is `losses` of the
class, which wires them to the hooks. What the released code computes on samples instead stands in
models/sample_losses.py; each such choice is a setting.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from fathom.models import sample_losses
from fathom.models.annealing import annealed, annealed_temperature
from fathom.models.gate_depth import depth_of, hard_gates
from fathom.models.hooks import Depth, Loss, Method, ParameterGroup, Reading, Stack, generator

Prior = tuple[Tensor | float, Tensor | float]


def gated_block(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """Return x + z F(x), where y = x + F(x): (1 − z) x + z y.

    [latent_depth Eq. 2]

    x and y are (T, B, D), z is (1, B, 1), the gate of each sentence. This form is x at z = 0 and
    y at z = 1 to the bit, which x + z (y − x) is not.
    """
    return (1 - z) * x + z * y


def kl_divergence(alpha: Tensor, prior: Prior) -> Tensor:
    """Return KL(q ‖ p) of each gate's Bernoulli posterior, in nats, with the shape of alpha.

    [latent_depth Eq. 4]

    Written in logarithms of σ, it is finite wherever alpha is: 1 − σ(17) is 0 in float32.

    Args:
        alpha: (N, L) the posterior's logits.
        prior: the logarithms of p(z = 1) and p(z = 0), (L,) or one value each.
    """
    selected = torch.sigmoid(alpha) * (logsigmoid(alpha) - prior[0])
    skipped = torch.sigmoid(-alpha) * (logsigmoid(-alpha) - prior[1])
    return selected + skipped


def logistic_noise(layers: int, stream: torch.Generator) -> Tensor:
    """Return ε(1) − ε(0) of each layer, (L,) in float32: logistic, by its inverse distribution."""
    uniform = torch.rand(layers, generator=stream, dtype=torch.float32)
    # A draw of exactly 0 would make the noise infinite.
    return torch.logit(uniform, eps=torch.finfo(torch.float32).eps)


def gumbel_sample(alpha: Tensor, noise: Tensor, tau: float | Tensor) -> Tensor:
    """Return soft samples of z, the select half of the softmax over {select, skip}.

    [latent_depth Eq. 5]

    Args:
        alpha: (N, L) the posterior's logits α(1) − α(0).
        noise: (N, L) logistic, ε(1) − ε(0); zeros give the noise-free soft weight.
        tau: the temperature τ; samples become discrete as it falls to 0.
    """
    return torch.sigmoid((alpha + noise) / tau)


def beta_prior(a: float, b: float) -> Prior:
    """Return the logarithms of p(z = 1) and p(z = 0) at the mean of Beta(a, b), a / (a + b)."""
    return math.log(a / (a + b)), math.log(b / (a + b))


def aggregated_posterior(alpha: Tensor) -> Prior:
    """Return the mean over tasks of q(z = 1) and of q(z = 0), as logarithms, each (L,).

    [latent_depth Eq. 7]
    """
    tasks = math.log(alpha.size(0))
    selected = torch.logsumexp(logsigmoid(alpha), dim=0) - tasks
    skipped = torch.logsumexp(logsigmoid(-alpha), dim=0) - tasks
    return selected, skipped


def utilisation(z: Tensor) -> Tensor:
    """Return u_l, the mean over tasks of the samples z (N, L), as (L,): Section 2.2."""
    return z.mean(dim=0)


def depth_loss(u: Tensor, target: float) -> Tensor:
    """Return L_K = ‖Σ_l u_l − K‖ of Section 2.2, for u (L,); its gradient is 0 at Σ u = K."""
    return (u.sum() - target).abs()


def scaled_kl(kl: Tensor, scale: str, tokens_per_task: float) -> Tensor:
    """Return each task's KL, (N,), of its gates' (N, L), in a scale that Eq. 8 leaves open.

    It is their "sum" in nats, their "mean", or "per_token": the sum over T / N target tokens.
    """
    if scale == "mean":
        return kl.mean(dim=1)
    return kl.sum(dim=1) / (tokens_per_task if scale == "per_token" else 1)


class LatentLayers(Method):
    """Each layer is selected or skipped by a learnt posterior, one for each task or one in all."""

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
        target_depth_sides: list[str],
        depth_loss: str,
        utilisation_entropy: bool,
        depth_weight: float,
        depth_anneal_start: int,
        depth_anneal_length: int,
        inner_updates: int,
        phi_learning_rate_multiplier: float,
        phi_clip: float,
    ):
        """Start every gate at alpha = 0; the settings are those of the method's card."""
        super().__init__(stack)
        self.inference = "soft"
        self.posterior, self.gate_on, self.sample = posterior, gate_on, sample
        self.straight_through_after = straight_through_after
        self.tau, self.tau_end, self.tau_updates = tau, tau_end, tau_updates
        self.hard_threshold = hard_threshold
        self.kl, self.prior, self.beta_prior = kl, prior, beta_prior(prior_a, prior_b)
        self.kl_weight, self.kl_scale = kl_weight, kl_scale
        self.kl_anneal = (kl_anneal_start, kl_anneal_length)
        self.target_depth = target_depth if stack.side in target_depth_sides else None
        self.squared, self.entropy = depth_loss == "square", utilisation_entropy
        self.depth_weight = depth_weight
        self.depth_anneal = (depth_anneal_start, depth_anneal_length)
        self.phi = (phi_learning_rate_multiplier, inner_updates, phi_clip)
        rows = stack.tasks if posterior == "per_task" else 1
        self.alpha = nn.Parameter(torch.zeros(rows, stack.layers))
        # Saved with the weights: translating needs the temperature at which training ended.
        self.register_buffer("temperature", torch.tensor(float(tau)))
        self.update, self.noise = 0, None
        self.kept = [True] * stack.layers

    def logits(self) -> Tensor:
        """Return alpha for every task, (N, L), also where they share one posterior."""
        return self.alpha.expand(self.stack.tasks, self.stack.layers)

    def start_update(self, seed: int, update: int) -> None:
        """Draw the noise of every task, all layers at once, and set the temperature.

        This is ε in line 7 of Algorithm 2; `samples` makes z of it.
        """
        side, layers = self.stack.side, self.stack.layers
        # One posterior for all is Algorithm 1: one sample of it in an update.
        drawn = range(self.stack.tasks) if self.posterior == "per_task" else [None]
        streams = [generator(seed, update, side, task) for task in drawn]
        noise = torch.stack([logistic_noise(layers, stream) for stream in streams])
        self.noise = noise.to(self.alpha.device)
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
        return sample_losses.straight_through(z) if hard else z

    def gates(self) -> Tensor:
        """Return the gates in use, (N, L): samples in training, else without noise."""
        if self.training:
            return self.samples()
        if self.inference == "hard":
            return hard_gates(self.logits(), self.hard_threshold)
        return self.noise_free()

    def begin(self, tasks: Tensor) -> None:
        """Gather the gates of each sentence; a layer that no sentence keeps is not computed."""
        gates = self.gates()[tasks]  # (B, L)
        self.sentence_gates = gates.t()[:, None, :, None]  # (L, 1, B, 1)
        # With every sub-layer closed, only a plain skip path makes a layer the identity.
        plain = self.stack.residuals and self.stack.norm in ("pre", "none")
        identity = self.gate_on == "block" or plain
        skips = self.inference == "hard" and not self.training and identity
        self.kept = (gates > 0).any(dim=0).tolist() if skips else [True] * self.stack.layers

    def keep(self, layer: int) -> bool:
        """Return whether any sentence of the batch keeps the layer."""
        return self.kept[layer]

    def residual(self, layer: int, part: str, x: Tensor, fx: Tensor) -> Tensor:
        """Join a sub-layer, (T, B, D) both; where gates are on sub-layers, x + z fx."""
        if self.gate_on == "block":
            return super().residual(layer, part, x, fx)
        return x + self.sentence_gates[layer].to(x.dtype) * fx

    def block(self, layer: int, x: Tensor, y: Tensor) -> Tensor:
        """Gate the layer's block; `x` is what it read and `y` what it computed, (T, B, D)."""
        if self.gate_on == "sub_layer":
            return y
        return gated_block(x, y, self.sentence_gates[layer].to(y.dtype))

    def losses(self, target_tokens: int, tasks: Tensor) -> dict[str, Loss]:
        """Return β D_KL and λ L_K; the objective adds the network's −log p(y | x, z).

        [latent_depth Eq. 8]

        D_KL is the mean over the update's tasks of each task's KL in the chosen scale, whose
        `target_tokens` are those of the whole update.
        """
        per_task = scaled_kl(self.divergence(tasks), self.kl_scale, target_tokens / len(tasks))
        weight = annealed(self.kl_weight, self.update, *self.kl_anneal)
        losses = {"kl": Loss(per_task.mean(), weight)}
        if self.target_depth is not None:
            used = utilisation(self.samples()[tasks])
            distance = sample_losses.squared_depth_loss if self.squared else depth_loss
            weight = annealed(self.depth_weight, self.update, *self.depth_anneal)
            losses["depth"] = Loss(distance(used, self.target_depth), weight)
            if self.entropy:
                losses["entropy"] = Loss(sample_losses.utilisation_entropy(used), weight)
        return losses

    def divergence(self, tasks: Tensor) -> Tensor:
        """Return each gate's KL, or what stands in for it, for the update's tasks (n,): (n, L).

        The aggregated posterior stands as a constant. Where an update holds all tasks its gradients
        cancel in the sum of the KLs; where not, a task's gradient is what it is beside all others.
        """
        if self.kl == "selected_half":
            z = self.samples()
            prior = self.beta_prior[0] if self.prior == "beta" else sample_losses.log_mean(z)
            return sample_losses.selected_half(z[tasks], prior)
        logits = self.logits()
        aggregated = self.prior == "aggregated"
        prior = aggregated_posterior(logits.detach()) if aggregated else self.beta_prior
        return kl_divergence(logits[tasks], prior)

    def parameter_groups(self) -> list[ParameterGroup]:
        """Return φ: the logits, updated by the last of every I updates of Θ."""
        multiplier, every, clip = self.phi
        per_task = self.posterior == "per_task"
        return [ParameterGroup("phi", (self.alpha,), multiplier, every, clip, per_task)]

    def diagnostics(self) -> dict[str, Reading]:
        """Return the logits and an update's samples, also of absent tasks, with all tasks' u_l."""
        readings = {"alpha": Reading(("task", "layer"), self.logits().detach())}
        if self.noise is not None:
            z = self.samples().detach()
            readings["samples"] = Reading(("task", "layer"), z)
            readings["utilisation"] = Reading(("layer",), utilisation(z))
        return readings

    def depth(self) -> Depth:
        """Return how deep the stack is for each task, by hard gates and by probability."""
        return depth_of(self.logits().detach(), self.hard_threshold)
