"""Fonts for letters that the figures' own font lacks."""

from collections.abc import Iterator
from functools import cache

from fathom.io.errors import brief
from fathom.io.screen import say


@cache
def others(letters: frozenset[str], own: str) -> tuple[str, ...]:
    """Return the installed fonts that have letters which the font `own` lacks.

    Letters that no font has are said, once for the same letters. `letters` are of text that is
    drawn; blanks and ends of lines need no font.
    """
    lacking = {letter for letter in letters if letter.isprintable() and letter != " "} - _of(own)
    names = []
    for name in _installed() if lacking else ():
        if found := lacking & _of(name):
            names.append(name)
            lacking -= found
    if lacking:
        what = f"no font here has {brief(' '.join(sorted(lacking)))}: figures show boxes"
        say(f"fathom: {what}; install one that does, such as Noto Sans")
    return tuple(names)


def _installed() -> Iterator[str]:
    """Yield the names of fonts, those that come with matplotlib first."""
    from matplotlib.font_manager import fontManager

    # The last resort has a box for every letter.
    names = {font.name for font in fontManager.ttflist if "Last Resort" not in font.name}
    yield from sorted(names, key=lambda name: (not name.startswith("DejaVu"), name))


@cache
def _of(name: str) -> set[str]:
    """Return the letters of a font; none of one that cannot be read."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        return set(map(chr, get_font(findfont(FontProperties(family=[name]))).get_charmap()))
    except (OSError, RuntimeError):
        return set()
