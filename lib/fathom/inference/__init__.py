"""Translation by beam search, pruning, likelihood."""
