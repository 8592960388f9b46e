"""The share of an update that bare matrix products of the same shapes take, in the same run."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.peer import contenders
from benchmarks.peer.contenders import ONE_PASS, OURS
from benchmarks.peer.results import Cell, Table
from benchmarks.peer.timing import alternate, clock, spread, timed
from benchmarks.peer.training import Rounds
from benchmarks.peer.workload import Workload

# The place of the two factors among the arguments of each product.
FACTORS = {"mm": (0, 1), "addmm": (1, 2), "bmm": (0, 1), "baddbmm": (1, 2)}
# Sizes of the two factors, whether they lie transposed in memory, their type, torch's precision.
Product = tuple[tuple[int, ...], tuple[int, ...], bool, bool, torch.dtype, str]
BARE, LARGE_PRODUCT = "bare products", "one large product"
# The size of a square product that reaches the matrix rate of a device.
LARGE = {"cpu": 1024, "cuda": 8192}
COLUMNS = (
    "",
    "ms an update",
    "10⁹ operations in products",
    "10⁹ operations/s of bare products",
    "their share of the update",
    "share of the rate of one large product",
)


def setting(device: torch.device) -> Any:
    """Return what holds the precision of float32 products of a device; torch's types omit it."""
    backends: Any = torch.backends
    return backends.cuda.matmul if device.type == "cuda" else backends.mkldnn.matmul


class Products(TorchDispatchMode):
    """Counts the matrix products that are dispatched below it, by their factors."""

    def __init__(self) -> None:
        """Count from zero."""
        super().__init__()
        self.products: Counter[Product] = Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        places = FACTORS.get(function.overloadpacket.__name__)
        if places:
            left, right = (args[place] for place in places)
            turned = [not factor.is_contiguous() for factor in (left, right)]
            precision = setting(left.device).fp32_precision
            key = (tuple(left.shape), tuple(right.shape), *turned, left.dtype, precision)
            self.products[key] += 1
        return function(*args, **(kwargs or {}))


def operations(products: Mapping[Product, int]) -> float:
    """Return the multiplications and additions of some products."""
    total = 0
    for (left, right, *_), times in products.items():
        batch = left[0] if len(left) == 3 else 1
        total += times * 2 * batch * left[-2] * left[-1] * right[-1]
    return total


def bare(products: Mapping[Product, int], device: torch.device) -> Callable[[int], None]:
    """Return what multiplies random matrices of the same shapes as often, and does nothing else."""
    pairs = []
    for (left, right, left_turned, right_turned, dtype, precision), times in products.items():
        factors = _factor(left, left_turned), _factor(right, right_turned)
        pairs.append((*(factor.to(device, dtype) for factor in factors), precision, times))

    def work(_: int) -> None:
        matmul = setting(device)
        before = matmul.fp32_precision
        for left, right, precision, times in pairs:
            multiply = torch.bmm if left.dim() == 3 else torch.mm
            matmul.fp32_precision = precision
            for _ in range(times):
                multiply(left, right)
        matmul.fp32_precision = before

    return work


def _factor(shape: tuple[int, ...], turned: bool) -> torch.Tensor:
    """Return a random matrix or batch of matrices, which may lie transposed in memory."""
    if not turned:
        return torch.randn(shape)
    *batch, rows, columns = shape
    return torch.randn(*batch, columns, rows).transpose(-1, -2)


def large_rate(workload: Workload, rounds: Rounds) -> float:
    """Return 10⁹ operations a second of one large product, in the precision of the training."""
    device = workload.device
    size = LARGE[device.type]
    matrix = torch.randn(size, size, device=device)
    work = timed(clock(device), lambda _: torch.mm(matrix, matrix))
    seconds = alternate({LARGE_PRODUCT: work}, rounds.counted, rounds.warm_up)[LARGE_PRODUCT]
    return 2 * size**3 / spread(seconds).middle / 1e9


def table(workload: Workload, rounds: Rounds) -> Table:
    """Return the shares of ours and of fairseq's layers, for the first static shape."""
    shape = workload.static_shapes[0]
    job = contenders.job(workload, shape, 1)
    now = clock(workload.device)
    rate = large_rate(workload, rounds)
    rows: list[list[Cell]] = []
    numbers: dict[str, float] = {}
    for name in (OURS, ONE_PASS):
        update = contenders.named(job, name)
        with Products() as counted:
            update(1)
        taking_part = {
            name: timed(now, lambda _, update=update: update(1)),
            BARE: timed(now, bare(counted.products, workload.device)),
        }
        seconds = alternate(taking_part, rounds.counted, rounds.warm_up)
        times = {key: spread(own).middle for key, own in seconds.items()}
        number = operations(counted.products) / 1e9
        share = spread([b / a for a, b in zip(*seconds.values(), strict=True)]).middle
        of_large = number / times[name] / rate
        rows.append([name, 1000 * times[name], number, number / times[BARE], share, of_large])
        numbers |= {f"products.{name}.share": share, f"products.{name}.of_large": of_large}
    rows.append([LARGE_PRODUCT, None, None, rate, None, 1.0])
    title = (
        f"One update of {shape.name} next to bare products of the same shapes, in the same run "
        "and with the same libraries"
    )
    return Table("products", title, COLUMNS, rows, numbers)
