"""Which apostrophes are letters: the examples of MediaWiki's own rules."""

import pytest

from fathom.data.quotes import without_marks


@pytest.mark.parametrize(
    ("wikitext", "shown"),
    [
        ("l'eau", "l'eau"),
        ("''a'' '''b''' '''''c'''''", "a b c"),
        ("''''foo''''", "'foo'"),
        ("''''''foo''''''", "'foo'"),
        ("l'''Iliade''", "l'Iliade"),
        ("'''L'''Iliade''", "LIliade"),
        ("Das '''erste''' Mal l'''Iliade''.", "Das erste Mal l'Iliade."),
        ("dell'''Iliade'' '''a''' b", "dell'Iliade a b"),
        ("l'''Iliade'''", "lIliade"),
        ("'''open", "open"),
        ("un '''mot '' o'''x'''", "un mot  o'x"),
        ("", ""),
    ],
)
def test_apostrophes_are_marks_or_letters(wikitext, shown):
    assert without_marks(wikitext) == shown
