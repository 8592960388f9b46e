"""Clipping, and an Adam for φ that moves only the rows of the tasks in an update."""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter

from fathom.config.schema.run import Adam
from fathom.nn.hooks import ParameterGroup


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
        self.steps = [
            torch.zeros(len(one) if group.rows_are_tasks else 1, device=one.device)
            for one in group.parameters
        ]

    @torch.no_grad()
    def step(self, learning_rate: float, present: Tensor, finite: Tensor) -> None:
        """Move the rows of the present tasks, or nothing.

        Args:
            learning_rate: of φ.
            present: (n,) the tasks of the update.
            finite: (), whether anything moves; it stays on the device.
        """
        rows = present if self.group.rows_are_tasks else torch.zeros(1, dtype=torch.long)
        for position, parameter in enumerate(self.group.parameters):
            if parameter.grad is not None:
                here = rows.to(parameter.device, non_blocking=True)
                self._move(position, parameter, parameter.grad, here, learning_rate, finite)

    def _move(
        self,
        position: int,
        parameter: Parameter,
        gradient: Tensor,
        rows: Tensor,
        rate: float,
        finite: Tensor,
    ) -> None:
        tensors = (parameter, gradient, self.first[position], self.second[position])
        if not self.group.rows_are_tasks:
            tensors = tuple(tensor.unsqueeze(0) for tensor in tensors)
        value, gradient, first, second = tensors
        steps, gradient = self.steps[position], gradient[rows]
        decay_first, decay_second = self.betas
        counted = steps[rows] + 1
        mean = decay_first * first[rows] + (1 - decay_first) * gradient
        square = decay_second * second[rows] + (1 - decay_second) * gradient**2
        count = counted.view(-1, *[1] * (value.dim() - 1))  # (n, 1, …)
        root = (square / (1 - decay_second**count)).sqrt() + self.eps
        moved = value[rows] - rate * (mean / (1 - decay_first**count)) / root
        for tensor, new in ((steps, counted), (first, mean), (second, square), (value, moved)):
            tensor[rows] = torch.where(finite, new, tensor[rows])

    def state_dict(self) -> dict[str, list[Tensor]]:
        """Return moments and counts, as plain tensors."""
        return {"first": self.first, "second": self.second, "steps": self.steps}

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        """Restore moments and counts."""
        for name, own in (("first", self.first), ("second", self.second), ("steps", self.steps)):
            for tensor, saved in zip(own, state[name], strict=True):
                tensor.copy_(saved)
