"""The class that connects the equations of latent group dropout to the hooks."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from fathom.io.errors import FathomError
from fathom.methods.group_dropout.equations import (
    GRADIENTS,
    entropy,
    gumbel_noise,
    hard_top_k,
    soft_top_k,
    temperature,
    uniform_divergence,
)
from fathom.methods.shared.group_masks import unit_masks, units_per_group
from fathom.nn.device import to_device
from fathom.nn.hooks import DiagnosticArray, Loss, Method, ParameterGroup, Stack, generator


class GroupDropout(Method):
    """Each task keeps the groups of units that its learnt distribution selects.

    [lamgd Alg. 1]

    Φ is 0 at first; config/methods/group_dropout.yaml names and describes the settings.
    """

    def __init__(self, stack: Stack, **settings: Any):
        super().__init__(stack)
        self.settings = SimpleNamespace(**settings)
        groups, active = self.settings.groups, self.settings.active
        if active > groups:
            what, remedy = f"{active} of {groups} groups cannot be on", "use fewer groups"
            raise FathomError(what, "method.settings.active", remedy)
        self.units = units_per_group(stack.width, groups)
        # The input of layer l is masked at site l − first. Outputs are masked where they are read:
        # in the decoder the outputs of layers, in the encoder the embeddings too.
        self.outputs = self.settings.mask_sites == "layer_outputs"
        self.first = int(self.outputs and stack.name == "decoder")
        sites = stack.layers + int(self.outputs and stack.name == "encoder")
        self.phi = nn.Parameter(torch.zeros(stack.tasks, sites, groups))
        self.tau, self.noise = self.settings.tau_start, None

    def start_update(self, seed: int, update: int) -> None:
        """Draw the noise of every task, all sites at once, and set the temperature."""
        _, sites, groups = self.phi.shape
        streams = [generator(seed, update, self.stack.name, n) for n in range(self.stack.tasks)]
        noise = torch.stack([gumbel_noise(sites, groups, stream) for stream in streams])
        self.noise = to_device(noise.to(self.phi.dtype), self.phi.device)
        settings, rate = self.settings, 1 / self.settings.tau_updates
        start, end = settings.tau_start, settings.tau_end
        self.tau = temperature(update, start, end, rate, settings.tau_every)

    def masks(self) -> Tensor:
        """Return the masks in use, (N, sites, n): samples in training, else hard masks of Φ."""
        active = self.settings.active
        if not self.training:
            return hard_top_k(self.phi, active)
        if self.noise is None:
            raise RuntimeError("call start_update before the first forward pass of an update")
        gradient = GRADIENTS[self.settings.mask_gradient]
        soft = soft_top_k(self.phi + self.noise, active, self.tau, gradient)
        if self.settings.forward_mask == "soft":
            return soft
        # The hard mask's value with the soft mask's gradient; the difference is exactly 0.
        return hard_top_k(self.phi.detach(), active) + (soft - soft.detach())

    def begin(self, tasks: Tensor, counts: Mapping[int, int] | None = None) -> None:
        """Compute the masks of each task; a site selects those of the sentences when it is used.

        All sites at once would hold as much as all hidden states.
        """
        self.task_masks, self.tasks = unit_masks(self.masks(), self.units), tasks

    def source(self, layer: int, outputs: Sequence[Tensor]) -> Tensor:
        """Return a layer's input or the stack's output, (T, B, D), masked at its site."""
        x, site = outputs[-1], layer - self.first
        if not 0 <= site < len(self.task_masks):
            return x
        return x * self.task_masks[site].index_select(0, self.tasks).to(x.dtype)

    def losses(self, target_tokens: int, tasks: Tensor) -> dict[str, Loss]:
        """Return the regulariser: sum over sites, mean over the tasks in the update.

        The entropy is maximised, so its value is negative.
        """
        phi = self.phi[tasks]
        name, weight = self.settings.regulariser, self.settings.regulariser_weight
        value = -entropy(phi) if name == "entropy" else uniform_divergence(phi)
        return {name: Loss(value.sum(dim=1).mean(), weight)}

    def parameter_groups(self) -> list[ParameterGroup]:
        """Return Φ, which has a constant learning rate."""
        first, second = self.settings.phi_betas
        return [
            ParameterGroup(
                name="phi",
                parameters=(self.phi,),
                learning_rate_multiplier=1.0,
                every=1,
                clip=self.settings.phi_clip,
                rows_are_tasks=True,
                learning_rate=self.settings.phi_learning_rate,
                betas=(first, second),
                clip_each=self.settings.phi_clip_each,
            )
        ]

    def diagnostics(self) -> dict[str, DiagnosticArray]:
        """Return Φ and its hard masks, by task, site and group."""
        axes = ("task", "source" if self.outputs else "layer", "group")
        phi = self.phi.detach()
        return {
            "phi": DiagnosticArray(axes, phi),
            "masks": DiagnosticArray(axes, hard_top_k(phi, self.settings.active)),
        }
