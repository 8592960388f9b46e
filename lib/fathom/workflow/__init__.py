"""What the Snakefile calls: targets, switches, and what a start will train."""
