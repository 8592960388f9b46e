"""The Transformer as fairseq builds it, with the hooks of a method."""
