"""chrF: matches of character n-grams (Popović, 2015)."""

from sacrebleu.metrics.chrf import CHRF

from fathom.scoring.metrics import Metric

_ORDERS = (1, 2, 3, 4, 5, 6)
_COUNTED = ("hypothesis", "reference", "match")
COLUMNS = tuple(f"{what}_{order}" for order in _ORDERS for what in _COUNTED)

METRIC = Metric("chrf", "chrF", "chrF", "higher", COLUMNS, lambda _: CHRF())
