"""Checkpoints: saved, read and averaged."""
