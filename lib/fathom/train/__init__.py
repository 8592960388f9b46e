"""Training: batches, updates, schedules, diagnostics, resume."""
