"""Adam for Θ, and an Adam for φ that moves only the rows of the tasks in an update."""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter

from fathom.models.hooks import ParameterGroup
from fathom.runs.settings import Adam, Training


def theta_adam(
    network: Iterable[Parameter], methods: Iterable[Parameter], training: Training
) -> torch.optim.AdamW:
    """Return Adam with decoupled weight decay over Θ; parameters without gradients do not move.

    Args:
        network: the network's own parameters.
        methods: the methods' parameters, which do not decay: mixture weights, for example, are not
            neutral at 0.
        training: the settings; the learning rate is set at every update.
    """
    groups = [
        {"params": list(network), "weight_decay": training.weight_decay},
        {"params": list(methods), "weight_decay": 0.0},
    ]
    # AdamW refuses an empty list, and Θ is empty if all weights are frozen.
    groups = [group for group in groups if group["params"]] or [{"params": [torch.zeros(0)]}]
    return torch.optim.AdamW(
        groups,
        lr=0.0,
        betas=training.adam.betas,
        eps=training.adam.eps,
        fused=True,
    )


def clip(parameters: Iterable[Parameter], limit: float) -> Tensor:
    """Clip the gradients of a group to a norm, and return their norm before.

    Args:
        parameters: the group; those without gradients are left out.
        limit: the largest norm; 0 does not clip.
    """
    with_gradient = [parameter for parameter in parameters if parameter.grad is not None]
    if not with_gradient:
        return torch.zeros(())
    bound = limit if limit > 0 else float("inf")
    return torch.nn.utils.clip_grad_norm_(with_gradient, bound)


def clip_each(parameters: Iterable[Parameter], limit: float) -> Tensor:
    """Clip each vector along the gradients' last dimension; return the norm of all before.

    Args:
        parameters: the group; those without gradients are left out.
        limit: the largest norm of a vector; 0 does not clip.
    """
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return torch.zeros(())
    total = torch.stack([gradient.norm() for gradient in gradients]).norm()
    if limit > 0:
        for gradient in gradients:
            norms = gradient.norm(dim=-1, keepdim=True)
            gradient.mul_(limit / norms.clamp(min=limit))
    return total


def rate_of(group: ParameterGroup, theta_rate: float) -> float:
    """Return a group's learning rate: a constant, or a multiple of Θ's."""
    if group.learning_rate is not None:
        return group.learning_rate
    return theta_rate * group.learning_rate_multiplier


class LazyAdam:
    """Adam for the parameters of gates, row by row: the rows of absent tasks do not move.

    It equals Adam if all tasks are in every update. Bias correction counts the steps of each row.
    """

    def __init__(self, group: ParameterGroup, adam: Adam):
        """Start with moments at zero.

        Args:
            group: the parameters; with `rows_are_tasks` each is (N, …), else it is one row.
            adam: the constants; the group's own betas come first.
        """
        self.group, self.betas, self.eps = group, group.betas or adam.betas, adam.eps
        self.first = [torch.zeros_like(parameter) for parameter in group.parameters]
        self.second = [torch.zeros_like(parameter) for parameter in group.parameters]
        # On the CPU, as the tasks of an update are: counting needs no transfer.
        self.steps = [
            torch.zeros(len(parameter) if group.rows_are_tasks else 1)
            for parameter in group.parameters
        ]

    @torch.no_grad()
    def step(self, learning_rate: float, present: Tensor) -> None:
        """Move the rows of the present tasks.

        Args:
            learning_rate: of φ.
            present: (n,) the tasks of the update, on the CPU.
        """
        rows = present if self.group.rows_are_tasks else torch.zeros(1, dtype=torch.long)
        for position, parameter in enumerate(self.group.parameters):
            if parameter.grad is not None:
                self._move(position, parameter, parameter.grad, rows, learning_rate)

    def _move(
        self, position: int, parameter: Parameter, gradient: Tensor, rows: Tensor, rate: float
    ) -> None:
        tensors = (parameter, gradient, self.first[position], self.second[position])
        if not self.group.rows_are_tasks:
            tensors = tuple(tensor.unsqueeze(0) for tensor in tensors)
        value, gradient, first, second = tensors
        decay_first, decay_second = self.betas
        steps = self.steps[position]
        steps[rows] += 1
        count = steps[rows].to(parameter.device)
        count = count.view(-1, *[1] * (value.dim() - 1))  # (n, 1, …)
        rows = rows.to(parameter.device)
        gradient = gradient[rows]
        first[rows] = decay_first * first[rows] + (1 - decay_first) * gradient
        second[rows] = decay_second * second[rows] + (1 - decay_second) * gradient**2
        mean = first[rows] / (1 - decay_first**count)
        root = (second[rows] / (1 - decay_second**count)).sqrt() + self.eps
        value[rows] -= rate * mean / root

    def state_dict(self) -> dict[str, list[Tensor]]:
        """Return moments and counts, as plain tensors."""
        return {"first": self.first, "second": self.second, "steps": self.steps}

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        """Restore moments and counts."""
        for name, own in (("first", self.first), ("second", self.second), ("steps", self.steps)):
            for tensor, saved in zip(own, state[name], strict=True):
                tensor.copy_(saved)
