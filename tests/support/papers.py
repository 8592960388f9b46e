"""The papers of this project."""

# Those whose cells and runs tests count; another paper changes no count.
PAPERS = ("latent_depth", "transparent_attention", "lamgd")
