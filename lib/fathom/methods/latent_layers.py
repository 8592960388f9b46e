"""Latent layers (Li, Stickland, Tang and Kong, NeurIPS 2020: Deep Transformers with Latent Depth).

Whether a layer is selected is a latent variable z_l of each task. Its posterior q is learnt beside
the network by variational inference: soft Gumbel samples of z scale each layer's block F_l in
training, a KL term draws q towards a prior, and L_K draws the expected depth to a target K.

    paper   here              shape, range
    α       alpha             (N, L), or (1, L) for a shared posterior; one logit: only the
                              difference α(1) − α(0) of Eq. 5 matters
    ε       noise             (N, L); ε(1) − ε(0), the difference of two Gumbels, is logistic
    z       z                 (N, L), within (0, 1)
    q_φ     σ(alpha)          (N, L), the probability that a layer is selected
    p(z)    prior             (L,) or one value, as the logarithms of p(z = 1) and p(z = 0)
    τ       tau               more than 0
    u_l     utilisation       (L,)
    β, λ    kl_weight, depth_weight
    K       target_depth      layers
    I       inner_updates     updates of Θ for one of φ

The equations stand first, in the paper's order; the class below wires them to the hooks.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from fathom.models.hooks import Depth, Loss, Method, ParameterGroup, generator

Prior = tuple[Tensor | float, Tensor | float]


def gated_block(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """Return x + z F(x), where y = x + F(x): (1 − z) x + z y.

    [latent_depth Eq. 2]

    This form is x at z = 0 and y at z = 1 to the bit, which x + z (y − x) is not.

    Args:
        x: (T, B, D) the block's input.
        y: (T, B, D) the plain block's output.
        z: (1, B, 1) the gate of each sentence.
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


def hard_gates(alpha: Tensor, threshold: float) -> Tensor:
    """Return 1 where q(z = 1) ≥ threshold, else 0; with a threshold of ½, 1 at alpha = 0."""
    return (torch.sigmoid(alpha) >= threshold).to(alpha.dtype)


def beta_prior(a: float, b: float) -> Prior:
    """Return the logarithms of p(z = 1) and p(z = 0) at the mean of Beta(a, b), a / (a + b)."""
    return math.log(a / (a + b)), math.log(b / (a + b))


def aggregated_posterior(alpha: Tensor) -> Prior:
    """Return the mean over tasks of q(z = 1) and of q(z = 0), as logarithms, each (L,).

    [latent_depth Eq. 7]

    Args:
        alpha: (N, L) the posteriors' logits.
    """
    tasks = math.log(alpha.size(0))
    selected = torch.logsumexp(logsigmoid(alpha), dim=0) - tasks
    skipped = torch.logsumexp(logsigmoid(-alpha), dim=0) - tasks
    return selected, skipped


def utilisation(z: Tensor) -> Tensor:
    """Return u_l, the mean over tasks of the samples z (N, L), as (L,): Section 2.2."""
    return z.mean(dim=0)


def depth_loss(u: Tensor, target: float) -> Tensor:
    """Return L_K = ‖Σ_l u_l − K‖ of Section 2.2, whose gradient is 0 at Σ u = K.

    Args:
        u: (L,) the utilisation of each layer.
        target: K (layers).
    """
    return (u.sum() - target).abs()


def annealed(weight: float, update: int, start: int, length: int) -> float:
    """Return a weight at an update of Θ: 0 until `start`, whole `length` later; 0 makes a step."""
    if length == 0:
        return weight if update >= start else 0.0
    return weight * min(max((update - start) / length, 0.0), 1.0)


def annealed_temperature(tau: float, tau_end: float | None, update: int, length: int) -> float:
    """Return τ at an update of Θ: geometric to `tau_end` in `length` updates, then constant."""
    if tau_end is None:
        return tau
    return tau * (tau_end / tau) ** min(update / length, 1.0)


def scaled_kl(kl: Tensor, scale: str, tokens_per_task: float) -> Tensor:
    """Return each task's KL in one of three scales, which Eq. 8 leaves open, as (N,).

    Args:
        kl: (N, L) of each gate, in nats.
        scale: "sum" over layers, their "mean", or "per_token": the sum over a task's target tokens.
        tokens_per_task: T / N, target tokens of the update over its tasks.
    """
    if scale == "mean":
        return kl.mean(dim=1)
    return kl.sum(dim=1) / (tokens_per_task if scale == "per_token" else 1)


