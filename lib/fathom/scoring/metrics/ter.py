"""TER: edits, shifts of words included, for each word of the reference (Snover et al., 2006)."""

from sacrebleu.metrics.ter import TER

from fathom.scoring.metrics import SacreBleu

METRIC = SacreBleu("ter", "TER", "lower", ("edits", "reference_words"), lambda _: TER())
