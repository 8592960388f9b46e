"""Text in several variants of a language, as of Chinese: `-{zh-hans:软件;zh-hant:軟體}-`.

A reader who chose no variant sees the first of LanguageZh's order that is there, or else the first
one. Flags before a bar hide the text, as that of rules for a page (`-{H|...}-`) and of titles
(`-{T|...}-`); text without variants is shown as it is.
"""

import re

# Of innermost ones, since they may hold others.
_MARKUP = re.compile(r"-\{((?:(?!-\{|\}-).)*)\}-", re.DOTALL)
# A variant's name: at the beginning, after a semicolon, or after what it replaces.
_NAME = re.compile(r"(?:^|;)(?:[^;:]*=>)?[^\w;:]*((?:zh|kk)(?:-[a-z]+)?)\s*:")
_HIDDEN = frozenset("HT-DN")
_ORDER = ("zh", "zh-hans", "zh-hant", "zh-cn", "zh-tw", "zh-hk", "zh-sg", "zh-mo", "zh-my")


def one_variant(text: str) -> str:
    """Return a page's text with one variant where it has several.

    Args:
        text: the page's text; markup may go over several lines.
    """
    count = 1
    while count:
        text, count = _MARKUP.subn(_shown, text)
    return text


def _shown(markup: re.Match[str]) -> str:
    """Return what a reader sees of what is between `-{` and `}-`."""
    flags, bar, rules = markup[1].partition("|")
    if not bar:
        flags, rules = "", flags
    if _HIDDEN & {flag.strip() for flag in flags.split(";")}:
        return ""
    before, *named = _NAME.split(rules)
    variants = dict(zip(named[::2], named[1::2], strict=True))
    if not variants or before.strip():
        return rules
    name = next((name for name in _ORDER if name in variants), named[0])
    return variants[name].strip("; \n")
