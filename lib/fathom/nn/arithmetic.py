"""What a network computes with: the fast kernels on packed states, or fairseq's layers on padded.

Both are the same mathematics; only rounding and the draws of dropout differ.
"""

from dataclasses import dataclass
from typing import Any

import torch

from fathom.nn.products import Products, choose_products

FAST, FAIRSEQ = "fast", "fairseq"
HIGHEST = Products("highest", {})


@dataclass(frozen=True)
class Arithmetic:
    """The choice of one process.

    Attributes:
        kernels: "fast" or "fairseq".
        products: the precision of the fast kernels' matrix products, and why.
    """

    kernels: str = FAST
    products: Products = HIGHEST

    def record(self) -> dict[str, Any]:
        """Return the choice as training.json records it."""
        if self.kernels == FAIRSEQ:
            return {"kernels": FAIRSEQ}
        products = {"precision": self.products.precision, "errors": self.products.errors}
        return {"kernels": FAST, "products": products}


def choose(kernels: str, device: torch.device) -> Arithmetic:
    """Return the arithmetic for a device; the precision of products is measured.

    Args:
        kernels: "fast" or "fairseq".
        device: where the network runs.
    """
    return Arithmetic(FAIRSEQ) if kernels == FAIRSEQ else Arithmetic(FAST, choose_products(device))
