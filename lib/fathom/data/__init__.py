"""Text: fetched, checked, read, cleaned, split and counted."""
