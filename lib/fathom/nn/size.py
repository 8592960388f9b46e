"""Parameter counts; a tensor that is used in two places counts once."""

from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class Entries:
    """A dictionary of which only the size is known, V entries."""

    size: int

    def __len__(self) -> int:
        """Return V."""
        return self.size

    def pad(self) -> int:
        """Return fairseq's index of the padding symbol."""
        return 1


def count_parameters(network: nn.Module) -> dict[str, int]:
    """Return the number of parameters of a network by part.

    Args:
        network: its tensors may be on the meta device.

    Returns:
        "total" and "trainable"; and the total's parts: "encoder" and "decoder", with the parameters
        of their methods, and "embeddings", with an output projection that is not tied.
    """
    parts = ("total", "trainable", "encoder", "decoder", "embeddings")
    counts: dict[str, int] = dict.fromkeys(parts, 0)
    for name, parameter in network.named_parameters():
        stack, part = name.split(".")[:2]
        lexical = part in ("embed_tokens", "output_projection")
        counts["embeddings" if lexical else stack] += parameter.numel()
        counts["total"] += parameter.numel()
        counts["trainable"] += parameter.numel() * parameter.requires_grad
    return counts
