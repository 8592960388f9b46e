"""Encoded text on disk, the order of data, and batches of all tasks."""
