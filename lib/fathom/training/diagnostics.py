"""What the figures show of a training besides its metrics: one packed table for each quantity.

Only some updates are looked at. The others cost nothing: the stacks call nobody, and no tensor has
a hook. A quantity stays in memory until the state of the training is saved, so that the tables end
where the newest checkpoint does.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import torch
from torch import Tensor, nn

from fathom.io import series
from fathom.models.hooks import Reading
from fathom.models.network import Network
from fathom.training.ranks import Ranks

SUFFIX = ".tsv.gz"
# The stack whose first and last layers are compared.
COMPARED = "encoder"


@dataclass(frozen=True)
class _Kind:
    """What is the same of one quantity in all updates."""

    name: str
    axes: tuple[str, ...]
    places: tuple[tuple[str, ...], ...]


class Diagnostics:
    """Looks at some updates, and keeps what it saw in `<side>_<name>.tsv.gz`.

    Attributes:
        watching: whether the update that is being made is looked at.
    """

    def __init__(
        self, network: Network, tasks: Sequence[str], folder: Path, every: int, first: int
    ):
        """Look at nothing yet.

        Args:
            network: the network that is trained.
            tasks: the names of its tasks, in their order.
            folder: where the tables stand.
            every: each update that is a multiple of it is looked at; 0 for none.
            first: each of so many first updates is looked at.
        """
        self.network, self.tasks, self.folder = network, tuple(tasks), folder
        self.every, self.first = every, first
        self.watching = False
        self._squares: Tensor | None = None
        self._kinds: dict[tuple[str, str, tuple[int, ...]], _Kind] = {}
        self._seen: list[tuple[int, list[_Kind], Tensor]] = []

    def due(self, update: int) -> bool:
        """Return whether an update is looked at; updates count from 1."""
        return update <= self.first or (self.every > 0 and update % self.every == 0)

    def watch(self, update: int) -> None:
        """Prepare to look at an update, before its first forward pass."""
        self.watching = self.due(update)
        if self.watching and COMPARED in self.network.sides:
            stack = self.network.sides[COMPARED]
            device = next(stack.parameters()).device
            self._squares = torch.zeros(2, dtype=torch.float64, device=device)
            stack.watch = self._see

    def _see(self, outputs: Sequence[Tensor]) -> None:
        """Ask for the gradients at the outputs of the first layer and of the last."""
        for place, output in enumerate((outputs[1], outputs[-1])):
            if output.requires_grad:
                output.register_hook(partial(self._add, place))

    def _add(self, place: int, gradient: Tensor) -> None:
        norm = torch.linalg.vector_norm(gradient.detach(), dtype=torch.float64)
        self._squares[place] += norm.square()

    @torch.no_grad()
    def read(self, update: int, ranks: Ranks) -> None:
        """Take what is to be seen of an update, in all processes.

        Called when gradients are summed over processes, and before they are clipped.

        Args:
            update: its number.
            ranks: the processes that share it.
        """
        if not self.watching:
            return
        self.watching = False
        squares = None
        if COMPARED in self.network.sides:
            self.network.sides[COMPARED].watch = None
            # Sums over all positions of the update come before roots and ratio.
            squares = ranks.sum(self._squares)
        if ranks.first:
            self._remember(update, list(self._readings(squares)))

    def _readings(self, squares: Tensor | None) -> Iterator[tuple[str, str, Reading]]:
        """Yield what is to be seen now, by side and name."""
        for side, stack in self.network.sides.items():
            yield side, "gradient_norm", Reading(("layer",), layer_norms(stack.layers))
            for name, reading in stack.method.diagnostics().items():
                yield side, name, reading
            if side == COMPARED and stack.method.stack.layers > 1:
                yield side, "gradient_ratio", Reading((), gradient_ratio(*squares))

    def _remember(self, update: int, readings: list[tuple[str, str, Reading]]) -> None:
        """Keep the readings of an update, brought over from the device at once."""
        kinds = [self._kind(*each) for each in readings]
        parts = [reading.values.detach().reshape(-1).float() for _, _, reading in readings]
        self._seen.append((update, kinds, torch.cat(parts).cpu()))

    def _kind(self, side: str, name: str, reading: Reading) -> _Kind:
        """Return what the reading has in common with those of other updates, made once."""
        shape = tuple(reading.values.shape)
        if (side, name, shape) not in self._kinds:
            layers = self.network.methods[side].stack.layers
            labels = [
                labels_of(axis, size, layers, self.tasks)
                for axis, size in zip(reading.axes, shape, strict=True)
            ]
            kind = _Kind(f"{side}_{name}", reading.axes, tuple(product(*labels)))
            self._kinds[side, name, shape] = kind
        return self._kinds[side, name, shape]

    def write(self) -> None:
        """Append what was seen since the last time; called before the state is saved."""
        rows: dict[str, list[series.Row]] = {}
        axes: dict[str, tuple[str, ...]] = {}
        for update, kinds, values in self._seen:
            cut = values.split([len(kind.places) for kind in kinds])
            for kind, part in zip(kinds, cut, strict=True):
                axes[kind.name] = kind.axes
                rows.setdefault(kind.name, []).extend(
                    (update, place, value)
                    for place, value in zip(kind.places, part.tolist(), strict=True)
                )
        for name, each in rows.items():
            series.append(self.folder / f"{name}{SUFFIX}", axes[name], each)
        self._seen.clear()

    def cut(self, update: int) -> list[str]:
        """Drop what was written after an update to which the training goes back.

        Returns:
            The names of tables whose end was damaged, and is now cut off.
        """
        self._seen.clear()
        paths = sorted(self.folder.glob(f"*{SUFFIX}"))
        return [path.name for path in paths if series.cut(path, update)]


def layer_norms(layers: Iterable[nn.Module]) -> Tensor:
    """Return the Euclidean norm of each layer's gradient over all of its parameters, (L,).

    A layer rests where none of its parameters has a gradient, and has NaN.
    """
    norms = []
    for layer in layers:
        parameters = list(layer.parameters())
        gradients = [each.grad for each in parameters if each.grad is not None]
        rests = torch.full((), torch.nan, device=parameters[0].device)
        norms.append(nn.utils.get_total_norm(gradients) if gradients else rests)
    return torch.stack(norms)


def gradient_ratio(first: Tensor, last: Tensor) -> Tensor:
    """Return r_t, the norm of the loss's gradient at the first layer's output over the last's.

    Args:
        first: the sum of squares of ∂L/∂h¹ over the positions of the whole update.
        last: that of ∂L/∂h^N.
    """
    return first.sqrt() / last.sqrt()


def labels_of(axis: str, size: int, layers: int, tasks: Sequence[str]) -> list[str]:
    """Return what the places of an axis are called in a table.

    Tasks have their names. Layers, groups and readers count from 1; source i is what layer i gives,
    and source 0 the embeddings, where they are among the sources.

    Args:
        axis: its name.
        size: its places.
        layers: of the stack, L.
        tasks: the names of all tasks.
    """
    if axis == "task":
        return [name for _, name in zip(range(size), tasks, strict=True)]
    start = layers + 1 - size if axis == "source" else 1
    return [str(start + place) for place in range(size)]
