import pytest
from fairseq.data.data_utils import post_process
from fairseq.tokenizer import tokenize_line

from fathom.data.subwords.marks import cut, join

LINES = (
    "Die Re@@ publi@@ k &quot; ist &quot; ein@@ zig .",
    "one",
    "ends inside@@",
    "an @ and an @@ alone @@",
    "e@@@ mail@@ @@",
    "  wide\u3000blank\u00a0s \t ",
    "",
)


@pytest.mark.parametrize("line", LINES)
def test_lines_are_cut_and_joined_as_fairseq_does_it(line):
    assert cut(line) == tokenize_line(line)
    assert join(cut(line)) == post_process(" ".join(cut(line)), "@@ ")


def test_words_are_whole_again():
    assert join(cut("Re@@ publi@@ k ist gut")) == "Republik ist gut"
