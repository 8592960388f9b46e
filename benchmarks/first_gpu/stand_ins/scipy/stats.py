"""fairseq imports these names, and translation calls none; an installed SciPy is found."""

pearsonr = spearmanr = None
