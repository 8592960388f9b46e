"""Rounding to TF32 on a CPU: the bits, which products have it, and the table of what it changes."""

from contextlib import contextmanager

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks import tf32
from fathom.config.paths import Paths
from fathom.io.records import write_record
from fathom.nn.network import HIGHEST
from fathom.results.measurements import Number, Record
from fathom.results.training_record import MeasurementFile
from fathom.train import loop
from tests.support.run_files import training
from tests.support.small_runs import latent, train_run
from tests.support.specs import small_spec

STEP = 2.0**-10  # between neighbours from 1 to 2


@pytest.mark.parametrize(
    ("x", "near"),
    [
        (1 + STEP, 1 + STEP),
        (1 + STEP / 4, 1),
        (1 + STEP / 2, 1),  # a tie, to the even neighbour below
        (1 + 3 * STEP / 2, 1 + 2 * STEP),  # a tie, to the even neighbour above
        (1 + STEP / 2 + 2.0**-23, 1 + STEP),
        (2 - 2.0**-23, 2),  # carries into the exponent
        (-1 - 3 * STEP / 4, -1 - STEP),
        (0.1, 0.0999755859375),
        ((1 + 1022.3 * STEP) * 2.0**127, (1 + 1022 * STEP) * 2.0**127),
        (8.7 * 2.0**-136, 9 * 2.0**-136),  # subnormal
        (0.0, 0.0),
        (float("inf"), float("inf")),
    ],
)
def test_ten_bits_of_the_mantissa_stay_and_ties_go_to_the_even_one(x, near):
    assert tf32.rounded(torch.tensor(x)).item() == torch.tensor(near).item()


def test_what_is_not_a_number_stays_so():
    assert tf32.rounded(torch.tensor(-float("nan"))).isnan()


class Products(TorchDispatchMode):
    """Counts products of matrices, and asserts that their factors are rounded."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket.__name__ in ("mm", "addmm", "linear", "matmul"):
            self.count += 1
            for factor in args[-2:]:
                assert not (factor.view(torch.int32) & 0x1FFF).any()
        return func(*args, **(kwargs or {}))


def test_every_product_of_every_linear_layer_is_rounded_forward_and_backward(
    tensors, tmp_path, monkeypatch
):
    linear, forward, products = F.linear, [], Products()

    class Watched(tf32.Emulated):
        @contextmanager
        def applied(self):
            # The mode that is entered first sees what comes out of the second.
            with products, super().applied():
                yield

    def counted(*args):
        forward.append(torch.is_grad_enabled())
        return linear(*args)

    monkeypatch.setattr(F, "linear", counted)
    monkeypatch.setattr(loop, "choose_matmul_precision", lambda *_: Watched("high", {}, HIGHEST))
    spec = latent(changes={"training": {"updates": 2}})
    ended = train_run(spec, tensors, tmp_path)
    # A layer multiplies once forward and twice backward; validation is not watched.
    assert products.count == 3 * sum(forward) > 0
    exact = {"precision": "highest", "errors": {}}
    assert ended["device"]["products"] == {"precision": "high", "errors": {}, "exact": exact}


SPEC = small_spec()


def test_runs_of_two_folders_are_compared_by_seed(tmp_path):
    for folder, values in (("exact", (20.0, 22.0)), ("tf32", (21.0, 22.0))):
        for seed, value in enumerate(values, start=1):
            paths = Paths(tmp_path / folder, "tiny")
            write_record(paths.training(SPEC, seed), training())
            tasks = {task: Number(value=value) for task in ("aaa", "bbb")}
            records = {"bleu.test.plain.13a": Record(unit="BLEU", tasks=tasks)}
            MeasurementFile(SPEC, seed, paths, "scores", "test", "plain").write(records)
    _, line = tf32.table(tmp_path / "exact", tmp_path / "tf32")
    # The difference is 1 with one seed and 0 with the other: 0.5 ± t(1) / 2, and t(1) is 12.706.
    outcomes = ["finished/finished"] * 2
    assert line.split("\t") == [SPEC.name, *outcomes, "21.00", "21.50", "0.50", "± 6.35"]
