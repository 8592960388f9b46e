"""Checkpoints: written, read, averaged."""
