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
    without_secrets,
)


def test_an_error_is_one_line_of_where_what_and_remedy_and_stays_so_between_processes():
    error = FathomError("no run 'a\n\0\ud800'", "runs.yaml:3: like", "write b")
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert str(each) == r"runs.yaml:3: like: no run 'a\n\x00\ud800'; write b"
        assert (each.where, each.remedy) == ("runs.yaml:3: like", "write b")


def test_findings_are_a_line_each_and_one_mistake_is_printed_with_the_commands_name():
    first, second = FathomError("two", "b.yaml", "fix it"), FathomError("one", "a.yaml", "fix it")
    findings = Findings(finding for finding in (first, second))
    assert findings.findings == (first, second)
    assert printed(findings) == str(findings) == "b.yaml: two; fix it\na.yaml: one; fix it"
    assert printed(first) == "fathom: b.yaml: two; fix it"


def test_many_mistakes_and_long_texts_are_a_few_lines():
    """A file with a mistake in each run printed 60 lines, and a long title filled the terminal."""
    findings = Findings(FathomError(f"mistake {n}", "a.yaml", "fix it") for n in range(60))
    first, *_, last = lines = str(findings).split("\n")
    assert (first, last) == ("a.yaml: mistake 0; fix it", "and 50 more; correct these first")
    assert (len(lines), len(findings.findings)) == (11, 60)
    assert len(str(FathomError("a" * 100_000, "b" * 100_000, "c" * 100_000))) < 3_100


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


NAMES = [f"name_{number}" for number in range(13)]
TABLES = ("latent_depth_table5", "latent_depth_figure5", "lamgd_table3", "a_table3")


@pytest.mark.parametrize(
    ("name", "valid", "end"),
    [
        ("static_12_21", ("static_6_6", "static_12_12"), "nearest valid name: 'static_12_12'"),
        # Without its paper.
        ("L-d", ("ll", "L-D", "l-e"), "nearest valid name: 'L-D'"),
        ("table5", TABLES, "nearest valid name: 'latent_depth_table5'"),
        ("table3", TABLES, "valid names: lamgd_table3, a_table3"),
        # Of names that are equally near, the one that begins like it.
        ("diverse_12", ("diverse_12_12", "diverse_24_12"), "nearest valid name: 'diverse_12_12'"),
        ("xyz", ("tiny", "paper"), "valid names: tiny, paper"),
        ("xyz", NAMES, f"valid names: {', '.join([*NAMES[:12], '…'])}"),
        ("xyz", NAMES[:12], f"valid names: {', '.join(NAMES[:12])}"),
        ("xyz", (), "valid names: none"),
        *((name, (20, 40), "valid names: 20, 40") for name in (True, None, 3, 1.5)),
    ],
)
def test_the_nearest_valid_name_is_named_or_else_the_first_twelve(name, valid, end):
    assert nearest(name, valid) == end


def test_a_name_below_the_likeness_is_not_close():
    assert closest("fro", ["for", "like"]) == "for"
    assert closest("fro", ["for", "like"], likeness=0.9) is None


def test_a_long_value_is_shortened():
    assert (brief("1" * 60), brief("1" * 61)) == ("1" * 60, "1" * 50 + "…")
