"""Latent group dropout: each task learns which groups of units it keeps."""
