"""Latent group dropout (Pham, Yvon and Crego, Findings of NAACL 2022).

The units of each hidden state are parted into groups, and each task keeps k of them at each place,
the same ones at every position. Which ones is a latent variable of each task and place. Its
distribution is learnt beside the network: in training the mask is a soft top-k of Gumbel noise and
the logits Φ, which has an exact gradient; at inference it is the hard top-k of Φ.

    paper   here              shape, range
    n_p     groups            n
    k       kept              groups that a task keeps, 0 … n
    Φ       phi               (N, sites, n), the logits, 0 at first
    g       noise             (N, sites, n), Gumbel(0, 1)
    m̃       hard_top_k        (…, n), k ones and n − k zeros
    m̂       soft_top_k        (…, n), within (0, 1), with sum k
    v̄       root              (…, 1)
    τ       tau               more than 0

Masks multiply the residual stream itself, and nothing is rescaled.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable

from fathom.errors import FathomError
from fathom.models.groups import sentence_masks, units_per_group
from fathom.models.hooks import Loss, Method, ParameterGroup, Reading, Stack, generator

# (m̂, the gradient by m̂, τ) → the gradient by Φ + g; each (…, n).
Gradient = Callable[[Tensor, Tensor, float], Tensor]

# A round makes four halvings at once by trying all of their places: 60 halvings in 15 steps.
PARTS, ROUNDS = 16, 15


def hard_top_k(x: Tensor, k: int) -> Tensor:
    """Return m̃, 1 for the k largest values and 0 for the others; of equals the first wins.

    [lamgd Eq. 2]

    Args:
        x: (…, n) g + Φ for a sample, Φ alone at inference.
        k: how many are kept.
    """
    # A stable sort, since topk promises nothing of equals.
    order = x.argsort(dim=-1, descending=True, stable=True)
    return torch.zeros_like(x).scatter(-1, order[..., :k], 1.0)


def gumbel_noise(sites: int, groups: int, stream: torch.Generator) -> Tensor:
    """Return g of one task, (sites, n) in float64, by the inverse of its distribution."""
    uniform = torch.rand(sites, groups, generator=stream, dtype=torch.float64)
    # A draw of exactly 0 would make the noise infinite.
    return -torch.log(-torch.log(uniform.clamp(min=torch.finfo(torch.float64).tiny)))


def root(x: Tensor, k: int, tau: float) -> Tensor:
    """Return v̄, the solution of Σ_i σ((x_i + v) / τ) = k, as (…, 1).

    [lamgd Eq. 6]

    It lies between τ logit(k / n) − max x, where no term is more than k / n, and
    τ logit(k / n) − min x. The paper searches [−100, 100], which holds it only for small x.

    Args:
        x: (…, n) g + Φ, float64.
        k: more than 0 and less than n.
        tau: the temperature τ.
    """
    low = tau * math.log(k / (x.size(-1) - k)) - x.amax(dim=-1, keepdim=True)
    width = x.amax(dim=-1, keepdim=True) - x.amin(dim=-1, keepdim=True)
    shares = torch.arange(1, PARTS, dtype=x.dtype, device=x.device) / PARTS
    for _ in range(ROUNDS):
        tried = low + width * shares  # (…, PARTS − 1)
        surplus = soft_mask(x.unsqueeze(-2), tried.unsqueeze(-1), tau).sum(dim=-1) - k
        # The places below the root; of those where the sum rounds to k, half count as below.
        below = (PARTS - 1 - surplus.sign().sum(dim=-1, keepdim=True)) / 2
        width = width / PARTS
        low = low + width * below
    return low + width / 2


def soft_mask(x: Tensor, v: Tensor, tau: float) -> Tensor:
    """Return σ((x + v) / τ), which is m̂ at the root.

    [lamgd Eq. 5]

    Args:
        x: (…, n) g + Φ.
        v: (…, 1), the same for all groups.
        tau: the temperature τ.
    """
    return torch.sigmoid((x + v) / tau)


def implicit_gradient(m: Tensor, upstream: Tensor, tau: float) -> Tensor:
    """Return the gradient by x = g + Φ, given that by m̂: each (…, n).

    [lamgd Eq. 7]

    With w = m (1 − m) the Jacobian is (diag(w) − w wᵀ / Σ w) / τ; the paper's second term is the
    diagonal. It is 0 where every w is: a mask that is all 0 and 1.

    Args:
        m: m̂.
        upstream: the gradient by m̂.
        tau: the temperature τ.
    """
    w = m * (1 - m)
    whole = w.sum(dim=-1, keepdim=True)
    mean = (w * upstream).sum(dim=-1, keepdim=True) / whole
    return torch.where(whole > 0, w / tau * (upstream - mean), 0.0)


def projected_gradient(m: Tensor, upstream: Tensor, tau: float) -> Tensor:
    """Return the gradient by x with the Jacobian I − 1 wᵀ / Σ w, without the factor diag(w) / τ."""
    w = m * (1 - m)
    whole = w.sum(dim=-1, keepdim=True)
    projected = upstream - upstream.sum(dim=-1, keepdim=True) * w / whole
    return torch.where(whole > 0, projected, 0.0)


GRADIENTS: dict[str, Gradient] = {"implicit": implicit_gradient, "projected": projected_gradient}


class _SoftTopK(torch.autograd.Function):
    """m̂ and its gradient; both are computed in float64, and m̂ alone is kept between them."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, k: int, tau: float, gradient: Gradient) -> Tensor:
        exact = x.double()
        if 0 < k < x.size(-1):
            m = soft_mask(exact, root(exact, k, tau), tau)
        else:
            # The root is infinite.
            m = torch.full_like(exact, float(k > 0))
        ctx.save_for_backward(m)
        ctx.tau, ctx.gradient = tau, gradient
        return m.to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        (m,) = ctx.saved_tensors
        found = ctx.gradient(m, upstream.double(), ctx.tau)
        return found.to(upstream.dtype), None, None, None


