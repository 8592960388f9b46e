"""Measures this project against fairseq's own layers, and against others, in one run."""

import logging
import warnings

# fairseq names packages that it could also use, and torch two kinds of masks that fairseq mixes.
logging.disable(logging.INFO)
warnings.filterwarnings("ignore", "Support for mismatched|`torch.jit")
