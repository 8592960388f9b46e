"""fathom reproduces papers on deep translation models, from text to judged cell.

These names are its Python interface (docs/python.md); nothing else of the library is promised.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fathom.api import OpenProject, Run, RunComparison, open, test
    from fathom.io.errors import FathomError
    from fathom.nn.hooks import Depth, DiagnosticArray, Loss, Method, ParameterGroup, Stack
    from fathom.scoring.metrics import Metric

__all__ = [
    "Depth", "DiagnosticArray", "FathomError", "Loss", "Method", "Metric", "OpenProject",
    "ParameterGroup", "Run", "RunComparison", "Stack", "open", "test",
]  # fmt: skip
_HOOKS = ("Depth", "DiagnosticArray", "Loss", "Method", "ParameterGroup", "Stack")
_PLACES: dict[str, str] = dict.fromkeys(_HOOKS, "fathom.nn.hooks")
_PLACES |= {"FathomError": "fathom.io.errors", "Metric": "fathom.scoring.metrics"}


def __getattr__(name: str) -> Any:
    # torch takes seconds to import, and few users need all of it.
    if name not in __all__:
        raise AttributeError(f"module 'fathom' has no attribute '{name}'")
    return getattr(import_module(_PLACES.get(name, "fathom.api")), name)


def __dir__() -> list[str]:
    return __all__
