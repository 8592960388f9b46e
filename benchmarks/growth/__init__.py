"""Measures how cost grows with depth, tokens, languages and runs, next to the growth expected."""
