"""Text that comes cut into pieces: spaces divide them, and `@@` ends each but the last of a word.

So does subword-nmt write text; fairseq reads it and joins it in the same way.
"""

from collections.abc import Iterable

MARK = "@@ "


def cut(line: str) -> list[str]:
    """Return the pieces of a line; a blank line has none.

    Args:
        line: the pieces with blanks between them, of whatever kind, as fairseq's `tokenize_line`.
    """
    return line.split()


def join(pieces: Iterable[str]) -> str:
    """Return the text of pieces: the words, as they were before they were cut.

    Args:
        pieces: of one sentence; the last may be marked, too, where a hypothesis ends inside a word.
    """
    return f"{' '.join(pieces)} ".replace(MARK, "").rstrip()
