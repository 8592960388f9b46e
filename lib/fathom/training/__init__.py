"""Training: objective, two-level update, schedules, outcomes, checkpoints."""
