"""The language of a text, by the characters that its language makes likely.

A language's model gives a character c the probability

    p(c | h) = (count(h c) + 2 p(c | h')) / (count(h) + 2)

after the characters h, up to three; h' is h without its first one, and where no character is left,
p(c) is 1/300. This is Witten and Bell's idea with a constant weight. Case does not count, and a
text that says something over and over says it once: otherwise a loop of few characters decides.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

LONGEST = 3
WEIGHT = 2.0
UNIFORM = 1 / 300
# A text with fewer letters has no language.
LETTERS = 3

_BEFORE = " " * LONGEST
_LOOP = re.compile(r"(.{1,12}?)\1{2,}")


class CharacterModel:
    """The characters of one language."""

    def __init__(self, sentences: Iterable[str]):
        # Each character with those before it; shorter grams are the ends of these.
        longest = Counter(gram for sentence in sentences for gram in _grams(sentence.lower()))
        self._counts = Counter(longest)
        for gram, times in longest.items():
            for start in range(1, LONGEST + 1):
                self._counts[gram[start:]] += times
        self._logarithms: dict[str, float] = {}
        self._contexts: Counter[str] = Counter()
        for gram, times in self._counts.items():
            self._contexts[gram[:-1]] += times

    def log_likelihood(self, text: str) -> float:
        """Return the logarithm of a text's probability; `text` is in lower case."""
        return math.fsum(map(self._of_last, _grams(text)))

    def _of_last(self, gram: str) -> float:
        """Return the logarithm of the probability of a gram's last character after the others."""
        if gram not in self._logarithms:
            probability = UNIFORM
            for start in range(LONGEST, -1, -1):
                times = self._contexts.get(gram[start:-1])
                if not times:
                    break
                weighted = self._counts.get(gram[start:], 0) + WEIGHT * probability
                probability = weighted / (times + WEIGHT)
            self._logarithms[gram] = math.log(probability)
        return self._logarithms[gram]


def _grams(text: str) -> Iterator[str]:
    """Yield each character of a text after the ones before it."""
    text = _BEFORE + text
    return (text[start : start + LONGEST + 1] for start in range(len(text) - LONGEST))


def language_of(text: str, models: Mapping[str, CharacterModel]) -> str | None:
    """Return the likeliest language of a sentence, or None if it has too few letters to say."""
    text = collapsed(text.lower())
    if sum(map(str.isalpha, text)) < LETTERS:
        return None
    return max(models, key=lambda language: models[language].log_likelihood(text))


def collapsed(text: str) -> str:
    """Return a text in which up to 12 characters that follow each other three times come once."""
    while (shorter := _LOOP.sub(r"\1", text)) != text:
        text = shorter
    return text
