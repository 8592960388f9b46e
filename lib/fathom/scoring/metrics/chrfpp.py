"""chrF++: matches of n-grams of characters, and of single words and pairs (Popović, 2017)."""

from sacrebleu.metrics.chrf import CHRF

from fathom.scoring.metrics import SacreBleu
from fathom.scoring.metrics.chrf import COLUMNS, COUNTED

_WORDS = tuple(f"{what}_words_{order}" for order in (1, 2) for what in COUNTED)

METRIC = SacreBleu("chrfpp", "chrF++", "higher", COLUMNS + _WORDS, lambda _: CHRF(word_order=2))
