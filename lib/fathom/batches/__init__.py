"""Tensors on disk, the order of data, and the fused batch of all tasks."""
