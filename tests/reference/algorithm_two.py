"""Algorithm 2 of latent_depth in plain torch: one language after another, as it is printed."""

import torch
from torch import Tensor

from tests.reference.padded.networks import padded_logits

ADAM = {"betas": (0.9, 0.98), "eps": 1e-6}


def language_loss(network, alphas, z, batch, n, tokens, beta, per_token):
    """Return language n's part of the objective: its smoothed NLL and β KL.

    The KL is its mean over layers, or its share of each token of a language.
    """

    def gated(side):
        return lambda layer, x, y: x + z[side][n, layer] * (y - x)

    for side, method in network.methods.items():
        method.begin, method.block = lambda *_: None, gated(side)
    logits = padded_logits(network, batch.source, batch.previous_target, batch.tasks)
    real = batch.target.ne(1)
    log_p, target = torch.log_softmax(logits, dim=-1)[real], batch.target[real]
    others = 0.1 / (log_p.size(-1) - 1)
    right = log_p.gather(1, target[:, None]).sum()
    nll = -(0.9 * right + others * (log_p.sum() - right))
    kl = 0.0
    for alpha in alphas.values():
        q = torch.sigmoid(alpha[n])
        total = (q * torch.log(2 * q) + (1 - q) * torch.log(2 - 2 * q)).sum()
        kl = kl + total / (tokens / len(alpha) if per_token else len(q))
    return nll / tokens + beta * kl / len(alphas["decoder"])


def train(
    network, data, noise, updates: int, inner: int, rate, beta=1.0, weight=0.1, target=1.0,
    per_token=False, multiplier=1.0, clip_phi=1.0,
):  # fmt: skip
    """Make `updates` updates of Θ, of which every `inner`-th moves φ, in place; return losses.

    Args:
        network: an encoder-decoder without dropout; its methods' `alpha` is φ, (N, L) each.
        data: update → one batch for each language.
        noise: update → ε by side, (N, L), before the samples at temperature 1 are taken.
        rate: update → η of Θ; that of φ is `multiplier` times as high.
    """
    alphas: dict[str, Tensor] = {side: each.alpha for side, each in network.methods.items()}
    theta = [each for name, each in network.named_parameters() if not name.endswith("alpha")]
    adam = torch.optim.Adam(theta, **ADAM)
    adam_phi = [torch.optim.Adam([alpha], **ADAM) for alpha in alphas.values()]
    losses = []
    for number in range(1, updates + 1):
        network.zero_grad()
        z = {side: torch.sigmoid(alphas[side] + noise(number)[side]) for side in alphas}
        batches = data(number)
        tokens = sum(batch.tokens for batch in batches)
        loss = weight * (z["decoder"].mean(dim=0).sum() - target).abs()
        for n, batch in enumerate(batches):
            loss = loss + language_loss(network, alphas, z, batch, n, tokens, beta, per_token)
        loss.backward()
        losses.append(loss.item())
        moved = [(adam, theta, 1.0, rate(number))]
        if number % inner == 0:
            for each, alpha in zip(adam_phi, alphas.values(), strict=True):
                moved.append((each, [alpha], clip_phi, multiplier * rate(number)))
        for optimiser, parameters, clip, eta in moved:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
            optimiser.param_groups[0]["lr"] = eta
            optimiser.step()
    return losses
