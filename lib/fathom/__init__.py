"""fathom reproduces papers on deep and latent-depth translation models, from text to judged cell."""
