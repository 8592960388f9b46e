"""Measures this project against fairseq's own layers, and against others, in one run."""
