"""Claims of a paper: sentences as expressions over its tables, or below its figures."""
