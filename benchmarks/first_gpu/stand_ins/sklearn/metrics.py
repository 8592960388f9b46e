"""fairseq imports these names, and translation calls none; an installed scikit-learn is found."""

f1_score = matthews_corrcoef = None
