"""RNMT+, the recurrent translation model, with the hooks of a method."""
