"""Grids of cells, their formats, and the comparison with what the paper reports."""
