"""Moses tokens: a line as the script tokenizer.perl of Moses cuts it; sacremoses does.

Options are the script's defaults: hyphens stay inside words, and characters that Moses reserves are
escaped, which changes no count. sacremoses gives the tokens of the script of October 2018, which
left the full stop to an abbreviation that ends a line; a month later it began to cut it off. Two
differences remain. sacremoses keeps the signs of Indian scripts with their letters and has its own
way with Chinese, Japanese and single Korean signs, and it cuts a Finnish or Swedish colon off.
"""

from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_base import BaseTokenizer

from fathom.config.vocabulary import short_code

NAME = "moses"
# As many lines as sacreBLEU's own tokenizers remember: references are cut once.
_LINES = 2**16


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
        return f"{NAME}-sacremoses-{version('sacremoses')}"


def metric(language: str = "") -> BLEU:
    """Return sacreBLEU's BLEU of Moses tokens; to score counts, no language is needed."""
    # `force`: these lines do look tokenised.
    bleu = BLEU(tokenize="none", force=True)
    bleu.tokenizer = MosesTokens(language)
    bleu.tokenizer_signature = bleu.tokenizer.signature()
    return bleu


@lru_cache(_LINES)
def _tokens(language: str, line: str) -> str:
    return _tokenizer(language).tokenize(line, return_str=True)


@cache
def _tokenizer(language: str) -> Any:
    # Imported where it is used: few runs are scored with it.
    from sacremoses import MosesTokenizer

    return MosesTokenizer(language)
