"""The masked language model in the shape of XLM-R, with the hooks of a method."""
