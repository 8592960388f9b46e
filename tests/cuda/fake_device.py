"""A CUDA device of no memory, on which nothing is computed, and a record of what it is asked to do.

A CPU build of torch has no CUDA hooks and no device guard, so autograd ends the process at the
first fake tensor "on cuda". `no_cuda.cpp` has both. It must be loaded before torch, because torch
makes its hooks while it is imported: import this module first, in a process of its own.

What is recorded are torch's operations. An operation may be several kernels (the fused Adam), and
neither memory nor values exist: the record says what is asked of a device, not that it is right.
"""

import ctypes
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

SOURCE = Path(__file__).with_name("no_cuda.cpp")


def _folder(package: str) -> Path:
    """Return the folder of a package, which is not imported."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    return Path(str(spec.origin)).parent


def library() -> Path:
    """Return the compiled hooks for the installed torch; they are made once."""
    torch_folder = _folder("torch")
    version = (torch_folder / "version.py").read_bytes()
    name = hashlib.sha256(SOURCE.read_bytes() + version).hexdigest()[:12]
    compiled = Path(tempfile.gettempdir()) / f"fathom-no-cuda-{name}-{os.getuid()}.so"
    if not compiled.exists():
        half = compiled.with_suffix(f".{os.getpid()}")
        libraries = torch_folder / "lib"
        command = ["g++", "-std=c++20", "-shared", "-fPIC", f"-I{torch_folder / 'include'}"]
        command += [str(SOURCE), f"-L{libraries}", "-lc10", "-ltorch_cpu"]
        subprocess.run([*command, f"-Wl,-rpath,{libraries}", "-o", str(half)], check=True)
        half.rename(compiled)
    return compiled


assert "torch" not in sys.modules, "import tests.cuda.fake_device before torch"
ctypes.CDLL(str(library()), mode=ctypes.RTLD_GLOBAL)

import torch  # noqa: E402
import yaml  # noqa: E402
from torch import Tensor  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.onnx import operators  # noqa: E402
from torch.utils import _foreach_utils as foreach  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

DEVICE = torch.device("cuda:0")
# Operations that start no kernel.
VIEWS = {
    "_local_scalar_dense", "_reshape_alias", "_unsafe_view", "alias", "as_strided", "chunk",
    "detach", "expand", "lift_fresh", "narrow", "permute", "select", "slice", "split",
    "split_with_sizes", "squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view",
}  # fmt: skip
NO_KERNEL = VIEWS | {
    "device", "empty", "empty_like", "empty_strided", "is_contiguous", "is_pinned", "is_same_size",
    "new_empty", "new_empty_strided", "record_stream", "set_", "sym_size", "sym_stride",
}  # fmt: skip
# Operations whose output has a size that the host must learn from the device.
SIZED_BY_DATA = {
    "_unique2", "bincount", "equal", "is_nonzero", "masked_select", "nonzero", "repeat_interleave",
    "unique_consecutive", "unique_dim",
}  # fmt: skip
COPIES = {"_to_copy", "copy_", "_copy_from"}
MASKED = {"index", "index_put", "index_put_", "_unsafe_index"}


class Recorder(TorchDispatchMode):
    """Counts the kernels that operations start, and the places where the host waits for them.

    Attributes:
        kernels: operations on the device that start a kernel, by name.
        waits: (why, the innermost line of lib/fathom) of each wait.
        operations: the full names of what ran on the device.
        sizes: of the factors of matrix products, those of attention apart.
        casts: copies on the device to another type; one of a list of tensors counts once.
        costs: of each kernel the floating-point operations of its matrix products, those of
            attention apart, and the bytes that it reads and writes if nothing stays in a cache.
        tokens: pieces that the network read on the source side; who makes the update sets it.
    """

    def __init__(self):
        super().__init__()
        self.tokens = 0
        self.kernels: Counter[str] = Counter()
        self.waits: Counter[tuple[str, str]] = Counter()
        self.operations: set[str] = set()
        self.sizes: set[int] = set()
        self.casts = 0
        self.costs: list[tuple[int, int]] = []

    @property
    def bytes(self) -> int:
        """What all kernels read and write."""
        return sum(of_kernel for _, of_kernel in self.costs)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name, kwargs = func.overloadpacket.__name__, kwargs or {}
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        here = any(tensor.is_cuda for tensor in given)
        if name == "_local_scalar_dense":
            if here:
                self._waits("reads a number")
            # Any number of the type will do, as nothing is computed.
            return {torch.bool: True}.get(given[0].dtype, 1)
        # The fake of this operation reads the number that CUDA's kernel reads on the device.
        of_steps = name == "_foreach_add_" and isinstance(args[1], Tensor)
        result = None if of_steps else func(*args, **kwargs)
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        if any(tensor.is_cuda for tensor in (*given, *made)):
            self.operations.add(func.name())
        self._record(name, args, kwargs, given, made)
        return result

    def _record(self, name, args, kwargs, given, made):
        here, there = (any(t.is_cuda for t in tensors) for tensors in (given, made))
        if name in COPIES:
            source, copy = args[1] if name == "copy_" else args[0], made[0]
            if source.is_cuda and not copy.is_cuda:
                self._waits("copies to the host")
            elif copy.is_cuda and not source.is_cuda and not getattr(source, "pinned", False):
                self._waits("copies from memory that is not pinned")
            self.casts += source.is_cuda and copy.is_cuda and source.dtype != copy.dtype
        elif name == "_foreach_copy_":
            self.casts += args[0][0].dtype != args[1][0].dtype
        elif here and any(not tensor.is_cuda and tensor.dim() for tensor in given):
            self._waits(f"{name} reads a tensor of the host")
        elif here and name in SIZED_BY_DATA and kwargs.get("output_size") is None:
            self._waits(f"{name} has a size that the device knows")
        elif here and name in MASKED and any(_is_mask(index) for index in args[1]):
            self._waits(f"{name} by a mask")
        if not (here or there) or name in NO_KERNEL:
            return
        self.kernels[name] += 1
        sizes = {id(t): t.numel() * t.itemsize for t in (*given, *made) if t.is_cuda}
        if name in ("index_select", "embedding"):
            sizes[id(args[0])] = sum(tensor.numel() * tensor.itemsize for tensor in made)
        factors = _factors(name, args)
        self.sizes.update(*(factor.shape for factor in factors))
        products = 2 * factors[0].numel() * factors[1].shape[-1] if factors else 0
        self.costs.append((products, sum(sizes.values())))

    def _waits(self, why: str) -> None:
        self.waits[why, _line()] += 1


def without_kernel(operations: set[str]) -> set[str]:
    """Return the operations that torch has no kernel for on CUDA, by its table of operations."""
    table = _folder("torchgen") / "packaged" / "ATen" / "native" / "native_functions.yaml"
    entries = {}
    for entry in yaml.load(table.read_text(), yaml.CSafeLoader):
        entries[entry["func"].partition("(")[0]] = entry
    missing = set()
    for operation in operations:
        namespace, _, name = operation.partition("::")
        entry = entries.get(name.removesuffix(".default"), {})
        entry = entries.get(entry.get("structured_delegate"), entry)
        kernels = ", ".join(entry.get("dispatch", {"Composite": ""}))
        if namespace == "aten" and not re.search("CUDA|Composite", kernels):
            missing.add(operation)
    return missing


def _is_mask(index: object) -> bool:
    return isinstance(index, Tensor) and index.dtype in (torch.bool, torch.uint8)


def _factors(name: str, args: tuple) -> tuple[Tensor, ...]:
    """Return the two factors of a matrix product, none for other operations."""
    if name in ("mm", "bmm"):
        return args[:2]
    return args[1:3] if name in ("addmm", "baddbmm") else ()


def _line() -> str:
    """Return the innermost line of lib/fathom that runs."""
    frame = sys._getframe(2)
    while frame:
        _, found, path = frame.f_code.co_filename.partition("/lib/fathom/")
        if found:
            return f"{path}:{frame.f_lineno} {frame.f_code.co_name}"
        frame = frame.f_back
    return "backward"


def _pinned(tensor: Tensor, *_: object) -> Tensor:
    copy = tensor.clone()
    copy.pinned = True  # pyright: ignore[reportAttributeAccessIssue]
    return copy


def _attention_of_cuda(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, **_):
    """Call the kernel that torch chooses on CUDA: flash in half precision without a mask."""
    kernels = torch.ops.aten
    if attn_mask is None and q.itemsize < 4:
        return kernels._scaled_dot_product_flash_attention(q, k, v, dropout_p, is_causal)[0]
    bias = attn_mask
    if bias is not None:
        if bias.dtype == torch.bool:
            bias = torch.where(bias, 0.0, float("-inf")).to(q.dtype)
        size = bias.shape[-1]
        bias = functional.pad(bias, (0, -size % 8))[..., :size]
        bias = bias.expand(*q.shape[:3], k.shape[2])
    grad = torch.is_grad_enabled()
    return kernels._scaled_dot_product_efficient_attention(
        q, k, v, bias, grad, dropout_p, is_causal
    )[0]


@contextmanager
def fake_cuda() -> Iterator[None]:
    """Let tensors of the block be fake, also those on `DEVICE`."""
    kinds = [*foreach._foreach_supported_types, FakeTensor]
    with ExitStack() as stack:
        for place, name, replacement in (
            (Tensor, "pin_memory", _pinned),
            (torch.cuda, "device_count", lambda: 1),
            (torch.cuda, "current_device", lambda: 0),
            (torch.cuda, "_lazy_init", lambda: None),
            (torch.cuda, "is_bf16_supported", lambda *_, **__: True),
            (torch.cuda, "manual_seed_all", lambda seed: None),
            (torch.cuda.amp.common, "amp_definitely_not_available", lambda: False),
            # fairseq asks for the shape as a tensor, whose numbers a fake does not have.
            (operators, "shape_as_tensor", lambda x: list(x.shape)),
            (functional, "scaled_dot_product_attention", _attention_of_cuda),
            (foreach, "_foreach_supported_types", kinds),
        ):
            stack.enter_context(patch.object(place, name, replacement))
        stack.enter_context(torch.autograd.set_multithreading_enabled(False))
        stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        yield
