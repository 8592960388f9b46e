"""Claims of a paper: sentences as expressions over its tables and figures."""
