"""Programs that measure the project; none of them is a part of it."""

import logging
import warnings

# fairseq names packages that it could also use, and mixes two kinds of masks, of which torch warns.
logging.disable(logging.INFO)
warnings.filterwarnings("ignore", "Support for mismatched|`torch.jit")
