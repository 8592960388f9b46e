"""Training: objective, two-level update, schedules, outcomes, diagnostics."""
