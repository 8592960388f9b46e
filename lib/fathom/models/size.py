"""Parameter counts, by tensor identity: a tensor that stands in two places counts once."""

from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class Entries:
    """A dictionary of which only the size is known, `size` entries, V."""

    size: int

    def __len__(self) -> int:
        """Return V."""
        return self.size

    def pad(self) -> int:
        """Return fairseq's index of the padding symbol."""
        return 1


def parts(network: nn.Module) -> dict[str, int]:
    """Return the parameters of a network by part.

    Args:
        network: an encoder-decoder; its tensors may be on the meta device.

    Returns:
        "total", "trainable", and, adding up to the total, "encoder", "decoder" (methods'
        parameters with their side) and "embeddings" (tables, and an output projection of its own).
    """
    counts = dict.fromkeys(("total", "trainable", "encoder", "decoder", "embeddings"), 0)
    for name, parameter in network.named_parameters():
        side, part = name.split(".")[:2]
        lexical = part in ("embed_tokens", "output_projection")
        counts["embeddings" if lexical else side] += parameter.numel()
        counts["total"] += parameter.numel()
        counts["trainable"] += parameter.numel() * parameter.requires_grad
    return counts
