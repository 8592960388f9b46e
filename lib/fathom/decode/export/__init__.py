"""Networks for other programs."""
