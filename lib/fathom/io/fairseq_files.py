"""Single files of fairseq, without the models, tasks and criteria that its packages import.

A job uses a few of its classes, and the import of all of fairseq takes longer than what follows it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import cast

# The names that files take from a package, with the file of the package that defines them.
_PACKAGES: dict[str, dict[str, str]] = {
    "fairseq": {},
    "fairseq.data": {},
    "fairseq.models": {"FairseqDecoder": "fairseq_decoder"},
    "fairseq.models.transformer": {"TransformerConfig": "transformer_config"},
    "fairseq.modules": {
        "LayerNorm": "layer_norm",
        "MultiheadAttention": "multihead_attention",
        "gelu": "gelu",
        "gelu_accurate": "gelu",
    },
}
_modules: dict[str, ModuleType] = {}  # what blocks have imported


@contextmanager
def fairseq_files() -> Iterator[None]:
    """Import files of fairseq inside the block without running the `__init__` of their packages.

    Outside of blocks `import fairseq` imports all of it; from then on blocks use that, too.
    """
    if "fairseq" in sys.modules:
        yield
        return
    sys.modules.update(_modules)
    try:
        for name in () if _modules else _PACKAGES:
            sys.modules[name] = _package(name)
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "fairseq"]:
            _modules[name] = sys.modules.pop(name)


def _package(name: str) -> ModuleType:
    """Return a package that has its files and nothing else."""
    package = module_from_spec(cast(ModuleSpec, find_spec(name)))

    def attribute(name: str) -> object:
        if name not in files:
            raise AttributeError(f"{package.__name__} has no {name} here", name=name, obj=package)
        module = import_module(f"{package.__name__}.{files[name]}")
        # Also gelu, which is now its file.
        vars(package).update(
            {n: getattr(module, n) for n, of in files.items() if of == files[name]}
        )
        return getattr(module, name)

    files = _PACKAGES[name]
    package.__getattr__ = attribute
    return package