def soft_top_k(x: Tensor, k: int, tau: float, gradient: Gradient) -> Tensor:
    """Return m̂ = argmin −xᵀm − τ H_b(m) over masks within [0, 1] whose sum is k, (…, n).

    [lamgd Eq. 4]

    As τ falls to 0 it becomes the hard top-k; equals across the k-th place share what is left.

    Args:
        x: (…, n) g + Φ.
        k: the sum, 0 … n.
        tau: the temperature τ.
        gradient: how the gradient by the mask becomes one by x.
    """
    return _SoftTopK.apply(x, k, tau, gradient)


def temperature(update: int, start: float, end: float, rate: float, every: int) -> float:
    """Return τ = max(end, start · exp(−rate · update)), at the last multiple of `every`.

    The paper prints min, with which τ would begin at its end and fall to 0.
    """
    return max(end, start * math.exp(-rate * (update - update % every)))


def entropy(phi: Tensor) -> Tensor:
    """Return H[softmax Φ] in nats, (…) of (…, n); log #Δ − H does not bound the rate (Eq. 3)."""
    log_p = torch.log_softmax(phi, dim=-1)
    return -(log_p.exp() * log_p).sum(dim=-1)


def uniform_divergence(phi: Tensor) -> Tensor:
    """Return KL(U ‖ softmax Φ) in nats, (…) of (…, n), with U uniform; it has no upper bound."""
    return -torch.log_softmax(phi, dim=-1).mean(dim=-1) - math.log(phi.size(-1))


