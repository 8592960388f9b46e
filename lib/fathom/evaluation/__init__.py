"""Measurements of a run: scores of translations, perplexity, the best window, the manifest."""
