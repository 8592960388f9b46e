"""What a user must read when something is refused: the place, what is wrong, what to do.

    with refused("no such file", where="training.json"):
        read(path)
    says("no paper 'deap'", nearest="deep").check(printed)

A part that is not given may be anything.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from fathom.io.errors import FathomError, Findings

Messages = FathomError | str | Iterable[FathomError | str]


@dataclass(frozen=True)
class Says:
    """Patterns of the end of the place, and of a part of what is wrong and of the remedy."""

    where: str
    what: str
    remedy: str

    def matches(self, message: FathomError | str) -> bool:
        """Whether an error has all parts, or a printed line has them in this order."""
        if isinstance(message, FathomError):
            texts = (f"{message.where}: ", str(message.what), str(message.remedy))
            parts = (self.where and rf"{self.where}\Z", self.what, self.remedy)
            return all(re.search(part, text) for part, text in zip(parts, texts, strict=True))
        parts = (self.where, self.what, self.remedy and f"; .*?{self.remedy}")
        return re.search(".*?".join(filter(None, parts)), message) is not None

    def check(self, messages: Messages) -> list[FathomError | str]:
        """Return the messages that have all parts; at least one must.

        Args:
            messages: an error, or several; or what is printed, with a message on each line.
        """
        if isinstance(messages, Findings):
            messages = messages.findings
        elif isinstance(messages, FathomError):
            messages = [messages]
        elif isinstance(messages, str):
            messages = messages.split("\n")
        messages = list(messages)
        right = [message for message in messages if self.matches(message)]
        if not right:
            pytest.fail("\n".join([f"no message has the parts of {self}:", *map(str, messages)]))
        return right


def says(
    what: object = "", *, where: object = "", remedy: object = "", nearest: object = None
) -> Says:
    """Return what a message must have; each part is text, or a pattern.

    Args:
        what: a part of what is wrong.
        where: the place or its end: file, line and key.
        remedy: a part of what to do.
        nearest: the name that the remedy gives as the nearest valid one.
    """
    if nearest is not None:
        remedy = f"nearest valid name: '{nearest}'"
    return Says(f"{_pattern(where)}: " if where else "", _pattern(what), _pattern(remedy))


@contextmanager
def refused(
    what: object = "", *, error: type[FathomError] = FathomError, **parts: object
) -> Iterator[pytest.ExceptionInfo]:
    """Check that the block is refused with such a message, or with several of which one is such.

    Args:
        what: as in `says`.
        error: FathomError or Findings.
        **parts: where, remedy and nearest, as in `says`.
    """
    expected = says(what, **parts)
    with pytest.raises(error) as caught:
        yield caught
    expected.check(caught.value)


def _pattern(part: object) -> str:
    """Return a pattern that finds a text as it is, and not inside a longer word or number."""
    if isinstance(part, re.Pattern):
        return part.pattern
    text = str(part)
    before = r"(?<!\w)" if re.match(r"\w", text) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", text) else ""
    return before + re.escape(text) + after