class GroupDropout(Method):
    """Each task keeps the groups of units that a learnt distribution of its own selects.

    [lamgd Alg. 1]
    """

    def __init__(
        self,
        stack: Stack,
        *,
        groups: int,
        kept: int,
        mask_sites: str,
        forward_mask: str,
        mask_gradient: str,
        tau_start: float,
        tau_end: float,
        tau_updates: int,
        tau_every: int,
        regulariser: str,
        regulariser_weight: float,
        phi_learning_rate: float,
        phi_betas: list[float],
        phi_clip: float,
        phi_clip_each: bool,
    ):
        """Start with Φ = 0; the settings are those of the method's card.

        Raises:
            FathomError: more groups are kept than there are, or they would differ in size.
        """
        super().__init__(stack)
        if kept > groups:
            what, remedy = f"{kept} of {groups} groups cannot be kept", "keep fewer groups"
            raise FathomError(what, "method.settings.kept", remedy)
        self.kept, self.units = kept, units_per_group(stack.width, groups)
        self.forward_mask, self.gradient = forward_mask, GRADIENTS[mask_gradient]
        self.tau_start, self.tau_end = tau_start, tau_end
        self.tau_updates, self.tau_every = tau_updates, tau_every
        self.regulariser, self.regulariser_weight = regulariser, regulariser_weight
        self.phi_rate, self.phi_betas = phi_learning_rate, (phi_betas[0], phi_betas[1])
        self.phi_clip, self.phi_clip_each = phi_clip, phi_clip_each
        # What layer l reads is masked at site l − first. Outputs are masked where they are read:
        # the decoder's are its layers', the encoder's begin with the embeddings.
        self.outputs = mask_sites == "layer_outputs"
        self.first = int(self.outputs and stack.side == "decoder")
        sites = stack.layers + int(self.outputs and stack.side == "encoder")
        self.phi = nn.Parameter(torch.zeros(stack.tasks, sites, groups))
        self.tau, self.noise = tau_start, None

    def start_update(self, seed: int, update: int) -> None:
        """Draw the noise of every task, all sites at once, and set the temperature."""
        _, sites, groups = self.phi.shape
        streams = [generator(seed, update, self.stack.side, n) for n in range(self.stack.tasks)]
        noise = torch.stack([gumbel_noise(sites, groups, stream) for stream in streams])
        self.noise = noise.to(self.phi)
        rate = 1 / self.tau_updates
        self.tau = temperature(update, self.tau_start, self.tau_end, rate, self.tau_every)

    def masks(self) -> Tensor:
        """Return the masks in use, (N, sites, n): samples in training, else the hard ones of Φ."""
        if not self.training:
            return hard_top_k(self.phi, self.kept)
        if self.noise is None:
            raise RuntimeError("call start_update before the first forward pass of an update")
        soft = soft_top_k(self.phi + self.noise, self.kept, self.tau, self.gradient)
        if self.forward_mask == "soft":
            return soft
        # The hard mask's value with the soft one's gradient; the difference is 0 to the bit.
        return hard_top_k(self.phi.detach(), self.kept) + (soft - soft.detach())

    def begin(self, tasks: Tensor) -> None:
        """Gather the masks of each sentence."""
        self.sentence_masks = sentence_masks(self.masks(), tasks, self.units)

    def source(self, layer: int, outputs: Sequence[Tensor]) -> Tensor:
        """Return what a layer reads or what leaves the stack, (T, B, D), masked at its site."""
        x, site = outputs[-1], layer - self.first
        if not 0 <= site < len(self.sentence_masks):
            return x
        return x * self.sentence_masks[site].to(x.dtype)

    def losses(self, target_tokens: int, tasks: Tensor) -> dict[str, Loss]:
        """Return the regulariser, to be made small: sum over sites, mean over the update's tasks.

        The entropy is to be large, so that its value is negative.
        """
        phi = self.phi[tasks]
        value = -entropy(phi) if self.regulariser == "entropy" else uniform_divergence(phi)
        return {self.regulariser: Loss(value.sum(dim=1).mean(), self.regulariser_weight)}

    def parameter_groups(self) -> list[ParameterGroup]:
        """Return Φ, with a constant learning rate of its own."""
        return [
            ParameterGroup(
                name="phi",
                parameters=(self.phi,),
                learning_rate_multiplier=1.0,
                every=1,
                clip=self.phi_clip,
                rows_are_tasks=True,
                learning_rate=self.phi_rate,
                betas=self.phi_betas,
                clip_each=self.phi_clip_each,
            )
        ]

    def diagnostics(self) -> dict[str, Reading]:
        """Return Φ and its hard masks, by task, layer read or source of outputs, and group."""
        axes = ("task", "source" if self.outputs else "layer", "group")
        phi = self.phi.detach()
        return {"phi": Reading(axes, phi), "masks": Reading(axes, hard_top_k(phi, self.kept))}
