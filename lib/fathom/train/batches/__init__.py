"""Batches and their order."""
