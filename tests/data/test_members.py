from pathlib import Path

import pytest

from fathom.data.members import one_length, plain, require, text_of
from tests.support.refused import refused


def test_a_member_is_known_by_its_name_in_whatever_folder():
    assert plain("experiments-1/tacl20/a.en") == plain("./a.en") == plain("a.en") == "a.en"


def test_the_first_member_that_is_missing_is_named():
    require(["a", "b"], {"a": 1, "b": 2}, Path("x.zip"))
    with refused("no file in it", "b", where="x.zip"):
        require(["c", "b", "a"], {"a": 1}, Path("/folder/x.zip"))


def test_two_sides_have_one_length():
    assert one_length({"a.fr": 3, "a.en": 3}, Path("x.zip")) == 3
    with refused("numbers of lines", "1,000", 3, "a.fr", "a.en", where="x.zip"):
        one_length({"a.fr": 1000, "a.en": 3}, Path("x.zip"))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b" a line \r\n", "a line"),
        ("une\u2028ligne\n".encode(), "une ligne"),
        (b"\n", ""),
    ],
)
def test_a_line_is_text_on_one_line(line, text):
    assert text_of(line, "here") == text


def test_a_line_in_another_encoding_is_refused():
    with refused("not UTF-8", where="x.zip: a.fr, line 2"):
        text_of("été".encode("latin-1"), "x.zip: a.fr, line 2")
