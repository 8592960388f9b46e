"""BLEU by tokenizer (Papineni et al., 2002)."""

from collections.abc import Sequence
from functools import partial

from sacrebleu.metrics.bleu import BLEU

from fathom.scoring import moses
from fathom.scoring.metric import Metric

EVERYWHERE = ("13a", "intl", "char", "none")
BY_LANGUAGE = {"ko": ("ko-mecab",), "kor": ("ko-mecab",)}
_ORDERS = (1, 2, 3, 4)
COLUMNS = (
    "hypothesis_words",
    "reference_words",
    *(f"correct_{order}" for order in _ORDERS),
    *(f"total_{order}" for order in _ORDERS),
)


def metrics(language: str, further: Sequence[str] = ()) -> list[Metric]:
    """Return the variants for a target language; `further` are tokenizers that a run asks for."""
    return [
        metric(tokenizer) for tokenizer in (*EVERYWHERE, *BY_LANGUAGE.get(language, ()), *further)
    ]


def metric(tokenizer: str) -> Metric:
    """Return BLEU of words that a tokenizer of sacreBLEU cuts, or Moses."""
    peer = moses.metric if tokenizer == moses.NAME else partial(_of_sacrebleu, tokenizer)
    return Metric("bleu", tokenizer, "BLEU", "higher", COLUMNS, peer, has_tokenizer=True)


def _of_sacrebleu(tokenizer: str, _: str) -> BLEU:
    # `force` keeps sacreBLEU from warning that text looks tokenised: some archives are.
    return BLEU(tokenize=tokenizer, force=True)
