"""What a user must read when something is refused: the place, what is wrong, what to do.

    with refused("no such file", where="training.json"):
        read(path)
    says("no paper 'deap'", nearest="deep").check(printed)

A part that is not given may be anything; a part is text, or a pattern.
"""

import re
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from fathom.io.errors import FathomError, findings_in


@dataclass(frozen=True)
class Says:
    """Patterns of the end of the place, and of a part of what is wrong and of the remedy."""

    where: str
    what: str
    remedy: str

    def matches(self, message):
        """Whether an error has all parts, or a printed line has them in this order."""
        if isinstance(message, FathomError):
            texts = (f"{message.where}: ", str(message.what), str(message.remedy))
            parts = (self.where and rf"{self.where}\Z", self.what, self.remedy)
            return all(re.search(part, text) for part, text in zip(parts, texts, strict=True))
        parts = (self.where, self.what, self.remedy and f"; .*?{self.remedy}")
        return re.search(".*?".join(filter(None, parts)), message) is not None

    def check(self, messages):
        """Return the messages that have all parts, of which there must be one.

        They are an error, which may be several, errors, or what is printed: one a line.
        """
        if isinstance(messages, FathomError):
            messages = findings_in(messages)
        elif isinstance(messages, str):
            messages = messages.split("\n")
        messages = list(messages)
        right = [message for message in messages if self.matches(message)]
        if not right:
            pytest.fail("\n".join([f"no message has the parts of {self}:", *map(str, messages)]))
        return right


def says(what="", *, where="", remedy="", nearest=None):
    """Return what a message must have; `nearest` is the valid name that the remedy gives."""
    if nearest is not None:
        remedy = f"nearest valid name: '{nearest}'"
    return Says(f"{_pattern(where)}: " if where else "", _pattern(what), _pattern(remedy))


@contextmanager
def refused(what="", *, error=FathomError, **parts):
    """Check that the block is refused with such a message, or with several of which one is such."""
    expected = says(what, **parts)
    with pytest.raises(error) as caught:
        yield caught
    expected.check(caught.value)


def _pattern(part):
    """Return a pattern that finds a text as it is, and not inside a longer word or number."""
    if isinstance(part, re.Pattern):
        return part.pattern
    text = str(part)
    before = r"(?<!\w)" if re.match(r"\w", text) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", text) else ""
    return before + re.escape(text) + after
