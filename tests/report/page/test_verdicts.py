"""Signs of verdicts, and bars that count them."""

from fathom.artefacts.page.verdicts import SIGNS, bar, sign_of
from fathom.artefacts.table.verdicts import Verdict


def test_every_verdict_has_its_own_sign():
    assert len(set(SIGNS.values())) == len(SIGNS)


def test_a_verdict_has_sign_word_and_colour():
    sign = sign_of(Verdict("no result (paper has one)"))
    assert (sign.sign, sign.words, sign.style) == ("✕", "no result (paper has one)", "no-result")
    assert sign.judged


def test_cells_of_another_scale_are_not_judged():
    sign = sign_of(Verdict("not comparable (tiny)"))
    assert (sign.words, sign.judged) == ("not judged", False)


def test_a_bar_counts_printed_cells_in_one_order(compare):
    counts = {share.sign.words: share.count for share in bar(compare().cells)}
    assert sum(counts.values()) == 7
    assert next(iter(counts)) == "reproduced"
    assert counts["no result as reported"] == 1


def test_a_bar_of_a_smaller_scale_has_one_part(compare):
    (share,) = bar(compare(comparable=False).cells)
    assert (share.count, share.sign.words) == (7, "not judged")
