"""BLEU by tokenizer (Papineni et al., 2002): those of sacreBLEU, and Moses.

config/tokenizers.py says which words name BLEU, `13a_pieces` among them.

Moses tokens are those of a line as the script tokenizer.perl of Moses cuts it; sacremoses does.
Options are the script's defaults: hyphens stay inside words, and characters that Moses reserves are
escaped, which changes no count. sacremoses gives the tokens of the script of October 2018, which
left the full stop to an abbreviation that ends a line; a month later it began to cut it off. Two
differences remain. sacremoses keeps the signs of Indian scripts with their letters and treats
Chinese, Japanese and single Korean signs in its way, and it cuts a Finnish or Swedish colon off.
"""

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_base import BaseTokenizer

from fathom.config.measurement_keys import short_code
from fathom.config.tokenizers import (
    BY_LANGUAGE,
    EVERYWHERE,
    MOSES,
    of_language,
    of_pieces,
    part_of,
)
from fathom.scoring.metrics import SacreBleu

# As many lines as sacreBLEU's tokenizers remember: references are cut once.
_LINES = 2**16
_ORDERS = (1, 2, 3, 4)
COLUMNS = (
    "hypothesis_words",
    "reference_words",
    *(f"correct_{order}" for order in _ORDERS),
    *(f"total_{order}" for order in _ORDERS),
)


class Bleu(SacreBleu):
    """BLEU of words that a tokenizer of sacreBLEU cuts, or Moses."""

    def variants(self, language: str, tokenizers: Sequence[str]) -> list[SacreBleu]:
        """Return BLEU with the tokenizers of every language, of this one, and those asked for."""
        words = [*EVERYWHERE, of_language(language), *tokenizers]
        return [metric(word) for word in dict.fromkeys(words)]

    @property
    def of_pieces(self) -> bool:
        """Whether references are joined from their pieces."""
        return of_pieces(self.tokenizer)

    @property
    def part(self) -> str:
        """The part of the test set that is scored; empty for all of it."""
        return part_of(self.tokenizer)

    def signature(self) -> str:
        """Return sacreBLEU's signature; other references and a part of the lines have a name."""
        signature = super().signature()
        signature += "|refs:pieces" if self.of_pieces else ""
        return signature + (f"|part:{self.part}" if self.part else "")

    def scores(self, sums: np.ndarray) -> np.ndarray:
        """Return sacreBLEU's scores, with its smoothing "exp", computed for all sums at once.

        A corpus without a match, or without an n-gram of some order, scores 0.
        """
        words, references = sums[:, 0].astype(float), sums[:, 1]
        correct, total = sums[:, 2:6], sums[:, 6:]
        # An order without a match counts half as much as such an order before it, from ½ on.
        matches = np.where(correct, correct, 0.5 ** np.cumsum(correct == 0, axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.exp(np.log(100 * matches / total).mean(axis=1))
            score = mean * np.exp(np.minimum(0.0, 1 - references / words))
        return np.where(correct.any(axis=1) & total.all(axis=1), score, 0.0)


@cache
def metric(word: str) -> Bleu:
    """Return BLEU by the word that names how it is counted."""
    tokenizer = word.partition("_")[0]
    return Bleu("bleu", "BLEU", "higher", COLUMNS, partial(_peer, tokenizer), word)


def _peer(tokenizer: str, language: str) -> BLEU:
    # `force` keeps sacreBLEU from warning that text looks tokenised: some archives are, and Moses'
    # lines do.
    if tokenizer == BY_LANGUAGE:
        bleu = BLEU(tokenize=of_language(language), force=True)
        bleu.tokenizer_signature = BY_LANGUAGE
        return bleu
    if tokenizer != MOSES:
        return BLEU(tokenize=tokenizer, force=True)
    bleu = BLEU(tokenize="none", force=True)
    bleu.tokenizer = MosesTokens(language)
    bleu.tokenizer_signature = bleu.tokenizer.signature()
    return bleu


class MosesTokens(BaseTokenizer):
    """A tokenizer of BLEU for one language, whose abbreviations keep their full stop.

    The language has two or three letters. If Moses does not know it, lines are cut as English is,
    but for apostrophes.
    """

    def __init__(self, language: str):
        self.language = short_code(language)

    def __call__(self, line: str) -> str:
        """Return a line's tokens with single blanks between them."""
        return _tokens(self.language, line)

    def signature(self) -> str:
        """Return the tokenizer's part of BLEU's signature."""
        return f"{MOSES}-sacremoses-{version('sacremoses')}"


@lru_cache(_LINES)
def _tokens(language: str, line: str) -> str:
    return _tokenizer(language).tokenize(line, return_str=True)


@cache
def _tokenizer(language: str) -> Any:
    # Imported where it is used: few runs are scored with it.
    from sacremoses import MosesTokenizer

    return MosesTokenizer(language)


METRIC = metric(EVERYWHERE[0])
