"""What a user reads when something is wrong."""

import pickle

import pytest

from fathom.io.errors import (
    FathomError,
    Findings,
    brief,
    closest,
    nearest,
    printed,
    shortened,
    without_secrets,
)
from tests.support.refused import prose


def test_an_error_is_one_line_of_where_what_and_remedy():
    error = FathomError("no run 'a'", "runs.yaml:3: like", "write b")
    assert str(error) == "runs.yaml:3: like: no run 'a'; write b"
    assert (error.what, error.where, error.remedy) == (
        "no run 'a'",
        "runs.yaml:3: like",
        "write b",
    )


def test_an_error_that_quotes_control_characters_is_one_line():
    error = FathomError("no run 'a\n'", "\x1b[2Ja", "write\u2028b")
    assert str(error) == r"\x1b[2Ja: no run 'a\n'; write\u2028b"


def test_findings_are_a_line_each_in_their_order():
    first = FathomError("two", "b.yaml", "fix it")
    second = FathomError("one", "a.yaml", "fix it")
    findings = Findings(finding for finding in (first, second))
    assert str(findings) == "b.yaml: two; fix it\na.yaml: one; fix it"
    assert findings.findings == (first, second)


def test_findings_are_caught_as_an_error_is():
    with pytest.raises(FathomError) as caught:
        raise Findings([FathomError("what is wrong", "here", "fix it")])
    assert caught.value.what == "what is wrong"


def test_an_error_keeps_its_parts_between_processes():
    error = pickle.loads(pickle.dumps(FathomError("what", "where", "remedy")))
    assert str(error) == "where: what; remedy"


def test_the_nearest_name_is_named():
    names = ("static_6_6", "static_12_12", "layerdrop_24_24")
    assert nearest("static_12_21", names) == prose("nearest", "static_12_12")


def test_a_name_without_its_paper_finds_the_whole_name():
    names = ("latent_depth_table5", "latent_depth_figure5", "lamgd_table3", "a_table3")
    assert nearest("table5", names) == prose("nearest", "latent_depth_table5")
    assert nearest("table3", names) == prose("valid names", "lamgd_table3, a_table3")


def test_an_error_is_one_line_whatever_was_written():
    error = FathomError("no device 'cpu\n\0\ud800'", "config.yaml:1", "write cpu")
    assert str(error) == r"config.yaml:1: no device 'cpu\n\x00\ud800'; write cpu"


def test_a_long_value_is_shortened():
    assert brief("1" * 60) == "1" * 60
    assert brief("1" * 61) == "1" * 50 + "…"


def test_the_closest_name_is_none_below_the_likeness():
    assert closest("fro", ["for", "like"]) == "for"
    assert closest("fro", ["for", "like"], likeness=0.9) is None


def test_a_long_list_of_names_is_shortened():
    assert shortened(["a", "b"]) == "a, b"
    assert shortened("abcdefghijklmn") == "a, b, c, d, e, f, g, h, i, j, k, l, …"


def test_where_none_is_near_all_are_named():
    assert nearest("xyz", ("tiny", "paper")) == prose("valid names", "tiny, paper")


def test_of_many_names_the_first_twelve_are_named():
    names = [f"name_{number}" for number in range(13)]
    assert nearest("xyz", names) == prose("valid names", ", ".join([*names[:12], "…"]))
    assert nearest("xyz", names[:12]) == prose("valid names", ", ".join(names[:12]))


def test_of_equally_near_names_the_one_that_begins_alike_is_meant():
    names = ["diverse_12_12", "diverse_24_12", "diverse_6_6"]
    assert nearest("diverse_12", names) == prose("nearest", "diverse_12_12")


def test_a_command_prints_its_name_before_one_mistake_and_not_before_several():
    one = FathomError("a", "b", "c")
    assert printed(one) == "fathom: b: a; c"
    assert printed(Findings([one, one])) == "b: a; c\nb: a; c"


def test_where_there_are_no_names_it_says_so():
    assert nearest("xyz", ()) == prose("valid names", "none")


@pytest.mark.parametrize("name", [True, None, 3, 1.5])
def test_what_is_no_text_can_be_misspelt_as_well(name):
    assert nearest(name, (20, 40)) == prose("valid names", "20, 40")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://user:secret@host/file", "http://host/file"),
        ("https://token@host:80/file", "https://host:80/file"),
        ("ftp://user:se@cret@host/a@b", "ftp://host/a@b"),
        ("http://host/file?key=secret&x=1", "http://host/file?…"),
        ("http://host/file", "http://host/file"),
        ("somebody@host, is it 1:2?", "somebody@host, is it 1:2?"),
    ],
)
def test_no_message_has_the_secrets_of_an_address(address, shown):
    assert str(FathomError(f"no {address} x", address, f"try {address}")) == (
        f"{shown}: no {shown} x; try {shown}"
    )
    assert without_secrets(shown) == shown
