"""Scores of text: BLEU and chrF, their counts by sentence, and the bootstrap of these counts."""
