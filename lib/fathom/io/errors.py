"""The errors that users see: what is wrong, where, and what to do."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_USER = re.compile(r"(?<=://)[^\s/?#]*@")
# Of one part of a message, and of several mistakes, that are printed.
LETTERS, LINES = 1000, 10
_QUERY = re.compile(r"(://[^\s?#]*\?)[^\s#…]+")


class FathomError(Exception):
    r"""A mistake that the user can fix: what is wrong, where (a key, a path), and what to do.

    All three may quote a file or a server: they lose the secrets of addresses, get the names of
    control characters, such as \n, in place of these, and end after LETTERS.
    """

    def __init__(self, what: str, where: str, remedy: str):
        what, where, remedy = (printable(without_secrets(text)) for text in (what, where, remedy))
        super().__init__(what, where, remedy)
        self.what, self.where, self.remedy = what, where, remedy

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; {self.remedy}"


class Findings(FathomError):
    """Several mistakes, reported together rather than the first alone."""

    def __init__(self, findings: Iterable[FathomError]):
        self.findings = tuple(findings)
        first = self.findings[0]
        super().__init__(first.what, first.where, first.remedy)

    def __str__(self) -> str:
        lines = [str(finding) for finding in self.findings[:LINES]]
        more = len(self.findings) - LINES
        return "\n".join([*lines, f"and {more} more; correct these first"] if more > 0 else lines)


def findings_in(error: FathomError) -> tuple[FathomError, ...]:
    """Return the findings of an error that may be several."""
    return error.findings if isinstance(error, Findings) else (error,)


def refuse(findings: Iterable[FathomError]) -> None:
    """Raise all findings together, each once, if there are any."""
    unique = {str(finding): finding for finding in findings}
    if unique:
        raise Findings(unique.values())


def printed(error: FathomError) -> str:
    """Return what a command prints of a mistake: one line with its name, or several findings."""
    return str(error) if "\n" in str(error) else f"fathom: {error}"


def unknown(kind: str, name: object, where: str, valid: Iterable[object]) -> FathomError:
    """Return the finding that a name of some kind does not exist, with the nearest valid one."""
    return FathomError(f"no {kind} '{brief(name)}'", where, nearest(name, valid))


def without_secrets(text: str) -> str:
    """Return text whose web addresses have no user, password or query, which may be a key."""
    return _QUERY.sub(r"\1…", _USER.sub("", text))


def printable(text: str) -> str:
    """Return text as a terminal may be sent it: control characters spelt, and cut if it is long."""
    text = _CONTROL.sub(lambda sign: repr(sign[0])[1:-1], text)
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}…"


def brief(value: object) -> str:
    """Return a value as a message prints it: at most 60 characters."""
    text = str(value)
    return text if len(text) <= 60 else f"{text[:50]}…"


def closest(name: object, valid: Iterable[object], likeness: float = 0.5) -> str | None:
    """Return the valid name that an unknown one probably means; None if no name is like it.

    `likeness`, from 0 to 1, is where names begin to be like each other; capitals do not count.
    """
    name, options = str(name), [*map(str, valid)]
    close = get_close_matches(name.lower(), [each.lower() for each in options], 9, likeness)
    # Of names that are equally like it, the one that begins like it.
    return max(
        (option for near in close for option in options if option.lower() == near),
        key=lambda option: (
            SequenceMatcher(None, option.lower(), name.lower()).ratio(),
            [sign == written for sign, written in zip(option, name, strict=False)],
        ),
        default=None,
    )


def nearest(name: object, valid: Iterable[object]) -> str:
    """Return the end of a message about an unknown name: the nearest valid one, or all of them."""
    names = [str(option) for option in valid]
    # The name without its paper, or without its section.
    ends = f"_{name}", f"/{name}", f".{name}"
    longer = [option for option in names if option.endswith(ends)]
    close = closest(name, names) if not longer else longer[0] if len(longer) == 1 else None
    if close is not None:
        return f"nearest valid name: '{close}'"
    return f"valid names: {shortened(longer or names) or 'none'}"


def shortened(names: Iterable[str]) -> str:
    """Return a list of names as a message prints it: the first twelve."""
    names = list(names)
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
