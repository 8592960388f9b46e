"""What a user must read when something is refused, pinned by its parts: its prose by an id alone.

    with refused("no such file", where="training.json"):
        read(path)
    says("unknown", "paper", "deap", nearest="deep").check(printed)

The prose of an id is in `messages.MESSAGES`. A part that is not given may be anything.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from fathom.io import errors
from fathom.io.errors import FathomError, Findings
from tests.support.messages import MESSAGES

Messages = FathomError | str | Iterable[FathomError | str]


@dataclass(frozen=True)
class Says:
    """Patterns of the parts of one message; an empty one fits all.

    Attributes:
        where: the end of the place.
        what: what is wrong, or a part of it.
        remedy: a part of what to do about it.
    """

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
    name: str | None = None,
    *values: object,
    where: object = "",
    remedy: object = "",
    nearest: object = None,
) -> Says:
    """Return what a message must have; text may also be a pattern.

    Args:
        name: the id of its prose.
        *values: the values of the prose, in their order; `...`, and those that are left out, may be
            anything.
        where: the place or its end: file, line and key.
        remedy: a part of the remedy: data, such as a command, or the `prose` of an id.
        nearest: the name that the remedy gives as the nearest valid one.
    """
    if nearest is not None:
        remedy = prose("nearest", nearest)
    place = f"{_pattern(where)}: " if where else ""
    return Says(place, _what(name, values) if name else "", _pattern(remedy))


@contextmanager
def refused(
    name: str | None = None,
    *values: object,
    error: type[FathomError] = FathomError,
    **parts: object,
) -> Iterator[pytest.ExceptionInfo]:
    """Check that the block is refused with such a message, or with several of which one is such.

    Args:
        name: as in `says`.
        *values: as in `says`.
        error: FathomError or Findings.
        **parts: where, remedy and nearest, as in `says`.
    """
    expected = says(name, *values, **parts)
    with pytest.raises(error) as caught:
        yield caught
    expected.check(caught.value)


def prose(name: str, *values: object) -> str:
    """Return the prose of an id with its values: up to the first one that is left out."""
    fixed = _fixed(name, values)
    pairs = zip(values, fixed[1:], strict=False)
    return fixed[0] + "".join(f"{value}{part}" for value, part in pairs)


def _what(name: str, values: tuple) -> str:
    fixed = [re.escape(part) for part in _fixed(name, values)]
    given = [".*?" if value is ... else _pattern(value) for value in values]
    given += [".*?"] * (len(fixed) - 1 - len(values))
    pairs = zip(given, fixed[1:], strict=True)
    return fixed[0] + "".join(value + part for value, part in pairs)


def _fixed(name: str, values: tuple) -> list[str]:
    """Return the parts of an id's prose that are not values."""
    assert name in MESSAGES, f"no prose '{name}'; {errors.nearest(name, MESSAGES)}"
    fixed = MESSAGES[name].split("{}")
    assert len(values) < len(fixed), f"'{name}' has {len(fixed) - 1} values: {MESSAGES[name]}"
    return fixed


def _pattern(part: object) -> str:
    """Return a pattern that finds a text as it is, and not inside a longer word or number."""
    if isinstance(part, re.Pattern):
        return part.pattern
    text = str(part)
    before = r"(?<!\w)" if re.match(r"\w", text) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", text) else ""
    return before + re.escape(text) + after
