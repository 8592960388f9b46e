"""Apostrophes of wikitext: marks of italic and bold text, or letters, as MediaWiki has it.

Two are a mark of italic text, three of bold, five of both. Parser::doQuotes of MediaWiki says which
others are letters.
"""

import re

_RUNS = re.compile("('{2,})")
_ITALIC, _BOLD, _BOTH = 2, 3, 5


def without_marks(text: str) -> str:
    """Return a line, or the words of a link, without marks of italic and bold text.

    Args:
        text: what is outside of links, tags and <nowiki>; an apostrophe alone is a letter.
    """
    parts = _RUNS.split(text)
    before, runs = parts[::2], [len(run) for run in parts[1::2]]
    for place, length in enumerate(runs):
        runs[place] = _BOLD if length == _BOLD + 1 else min(length, _BOTH)
        before[place] += "'" * (length - runs[place])
    italic, bold = (sum(run in (mark, _BOTH) for run in runs) for mark in (_ITALIC, _BOLD))
    places = [place for place, run in enumerate(runs) if run == _BOLD]
    if italic % 2 and bold % 2 and places:
        # One of the bold ones was meant as a letter and a mark of italic text.
        before[min(places, key=lambda place: _rank(before[place]))] += "'"
    return "".join(before)


def _rank(before: str) -> int:
    """Return how early a run is taken: after a word of one letter, of more letters, or a blank."""
    if before.endswith(" "):
        return 2
    return 0 if before[-2:-1] == " " else 1
