"""AdamW for Θ, an Adam for φ that moves only the rows of present tasks; clipping, loss scale."""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter

from fathom.config.schema.run import Adam, TrainingSettings
from fathom.nn.hooks import ParameterGroup


def clip(parameters: Iterable[Parameter], limit: float) -> Tensor:
    """Clip the gradients of a group to a norm, or not at all (0); return their norm before."""
    with_gradient = [parameter for parameter in parameters if parameter.grad is not None]
    if not with_gradient:
        return torch.zeros(())
    bound = limit if limit > 0 else float("inf")
    return torch.nn.utils.clip_grad_norm_(with_gradient, bound)


def clip_each(parameters: Iterable[Parameter], limit: float) -> Tensor:
    """Clip each vector along the gradients' last dimension, or none (0).

    Returns the norm of all before.
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


class LossScale:
    """The factor of an update's loss in float16, by the rules of fairseq's DynamicLossScaler.

    It multiplies the sum over all tokens, as there: the mean's gradients would be 0 in float16. The
    window is fairseq's for one device; with several it divides by their number.
    """

    START, LEAST, WINDOW = 128.0, 1e-4, 2**14

    def __init__(self, device: torch.device):
        self.scale = torch.tensor(self.START, device=device)
        self.clean = torch.zeros((), dtype=torch.int64, device=device)  # updates since an overflow

    def unscale(self, parameters: Iterable[Parameter], tokens: int) -> None:
        """Divide gradients of the scaled loss of all tokens, for those of the mean of a token."""
        gradients = [each.grad for each in parameters if each.grad is not None]
        torch._foreach_div_(gradients, self.scale * tokens)  # pyright: ignore[reportPrivateImportUsage]

    def update(self, finite: Tensor) -> None:
        """Double the scale after WINDOW updates with finite gradients, (); halve it at others."""
        self.clean = torch.where(finite, self.clean + 1, 0)
        grown = torch.where(self.clean % self.WINDOW == 0, 2.0, 1.0)
        self.scale = self.scale * torch.where(finite, grown, 0.5)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the scale and the count, as plain tensors."""
        return {"scale": self.scale, "clean": self.clean}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Restore the scale and the count."""
        self.scale, self.clean = (state[key].to(self.scale.device) for key in ("scale", "clean"))


def rate_of(group: ParameterGroup, theta_rate: float) -> float:
    """Return a group's learning rate: a constant, or a multiple of Θ's."""
    if group.learning_rate is not None:
        return group.learning_rate
    return theta_rate * group.learning_rate_multiplier


class LazyAdam:
    """Adam for the parameters of gates, row by row: the rows of absent tasks do not move.

    It equals Adam if all tasks are in every update. Bias correction counts the steps of each row.
    With `rows_are_tasks` each parameter of the group is (N, …), else it is one row.
    """

    def __init__(self, group: ParameterGroup, adam: Adam):
        self.group, self.betas, self.eps = group, group.betas or adam.betas, adam.eps
        self.first = [torch.zeros_like(parameter) for parameter in group.parameters]
        self.second = [torch.zeros_like(parameter) for parameter in group.parameters]
        self.steps = [
            torch.zeros(len(parameter) if group.rows_are_tasks else 1, device=parameter.device)
            for parameter in group.parameters
        ]

    @torch.no_grad()
    def step(self, rate: float, present: Tensor, finite: Tensor) -> None:
        """Move the rows of the tasks of the update, (n,), or nothing; `finite`, (), says which.

        Both stay on the device of the parameters.
        """
        rows = present if self.group.rows_are_tasks else present.new_zeros(1)
        decay_first, decay_second = self.betas
        for place, parameter in enumerate(self.group.parameters):
            if parameter.grad is None:
                continue
            tensors = (parameter, parameter.grad, self.first[place], self.second[place])
            if not self.group.rows_are_tasks:
                tensors = tuple(tensor.unsqueeze(0) for tensor in tensors)
            value, gradient, first, second = tensors
            steps, gradient = self.steps[place], gradient[rows]
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
        for name, tensors in self.state_dict().items():
            for tensor, saved in zip(tensors, state[name], strict=True):
                tensor.copy_(saved)


class AdamW:
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019, Alg. 2), by a fused kernel.

    torch.optim's constructor imports torch's compiler, which takes longer than building a network.
    The state is that of torch.optim.AdamW, and each of the two can load the other's. Parameters
    without gradients do not move, and their steps are not counted.
    """

    def __init__(self, groups: Iterable[tuple[Iterable[Tensor], float]], adam: Adam):
        self.groups: list[tuple[list[Tensor], float]] = [
            (list(parameters), decay) for parameters, decay in groups
        ]
        self.adam, self.rate = adam, 0.0
        self.state: dict[Tensor, dict[str, Tensor]] = {}

    @torch.no_grad()
    def step(self, rate: float, finite: Tensor) -> None:
        """Move all parameters with gradients, or none; `finite`, (), stays on the device."""
        self.rate = rate
        taken = finite.float()
        for parameters, decay in self.groups:
            moving = [parameter for parameter in parameters if parameter.grad is not None]
            if not moving:
                continue
            states = [self._state_of(parameter) for parameter in moving]
            steps = [state["step"] for state in states]
            # Without alpha torch reads the number `taken`, and the host waits for it.
            torch._foreach_add_(steps, taken, alpha=1.0)  # pyright: ignore[reportPrivateImportUsage]
            torch._fused_adamw_(  # pyright: ignore[reportPrivateImportUsage]
                moving,
                [parameter.grad for parameter in moving if parameter.grad is not None],
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                [],
                steps,
                lr=rate,
                beta1=self.adam.betas[0],
                beta2=self.adam.betas[1],
                weight_decay=decay,
                eps=self.adam.eps,
                amsgrad=False,
                maximize=False,
                found_inf=1 - taken,
            )

    def _state_of(self, parameter: Tensor) -> dict[str, Tensor]:
        if parameter not in self.state:
            self.state[parameter] = {
                "step": torch.zeros((), device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        return self.state[parameter]

    def state_dict(self) -> dict:
        """Return the state as torch.optim.AdamW does, parameters by their number."""
        numbers = {parameter: number for number, parameter in enumerate(self._parameters)}
        settings = {"lr": self.rate, "betas": self.adam.betas, "eps": self.adam.eps, "fused": True}
        return {
            "state": {numbers[parameter]: state for parameter, state in self.state.items()},
            "param_groups": [
                {"weight_decay": decay, "params": [numbers[p] for p in parameters]} | settings
                for parameters, decay in self.groups
            ],
        }

    def load_state_dict(self, state: dict) -> None:
        """Restore steps and moments; settings are those of the run."""
        parameters = self._parameters
        self.rate = next((group["lr"] for group in state["param_groups"]), 0.0)
        self.state = {
            parameters[number]: {
                name: saved.to(parameters[number].device, copy=True)
                for name, saved in of_parameter.items()
            }
            for number, of_parameter in state["state"].items()
        }

    @property
    def _parameters(self) -> list[Tensor]:
        return [parameter for parameters, _ in self.groups for parameter in parameters]


def theta_adam(
    network: Iterable[Tensor], methods: Iterable[Tensor], training: TrainingSettings
) -> AdamW:
    """Return the optimiser of Θ.

    The methods' parameters do not decay: mixture weights, for example, are not neutral at 0.
    """
    return AdamW([(network, training.weight_decay), (methods, 0.0)], training.adam)
