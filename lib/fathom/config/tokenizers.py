"""How BLEU is counted: by which tokenizer, against which references, on which sentences.

A word names it, in scores.tsv, in keys of measurements and in config. `13a` is a tokenizer of
sacreBLEU; `13a_pieces` is 13a against references as fairseq prints them, joined from their pieces;
`13a_filtered` is 13a on the part `filtered` of the test set; `by-language` is the tokenizer of each
target language.
"""

from collections.abc import Iterable

from fathom.config.spec import Spec

# Counted for every target language; the first is sacreBLEU's default.
DEFAULT = "13a"
EVERYWHERE = (DEFAULT, "intl", "char", "none")
MOSES = "moses"
PIECES = "pieces"
BY_LANGUAGE = "by-language"
# Languages that 13a does not cut into words: in a sentence with fewer than four of its "words" even
# the reference scores 0. Japanese has `char`, since sacreBLEU's package for its words is not
# installed.
_OF_LANGUAGE = {
    **dict.fromkeys(("zho", "zh", "cmn", "yue"), "zh"),
    **dict.fromkeys(("kor", "ko"), "ko-mecab"),
    **dict.fromkeys(("jpn", "ja", "tha", "th", "lao", "lo", "mya", "my", "khm", "km"), "char"),
}


def of_language(language: str) -> str:
    """Return the tokenizer of a target language."""
    return _OF_LANGUAGE.get(language, DEFAULT)


def of_languages(languages: Iterable[str]) -> str:
    """Return the tokenizer that all these target languages have, or `by-language`."""
    tokenizers = {of_language(language) for language in languages}
    return tokenizers.pop() if len(tokenizers) == 1 else BY_LANGUAGE


def of_pieces(word: str) -> bool:
    """Return whether a word names BLEU against references that are joined from their pieces."""
    return word.endswith(f"_{PIECES}")


def needs_pieces(spec: Spec) -> bool:
    """Return whether BLEU of a run is counted against references that are joined from pieces."""
    return any(map(of_pieces, spec.scoring.tokenizers))


def part_of(word: str) -> str:
    """Return the part of the test set that a word names; empty for all of it."""
    return "" if of_pieces(word) else word.partition("_")[2]


def counted(spec: Spec, split: str) -> tuple[str, ...]:
    """Return how BLEU of a run is counted beside the tokenizers of each target language."""
    words = [*spec.scoring.tokenizers, of_languages(spec.data.target_languages.values())]
    parts = spec.data.test_parts if split == "test" else ()  # validation text has none
    of_lines = [DEFAULT, *(word for word in spec.scoring.tokenizers if not of_pieces(word))]
    of_parts = [f"{word}_{part}" for part in parts for word in of_lines]
    return tuple(dict.fromkeys([*words, *of_parts]))
