"""Latent layers: each task learns which layers it uses."""
