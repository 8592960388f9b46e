"""BLEU variants, chrF and their bootstrap intervals."""
