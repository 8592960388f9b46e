"""One file for each kind of figure, drawn from its CSV."""
