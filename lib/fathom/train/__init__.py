"""Training: batches, updates, diagnostics, resume."""
