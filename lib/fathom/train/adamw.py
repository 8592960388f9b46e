"""AdamW over Θ: torch's fused kernel, without torch.optim around it.

torch.optim's constructor imports torch's compiler, which takes longer than building a network. The
state is that of torch.optim.AdamW, and each of the two can load the other's.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from fathom.config.schema.run import Adam, TrainingSettings


class AdamW:
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019, Alg. 2).

    Parameters without gradients do not move, and their steps are not counted.

    Attributes:
        groups: the parameters of each group, with their weight decay.
        state: of each parameter that has moved: "step", "exp_avg" and "exp_avg_sq".
    """

    def __init__(self, groups: Iterable[tuple[Iterable[Tensor], float]], adam: Adam):
        """Start without moments; a parameter gets them when it first has a gradient.

        Args:
            groups: parameters and their weight decay.
            adam: the constants.
        """
        self.groups: list[tuple[list[Tensor], float]] = [
            (list(parameters), decay) for parameters, decay in groups
        ]
        self.adam, self.rate = adam, 0.0
        self.state: dict[Tensor, dict[str, Tensor]] = {}

    @torch.no_grad()
    def step(self, rate: float, finite: Tensor) -> None:
        """Move all parameters with gradients, or none of them.

        Args:
            rate: the learning rate.
            finite: (), whether anything moves; it stays on the device.
        """
        self.rate = rate
        taken = finite.float()
        for parameters, decay in self.groups:
            moving = [one for one in parameters if one.grad is not None]
            if not moving:
                continue
            states = [self._state_of(parameter) for parameter in moving]
            steps = [state["step"] for state in states]
            torch._foreach_add_(steps, taken)  # pyright: ignore[reportPrivateImportUsage]
            torch._fused_adamw_(  # pyright: ignore[reportPrivateImportUsage]
                moving,
                [one.grad for one in moving if one.grad is not None],
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
                {"weight_decay": decay, "params": [numbers[one] for one in parameters]} | settings
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

    Args:
        network: the network's own parameters.
        methods: the methods' parameters, which do not decay: mixture weights, for example, are not
            neutral at 0.
        training: the settings; the learning rate is given at every update.
    """
    return AdamW([(network, training.weight_decay), (methods, 0.0)], training.adam)
