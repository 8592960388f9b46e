"""Trees of results as a whole: compared with each other, and packed into one file."""
