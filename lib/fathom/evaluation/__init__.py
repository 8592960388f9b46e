"""Scores of translations: BLEU variants, chrF, bootstrap intervals, perplexity."""
