"""The errors that users see: what is wrong, where, and what to do."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_USER = re.compile(r"(?<=://)[^\s/?#]*@")
_QUERY = re.compile(r"(://[^\s?#]*\?)[^\s#…]+")


class FathomError(Exception):
    r"""A mistake that the user can fix.

    Args:
        what: what is wrong, without a full stop.
        where: file and key, address, or path.
        remedy: what to do about it.

    All three may quote a file or a server: they lose the secrets of addresses, and get the names of
    control characters, such as \n, in place of these.
    """

    def __init__(self, what: str, where: str, remedy: str):
        """Keep the three parts apart, so that a caller can add to them."""
        what, where, remedy = (_printable(text) for text in (what, where, remedy))
        super().__init__(what, where, remedy)
        self.what, self.where, self.remedy = what, where, remedy

    def __str__(self) -> str:
        """One line: where, what, remedy."""
        return f"{self.where}: {self.what}; {self.remedy}"


class Findings(FathomError):
    """Several mistakes, reported together rather than the first alone."""

    def __init__(self, findings: Iterable[FathomError]):
        """Keep the findings in the order in which they were given."""
        self.findings = tuple(findings)
        first = self.findings[0]
        super().__init__(first.what, first.where, first.remedy)

    def __str__(self) -> str:
        """One line a finding."""
        return "\n".join(str(finding) for finding in self.findings)


def unique(findings: Iterable[FathomError]) -> Findings:
    """Return all findings as one error, each once."""
    return Findings({str(finding): finding for finding in findings}.values())


def without_secrets(text: str) -> str:
    """Return text whose web addresses have no user, password or query, which may be a key."""
    return _QUERY.sub(r"\1…", _USER.sub("", text))


def _printable(text: str) -> str:
    """Return text on one line, without secrets."""
    return _CONTROL.sub(lambda sign: repr(sign[0])[1:-1], without_secrets(text))


def brief(value: object) -> str:
    """Return a value as a message prints it: at most 60 signs."""
    text = str(value)
    return text if len(text) <= 60 else f"{text[:50]}…"


def closest(name: object, valid: Iterable[object], likeness: float = 0.5) -> str | None:
    """Return the valid name that an unknown one probably means; None if no name is like it.

    Args:
        name: what was written.
        valid: what could have been written.
        likeness: of the two, from 0 to 1, from which on a name is like another.
    """
    close = get_close_matches(str(name), map(str, valid), n=1, cutoff=likeness)
    return close[0] if close else None


def nearest(name: object, valid: Iterable[object]) -> str:
    """Return the end of a message about an unknown name: the nearest valid one, or all of them.

    Args:
        name: what was written.
        valid: what could have been written.
    """
    names = [str(option) for option in valid]
    # The name without its paper.
    longer = [option for option in names if option.endswith((f"_{name}", f"/{name}"))]
    close = closest(name, names) if not longer else longer[0] if len(longer) == 1 else None
    if close is not None:
        return f"nearest valid name: '{close}'"
    return f"valid names: {shortened(longer or names) or 'none'}"


def shortened(names: Iterable[str]) -> str:
    """Return a list of names as a message prints it: the first twelve."""
    names = list(names)
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