class LatentLayers(Method):
    """Each layer is selected or skipped by a learnt posterior, one for each task or one in all."""

    def __init__(
        self,
        layers: int,
        tasks: int,
        side: str,
        *,
        posterior: str,
        prior: str,
        prior_a: float,
        prior_b: float,
        kl_weight: float,
        kl_scale: str,
        kl_anneal_start: int,
        kl_anneal_length: int,
        target_depth: float | None,
        target_depth_sides: list[str],
        depth_weight: float,
        tau: float,
        tau_end: float | None,
        tau_updates: int,
        hard_threshold: float,
        inner_updates: int,
        phi_learning_rate_multiplier: float,
        phi_clip: float,
    ):
        """Start every gate at alpha = 0; the settings are those of the method's card."""
        super().__init__(layers, tasks, side)
        self.inference = "soft"
        self.posterior, self.prior = posterior, prior
        self.beta_prior = beta_prior(prior_a, prior_b)
        self.kl_weight, self.kl_scale = kl_weight, kl_scale
        self.kl_anneal = (kl_anneal_start, kl_anneal_length)
        self.target_depth = target_depth if side in target_depth_sides else None
        self.depth_weight, self.hard_threshold = depth_weight, hard_threshold
        self.tau, self.tau_end, self.tau_updates = tau, tau_end, tau_updates
        self.inner_updates, self.phi_clip = inner_updates, phi_clip
        self.phi_learning_rate_multiplier = phi_learning_rate_multiplier
        self.alpha = nn.Parameter(torch.zeros(tasks if posterior == "per_task" else 1, layers))
        # Saved with the weights: translating needs the temperature at which training ended.
        self.register_buffer("temperature", torch.tensor(float(tau)))
        self.update, self.noise = 0, None
        self.kept = [True] * layers

    def logits(self) -> Tensor:
        """Return alpha for every task, (N, L), also where they share one posterior."""
        return self.alpha.expand(self.tasks, self.layers)

    def start_update(self, seed: int, update: int) -> None:
        """Draw the noise of every task, all layers at once, and set the temperature.

        This is ε in line 7 of Algorithm 2; `samples` makes z of it.
        """
        streams = [generator(seed, update, self.side, task) for task in range(self.tasks)]
        noise = torch.stack([logistic_noise(self.layers, stream) for stream in streams])
        self.noise = noise.to(self.alpha.device)
        self.update = update
        tau = annealed_temperature(self.tau, self.tau_end, update, self.tau_updates)
        self.temperature.fill_(tau)

    def samples(self) -> Tensor:
        """Return this update's soft samples, (N, L), with their gradient."""
        if self.noise is None:
            raise RuntimeError("call start_update before the first forward pass of an update")
        return gumbel_sample(self.logits(), self.noise, self.temperature)

    def gates(self) -> Tensor:
        """Return the gates in use, (N, L): samples in training, else without noise."""
        if self.training:
            return self.samples()
        if self.inference == "hard":
            return hard_gates(self.logits(), self.hard_threshold)
        return gumbel_sample(self.logits(), torch.zeros_like(self.alpha), self.temperature)

    def begin(self, tasks: Tensor) -> None:
        """Gather the gates of each sentence; a layer that no sentence keeps is not computed."""
        gates = self.gates()[tasks]  # (B, L)
        self.sentence_gates = gates.t()[:, None, :, None]  # (L, 1, B, 1)
        hard = self.inference == "hard" and not self.training
        self.kept = (gates > 0).any(dim=0).tolist() if hard else [True] * self.layers

    def keep(self, layer: int) -> bool:
        """Return whether any sentence of the batch keeps the layer."""
        return self.kept[layer]

    def block(self, layer: int, x: Tensor, y: Tensor) -> Tensor:
        """Gate the layer's block; `x` is what it read and `y` what it computed, (T, B, D)."""
        return gated_block(x, y, self.sentence_gates[layer].to(y.dtype))

    def losses(self, target_tokens: int, tasks: Tensor) -> dict[str, Loss]:
        """Return β D_KL and λ L_K; the objective adds the network's −log p(y | x, z).

        [latent_depth Eq. 8]

        D_KL is the mean over the update's tasks of each task's KL in the chosen scale, whose
        `target_tokens` are those of the whole update.
        """
        kl = kl_divergence(self.logits()[tasks], self.prior_of(tasks))
        per_task = scaled_kl(kl, self.kl_scale, target_tokens / len(tasks))
        weight = annealed(self.kl_weight, self.update, *self.kl_anneal)
        losses = {"kl": Loss(per_task.mean(), weight)}
        if self.target_depth is not None:
            used = utilisation(self.samples()[tasks])
            losses["depth"] = Loss(depth_loss(used, self.target_depth), self.depth_weight)
        return losses

    def prior_of(self, tasks: Tensor) -> Prior:
        """Return the logarithms of p(z = 1) and p(z = 0) for an update that holds these tasks.

        In the aggregated posterior the others stand as constants, since their logits rest.
        """
        if self.prior == "beta":
            return self.beta_prior
        logits = self.logits()
        absent = torch.ones(self.tasks, 1, dtype=torch.bool, device=logits.device)
        absent[tasks] = False
        return aggregated_posterior(torch.where(absent, logits.detach(), logits))

    def parameter_groups(self) -> list[ParameterGroup]:
        """Return φ: the logits, updated by the last of every I updates of Θ."""
        return [
            ParameterGroup(
                name="phi",
                parameters=(self.alpha,),
                learning_rate_multiplier=self.phi_learning_rate_multiplier,
                every=self.inner_updates,
                clip=self.phi_clip,
                rows_are_tasks=self.posterior == "per_task",
            )
        ]

    def diagnostics(self) -> dict[str, Tensor]:
        """Return the logits and the probabilities, (N, L) each, on the CPU."""
        logits = self.logits().detach().cpu()
        return {"alpha": logits, "p": torch.sigmoid(logits)}

    def depth(self) -> Depth:
        """Return how deep the stack is for each task, by hard gates and by probability."""
        logits = self.logits().detach().cpu()
        counts = hard_gates(logits, self.hard_threshold).sum(dim=1).int().tolist()
        return Depth(
            effective_depth=sum(counts) / len(counts),
            by_task=tuple(counts),
            sum_p=torch.sigmoid(logits).sum(dim=1).mean().item(),
            mean_abs_alpha=logits.abs().mean().item(),
            undecided_share=(logits.abs() < 0.1).float().mean().item(),
            layers=self.layers,
        )
