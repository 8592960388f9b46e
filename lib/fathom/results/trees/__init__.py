"""Trees of results: compared with each other, and packed into one file."""
