"""Translation of test sentences by beam search, with soft or hard gates."""
