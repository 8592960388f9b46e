"""Record arrays of a training for figures: one packed table for each quantity.

Only some updates are recorded; the others cost nothing, since no observer is set and no tensor has
a hook. Each MEMBER updates are written together, as one gzip member. What is not written yet is a
part of the training's state, so that stops and checkpoints change no byte of the tables.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, product
from pathlib import Path

import torch
from torch import Tensor, nn

from fathom.io import series
from fathom.nn.hooks import DiagnosticArray
from fathom.nn.network import Network
from fathom.train.ranks import Ranks

SUFFIX = ".tsv.gz"
# Updates of a gzip member.
MEMBER = 500
# The stack whose first and last layers are compared.
COMPARED = "encoder"


# The name and axes of a quantity, and the labels of each of its values.
_Quantity = tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]
# An update, its quantities, and their values in this order: plain, as a checkpoint keeps them.
_Record = tuple[int, list[_Quantity], Tensor]


class Diagnostics:
    """Records the first updates, and then every n-th (0: none), in `<stack>_<name>.tsv.gz`."""

    def __init__(
        self, network: Network, tasks: Sequence[str], folder: Path, every: int, first: int
    ):
        self.network, self.tasks, self.folder = network, tuple(tasks), folder
        self.every, self.first = every, first
        self.recording = False
        self._squares = torch.zeros(2, dtype=torch.float64)
        self._quantities: dict[tuple[str, str, tuple[int, ...]], _Quantity] = {}
        self._recorded: list[_Record] = []
        self._on_device: list[_Record] = []

    def start_update(self, update: int) -> None:
        """Set the observer if the update is recorded; called before its first forward pass."""
        self.recording = update <= self.first or (self.every > 0 and update % self.every == 0)
        if self.recording:
            stack = self.network.stacks[COMPARED]
            device = next(stack.parameters()).device
            self._squares = torch.zeros(2, dtype=torch.float64, device=device)
            stack.observer = self._observe

    def _observe(self, outputs: Sequence[Tensor]) -> None:
        """Hook the gradients at the outputs of the first and the last layer."""
        for place, output in enumerate((outputs[1], outputs[-1])):
            if output.requires_grad:
                output.register_hook(partial(self._add, place))

    def _add(self, place: int, gradient: Tensor) -> None:
        norm = torch.linalg.vector_norm(gradient.detach(), dtype=torch.float64)
        self._squares[place] += norm.square()

    @torch.no_grad()
    def end_update(self, update: int, ranks: Ranks) -> None:
        """Record an update, if it is due; called in all processes.

        Gradients must be summed over the processes and not yet clipped.
        """
        if not self.recording:
            return
        self.recording = False
        self.network.stacks[COMPARED].observer = None
        # The sums are over all positions of the update; roots and ratio come afterwards.
        squares = ranks.sum(self._squares)
        if ranks.is_main:
            # The arrays stay on the device until they are written.
            readings = list(self._readings(squares))
            quantities = [self._quantity(*reading) for reading in readings]
            values = [reading.values.detach().reshape(-1).float() for _, _, reading in readings]
            self._on_device.append((update, quantities, torch.cat(values)))

    def _readings(self, squares: Tensor) -> Iterator[tuple[str, str, DiagnosticArray]]:
        """Yield stack, name and array of each quantity."""
        for name, stack in self.network.stacks.items():
            norms = layer_gradient_norms(stack.layers)
            yield name, "gradient_norm", DiagnosticArray(("layer",), norms)
            for quantity, reading in stack.method.diagnostics().items():
                yield name, quantity, reading
            if name == COMPARED and stack.method.stack.layers > 1:
                yield name, "gradient_ratio", DiagnosticArray((), gradient_ratio(*squares))

    def drop_after(self, update: int) -> None:
        """Drop what was recorded after an update."""
        self._recorded = [record for record in self.state() if record[0] <= update]

    def state(self) -> list[_Record]:
        """Return what was recorded and is not written yet, as a checkpoint keeps it.

        It is moved from the device with one transfer.
        """
        if self._on_device:
            updates, quantities, values = zip(*self._on_device, strict=True)
            parts = torch.cat(values).cpu().split([len(of_update) for of_update in values])
            # Copies: a checkpoint would hold the complete tensor of which these are parts.
            copies = [part.clone() for part in parts]
            self._recorded += zip(updates, quantities, copies, strict=True)
            self._on_device = []
        return self._recorded

    def _quantity(self, stack: str, name: str, reading: DiagnosticArray) -> _Quantity:
        """Return the description of a quantity; it is made once for all updates."""
        shape = tuple(reading.values.shape)
        key = stack, name, shape
        if key not in self._quantities:
            layers = self.network.methods[stack].stack.layers
            axes = zip(reading.axes, shape, strict=True)
            labels = [labels_of(axis, size, layers, self.tasks) for axis, size in axes]
            self._quantities[key] = (f"{stack}_{name}", reading.axes, tuple(product(*labels)))
        return self._quantities[key]

    def write(self, complete: int | None = None) -> None:
        """Append what is not written yet: all, or only the members complete by an update."""
        for member, records in groupby(self.state(), lambda record: _member(record[0])):
            if complete is None or member * MEMBER <= complete:
                self._append(records)
        self._recorded = [
            record
            for record in self._recorded
            if complete is not None and _member(record[0]) * MEMBER > complete
        ]

    def _append(self, records: Iterable[_Record]) -> None:
        """Append records to their tables, as one member of each."""
        rows: dict[str, list[series.Row]] = {}
        axes: dict[str, tuple[str, ...]] = {}
        for update, quantities, values in records:
            parts = values.split([len(labels) for _, _, labels in quantities])
            for (name, of_axes, labels), part in zip(quantities, parts, strict=True):
                axes[name] = of_axes
                rows.setdefault(name, []).extend(
                    (update, place, value)
                    for place, value in zip(labels, part.tolist(), strict=True)
                )
        for name, of_quantity in rows.items():
            series.append(self.folder / f"{name}{SUFFIX}", axes[name], of_quantity)

    def resume(self, update: int, state: list) -> list[str]:
        """Go back to a checkpoint's update and state; return the names of tables with damaged rows.

        What was written after the update is dropped.
        """
        self._recorded = list(state)
        # What the state has may have been written since.
        written = min((number for number, _, _ in state), default=update + 1) - 1
        paths = sorted(self.folder.glob(f"*{SUFFIX}"))
        return [path.name for path in paths if series.cut(path, written)]


def _member(update: int) -> int:
    """Return the number of the member that an update belongs to, from 1."""
    return 1 + (update - 1) // MEMBER


def layer_gradient_norms(layers: Iterable[nn.Module]) -> Tensor:
    """Return the Euclidean norm of each layer's gradient over all of its parameters, (L,).

    It is NaN for a layer none of whose parameters has a gradient.
    """
    norms = []
    for layer in layers:
        parameters = list(layer.parameters())
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        missing = torch.full((), torch.nan, device=parameters[0].device)
        norms.append(nn.utils.get_total_norm(gradients) if gradients else missing)
    return torch.stack(norms)


def gradient_ratio(first: Tensor, last: Tensor) -> Tensor:
    """Return r_t, the norm of the loss's gradient at the first layer's output over the last's.

    [transparent_attention r_t]

    `first` is the sum of squares of ∂L/∂h¹ over all positions of the update, `last` of ∂L/∂h^N.
    """
    return first.sqrt() / last.sqrt()


def labels_of(axis: str, size: int, layers: int, tasks: Sequence[str]) -> list[str]:
    """Return the labels of an axis in a table.

    Tasks have their names. Layers, groups and memories count from 1. Source i is the output of
    layer i, and source 0 the embeddings, if they are among the sources.
    """
    if axis == "task":
        return [name for _, name in zip(range(size), tasks, strict=True)]
    start = layers + 1 - size if axis == "source" else 1
    return [str(start + place) for place in range(size)]
