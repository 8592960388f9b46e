"""The door: one file for each group of verbs; errors become sentences."""
