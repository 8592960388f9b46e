"""What is asked: the checked config, run specifications, identities, paths and targets."""
