"""Operations that torch dispatches for a layer in an update, views counted apart.

Forward and backward pass with dropout, gradients set to None before. A layer is the difference
between networks of four and of two layers, so what an update does once does not count.
"""

from collections import Counter
from collections.abc import Callable

from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.peer import contenders
from benchmarks.peer.contenders import OURS
from benchmarks.peer.results import Cell, Table
from benchmarks.peer.stock import cut_all, one_pass
from benchmarks.peer.workload import LATENT, STATIC, Shape, Workload

VIEWS = {
    "_reshape_alias", "_unsafe_view", "alias", "as_strided", "detach", "expand", "lift_fresh",
    "permute", "select", "slice", "split", "split_with_sizes", "squeeze", "t", "transpose",
    "unbind", "unfold", "unsqueeze", "view",
}  # fmt: skip
STOCK = "fairseq"
COLUMNS = (
    "",
    "encoder",
    "views",
    "decoder",
    "views",
    "encoder of fairseq's",
    "decoder of fairseq's",
)


class Operations(TorchDispatchMode):
    """Counts the operations that are dispatched below it, by name.

    Attributes:
        others: operations that compute or copy.
        views: operations that only give a tensor another shape.
    """

    def __init__(self) -> None:
        """Count from zero."""
        super().__init__()
        self.others: Counter[str] = Counter()
        self.views: Counter[str] = Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        (self.views if name in VIEWS else self.others)[name] += 1
        return function(*args, **(kwargs or {}))


def counted(work: Callable[[], object]) -> tuple[int, int]:
    """Return the operations of some work, and its views; the second time that it is done."""
    work()
    with Operations() as operations:
        work()
    return operations.others.total(), operations.views.total()


def of_layers(work: Callable[[tuple[int, int]], Callable[[], object]]) -> list[float]:
    """Return operations and views of an encoder layer, then of a decoder layer.

    Args:
        work: for a depth of encoder and decoder, what is counted.
    """
    base, deeper_encoder, deeper_decoder = (
        counted(work(layers)) for layers in ((2, 2), (4, 2), (2, 4))
    )
    return [
        (more - less) / 2
        for deeper in (deeper_encoder, deeper_decoder)
        for more, less in zip(deeper, base, strict=True)
    ]


def table(workload: Workload) -> Table:
    """Return the operations of ours and of fairseq's layers; tests/cuda counts those of CUDA."""
    stock = of_layers(lambda layers: _stock(workload, layers))
    rows: list[list[Cell]] = [[STOCK, *stock, None, None]]
    for name, run in ((OURS, STATIC), (f"{OURS}, latent", LATENT)):
        own = of_layers(lambda layers, run=run: _ours(workload, run, layers))
        rows.append([name, *own, own[0] / stock[0], own[2] / stock[2]])
    title = (
        "Operations that torch dispatches for a layer in forward and backward pass, with dropout"
    )
    return Table(title, COLUMNS, rows)


def _ours(workload: Workload, run: str, layers: tuple[int, int]) -> Callable[[], object]:
    """Return forward and backward passes of ours."""
    training = workload.training(workload.spec(Shape("counted", run, layers)))
    (batch,) = workload.updates(training, 1)
    two_level = training.two_level
    two_level.diagnostics = None

    def work() -> None:
        training.network.zero_grad(set_to_none=True)
        training.network.start_update(1, 1)
        # The update without clipping and optimisers, which are not a layer's.
        two_level._gradients(batch, 1)

    return work


def _stock(workload: Workload, layers: tuple[int, int]) -> Callable[[], object]:
    """Return forward and backward pass of fairseq's layers."""
    job = contenders.job(workload, Shape("counted", STATIC, layers), 1)
    peer = contenders.stock_network(job)
    (passes,) = [cut_all(batch, one_pass) for batch in job.batches]

    def work() -> None:
        peer.network.zero_grad(set_to_none=True)
        peer.gradients(passes)

    return work
