"""The door: one file for each verb; errors become sentences."""
