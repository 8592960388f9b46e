"""The arithmetic of the fast path: pure functions of tensors, each proven against plain torch."""
