"""Θ's optimiser is torch's Adam; φ's moves only the rows of tasks that an update holds."""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter

from fathom.models.hooks import ParameterGroup
from fathom.runs.spec import Training


def theta_adam(
    network: Iterable[Parameter], methods: Iterable[Parameter], training: Training
) -> torch.optim.AdamW:
    """Return Adam with decoupled weight decay over Θ; a parameter without a gradient rests.

    Args:
        network: the network's own part of Θ.
        methods: what methods add to it, which does not decay: mixture weights, for example, have
            their neutral state at 0.
        training: the settings; the learning rate is set at every update.
    """
    groups = [
        {"params": list(network), "weight_decay": training.weight_decay},
        {"params": list(methods), "weight_decay": 0.0},
    ]
    # An optimiser of nothing is refused; where all weights are frozen, Θ is empty.
    given = [group for group in groups if group["params"]] or [{"params": [torch.zeros(0)]}]
    return torch.optim.AdamW(
        given,
        lr=0.0,
        betas=training.adam_betas,
        eps=training.adam_eps,
        fused=True,
    )


def clip(parameters: Iterable[Parameter], limit: float) -> Tensor:
    """Scale the gradients of a group down to a norm, and return the norm that they had.

    Args:
        parameters: the group; those without a gradient do not count.
        limit: the largest norm; 0 leaves the gradients as they are.
    """
    with_gradient = [each for each in parameters if each.grad is not None]
    if not with_gradient:
        return torch.zeros(())
    bound = limit if limit > 0 else float("inf")
    return torch.nn.utils.clip_grad_norm_(with_gradient, bound)


def clip_each(parameters: Iterable[Parameter], limit: float) -> Tensor:
    """Scale each vector of the gradients' last dimension down to a norm; return the whole norm.

    Args:
        parameters: the group; those without a gradient do not count.
        limit: the largest norm of a vector; 0 leaves the gradients as they are.
    """
    gradients = [each.grad for each in parameters if each.grad is not None]
    if not gradients:
        return torch.zeros(())
    whole = torch.stack([each.norm() for each in gradients]).norm()
    if limit > 0 and torch.isfinite(whole):
        for gradient in gradients:
            norms = gradient.norm(dim=-1, keepdim=True)
            gradient.mul_(limit / norms.clamp(min=limit))
    return whole


def rate_of(group: ParameterGroup, theta_rate: float) -> float:
    """Return a group's learning rate: a constant of its own, or a multiple of Θ's."""
    if group.learning_rate is not None:
        return group.learning_rate
    return theta_rate * group.learning_rate_multiplier


class LazyAdam:
    """Adam for the parameters of gates, row by row: absent tasks' rows and moments rest.

    Where all tasks are in every update it is Adam. Bias correction counts each row's own steps.
    """

    def __init__(self, group: ParameterGroup, betas: tuple[float, float], eps: float):
        """Start with moments at zero.

        Args:
            group: the parameters; with `rows_are_tasks` each is (N, …), else it moves as a whole.
            betas: decay rates of the first and second moments, where the group has none.
            eps: added to the root of the second moment.
        """
        self.group, self.betas, self.eps = group, group.betas or betas, eps
        self.first = [torch.zeros_like(each) for each in group.parameters]
        self.second = [torch.zeros_like(each) for each in group.parameters]
        self.steps = [
            torch.zeros(len(each) if group.rows_are_tasks else 1) for each in group.parameters
        ]

    @torch.no_grad()
    def step(self, learning_rate: float, present: Tensor) -> None:
        """Move the rows of the present tasks.

        Args:
            learning_rate: φ's own.
            present: (n,) the tasks of the update.
        """
        for position, parameter in enumerate(self.group.parameters):
            if parameter.grad is None:
                continue
            if self.group.rows_are_tasks:
                rows = present.to(parameter.device)
            else:
                rows = torch.zeros(1, dtype=torch.long, device=parameter.device)
            self._move(position, parameter, rows, learning_rate)

    def _move(self, position: int, parameter: Parameter, rows: Tensor, rate: float) -> None:
        whole = self.group.rows_are_tasks
        value = parameter if whole else parameter.unsqueeze(0)
        gradient = parameter.grad if whole else parameter.grad.unsqueeze(0)
        first = self.first[position] if whole else self.first[position].unsqueeze(0)
        second = self.second[position] if whole else self.second[position].unsqueeze(0)
        decay_first, decay_second = self.betas
        gradient = gradient[rows]
        steps = self.steps[position]
        steps[rows.cpu()] += 1
        count = steps[rows.cpu()].to(parameter.device)
        count = count.view(-1, *[1] * (value.dim() - 1))  # (n, 1, …)
        first[rows] = decay_first * first[rows] + (1 - decay_first) * gradient
        second[rows] = decay_second * second[rows] + (1 - decay_second) * gradient**2
        mean = first[rows] / (1 - decay_first**count)
        root = (second[rows] / (1 - decay_second**count)).sqrt() + self.eps
        value[rows] -= rate * mean / root

    def state_dict(self) -> dict[str, list[Tensor]]:
        """Return moments and counts, as plain tensors."""
        return {"first": self.first, "second": self.second, "steps": self.steps}

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        """Take over moments and counts."""
        for name, own in (("first", self.first), ("second", self.second), ("steps", self.steps)):
            for mine, saved in zip(own, state[name], strict=True):
                mine.copy_(saved)
