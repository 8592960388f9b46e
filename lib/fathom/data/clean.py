"""Cleaning of software messages, rule by rule, in the order in which the counts were measured.

1. `tidy`: NFC, entities, invisible characters, tags, white space.
2. `fault`: placeholders that differ, placeholders that remain, a side without a letter, a side that
   repeats the other, too long, too unequal.
3. `key`: two sentences with the same key count as one, for duplicates and for the split.
"""

import html
import re
import unicodedata
from collections.abc import Sequence

from fathom.config.schema.dataset import MessageCleaning

# Characters at which str.splitlines() ends a line, though the files end lines with LF alone.
_SEPARATORS = dict.fromkeys(map(ord, "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), " ")
# Zero-width characters and direction marks, the word joiner, the byte order mark, the soft hyphen.
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad"))
_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")
_CONVERSION = r"[#0\- +]*\d*(?:\.\d+)?[a-zA-Z]"
_PLACEHOLDER = re.compile(
    rf"%\([^)]*\){_CONVERSION}|%{_CONVERSION}|\{{\{{[^{{}}]*\}}\}}|\{{[^{{}}]*\}}|\$\w+|&[A-Za-z]+;"
)


class _Words(dict[int, str]):
    """A translation that replaces all characters but letters, digits and marks by blanks."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        in_word = character.isalnum() or unicodedata.category(character)[0] == "M"
        self[code] = character if in_word else " "
        return self[code]


_WORDS = _Words()


def one_line(text: str) -> str:
    """Replace every character that some reader takes for the end of a line by a blank."""
    return text.translate(_SEPARATORS)


def has_invisible(text: str) -> bool:
    """Return whether a text has characters that nobody sees, such as a soft hyphen."""
    return any(ord(character) in _INVISIBLE for character in text)


def composed(text: str) -> str:
    """Return text on one line: composed (NFC), without invisible and stray white characters."""
    # Splitting at white space also splits at every character of `one_line`.
    return " ".join(unicodedata.normalize("NFC", text).translate(_INVISIBLE).split())


def tidy(text: str) -> str:
    """Return a message as a sentence: composed, without entities, tags and stray white space."""
    text = html.unescape(unicodedata.normalize("NFC", text)).translate(_INVISIBLE)
    return " ".join(_TAG.sub(" ", text).split())


def key(sentence: str) -> str:
    """Return a normalised sentence: letters, digits and marks in lower case, single blanks.

    Marks are the vowel signs of Hindi and Burmese, among others: words differ in them alone. What
    nobody sees does not count.
    """
    text = unicodedata.normalize("NFKC", sentence.translate(_INVISIBLE)).casefold()
    text = _TAG.sub(" ", _PLACEHOLDER.sub(" ", text))
    return " ".join(text.translate(_WORDS).split())


def fault(sides: Sequence[str], rules: MessageCleaning) -> str | None:
    """Return the first rule that a tidied pair breaks, or one sentence alone; None if it does not.

    The second side is the pivot.
    """
    text, pivot = sides[0], sides[-1]
    if sorted(_PLACEHOLDER.findall(text)) != sorted(_PLACEHOLDER.findall(pivot)):
        return "placeholders_differ"
    if _PLACEHOLDER.search(text):
        return "placeholders"
    if not has_letter(text) or not has_letter(pivot):
        return "no_letter"
    if len(sides) == 2 and text == pivot:
        return "untranslated"
    if max(len(text), len(pivot)) > rules.max_characters:
        return "too_long"
    ratio = len(text) / len(pivot)
    if len(pivot) >= rules.ratio_from and not rules.min_ratio <= ratio <= rules.max_ratio:
        return "unequal_length"
    return None


def has_letter(text: str) -> bool:
    """Return whether a sentence has a letter of any script."""
    return any(character.isalpha() for character in text)
