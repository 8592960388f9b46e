"""chrF: matches of character n-grams (Popović, 2015)."""

from sacrebleu.metrics.chrf import CHRF

from fathom.scoring.metrics import SacreBleu

_ORDERS = (1, 2, 3, 4, 5, 6)
COUNTED = ("hypothesis", "reference", "match")
COLUMNS = tuple(f"{what}_{order}" for order in _ORDERS for what in COUNTED)

METRIC = SacreBleu("chrf", "chrF", "higher", COLUMNS, lambda _: CHRF())
