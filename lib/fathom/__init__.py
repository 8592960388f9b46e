"""fathom reproduces papers on deep translation models, from text to judged cell."""
