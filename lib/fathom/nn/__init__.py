"""Arithmetic and networks."""
