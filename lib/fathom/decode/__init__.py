"""Translation, likelihood, pruning and export of trained runs."""
