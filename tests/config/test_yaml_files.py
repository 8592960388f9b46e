import os

import pytest

from fathom.config.yaml_values import read
from fathom.io.errors import FathomError, Findings
from tests.support.refused import prose, refused, says


def test_many_aliases_are_one_finding(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n")
    with refused("anchor", where="a.yaml:1", error=Findings) as caught:
        read(file, tmp_path)
    assert len(caught.value.findings) == 1


def test_a_character_that_yaml_forbids_is_found_in_its_line(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("a: §§§\nb: \x01\n")
    with refused("not YAML", where="a.yaml:2"):
        read(file, tmp_path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.yaml")
    with refused("not a file", where="a.yaml"):
        read(tmp_path / "a.yaml", tmp_path)


def test_each_key_knows_its_line(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("one: 1\ntwo:\n  three: [4,\n    5]\n")
    got = read(file, tmp_path)
    assert got.value == {"one": 1, "two": {"three": [4, 5]}}
    assert got.where(("two", "three")) == "a.yaml:3: two.three"
    assert got.where(("two", "three", 1)) == "a.yaml:4: two.three.1"


def test_a_key_that_is_missing_is_placed_at_the_nearest_key_above(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("one: {two: 2}\n")
    assert read(file, tmp_path).where(("one", "other")) == "a.yaml:1: one.other"


def test_a_duplicate_key_is_refused_with_its_line(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("one: 1\ntwo: 2\none: 3\n")
    with refused("duplicate key", where="a.yaml:3: one", error=Findings) as caught:
        read(file, tmp_path)
    assert len(caught.value.findings) == 1


@pytest.mark.parametrize("text", ["a: [1\nb: 2\n", "\tb: 1\n"])
def test_broken_yaml_is_one_line_with_file_and_line(tmp_path, text):
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with pytest.raises(FathomError) as caught:
        read(file, tmp_path)
    assert str(caught.value).startswith("a.yaml:")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "- 1\n", "word\n"])
def test_a_file_without_a_mapping_is_refused(tmp_path, text):
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with refused("no mapping"):
        read(file, tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with refused("cannot be read", where="gone.yaml"):
        read(tmp_path / "gone.yaml", tmp_path)


@pytest.mark.parametrize(("key", "read_as"), [("no", "true or false"), ("~", "null")])
def test_a_key_that_yaml_does_not_read_as_text_is_refused_with_its_line(tmp_path, key, read_as):
    """A language's code `no` became `False`, and the message spoke of that."""
    file = tmp_path / "a.yaml"
    file.write_text(f"one:\n  {key}: 1\n")
    parts = {"where": f"a.yaml:2: one.{key}", "remedy": prose("put it in quotes")}
    with refused("key that YAML changes", read_as, error=Findings, **parts) as caught:
        read(file, tmp_path)
    assert len(caught.value.findings) == 1


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    """It ended in a traceback."""
    file = tmp_path / "a.yaml"
    file.write_bytes(b"title: caf\xe9\n")
    with refused("byte", 11, where="a.yaml"):
        read(file, tmp_path)


def test_a_number_as_a_key_is_read_as_its_text(tmp_path):
    """Ids of rows are printed text: 6 and 6.0 are two ids."""
    file = tmp_path / "a.yaml"
    file.write_text("rows: {6: a, 6.0: b, 012: c}\n")
    assert read(file, tmp_path).value == {"rows": {"6": "a", "6.0": "b", "012": "c"}}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a: &x 1\nb: 2\n", 1, says("anchor")),
        ("a: 1\nb: *a\n", 2, says("anchor")),
        ("a: 1\nb: {<<: {c: 2}}\n", 2, says("merge key")),
        ("a: 1\nb: .nan\n", 2, says("no number", ".nan")),
        ("a: 1\nb: !!str 2\n", 2, says("tag")),
        ("a: 1\nb: 2001-01-01\n", 2, says("date", "2001-01-01")),
        ("a: 1\nb: [1:30]\n", 2, says("base 60", "1:30")),
        ("a: 1\nb: " + "[" * 40 + "\n", 2, says("levels", 32)),
        ("a: 1\nb: [1.0, -.inf]\n", 2, says("no number", "-.inf")),
    ],
)
def test_what_is_not_plain_yaml_is_refused_with_its_line(tmp_path, text, line, what):
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with pytest.raises(FathomError) as caught:
        read(file, tmp_path)
    assert caught.value.where.startswith(f"a.yaml:{line}")
    what.check(caught.value)


COMMENTED = """\
# A comment alone belongs to no value.
model:  # all of the model
  width: 512  # App. C.2
  ffn: 1024
  text: "a # b"  # not "# b"
  flow: {a: 1, b: 2}  # closing line
  lines:
    {a: 1,  # own line
     b: 2}  # closing line
  list: [1, 2]# no blank, no comment
other: |  # header
  # text, not a comment
last: 1 # one blank is enough
"""


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("model.width", "App. C.2"),
        ("model.ffn", "all of the model"),
        ("model.text", 'not "# b"'),
        ("model.flow.b", "closing line"),
        ("model.lines.a", "own line"),
        ("model.lines.b", "closing line"),
        ("other", "header"),
        ("last", "one blank is enough"),
    ],
)
def test_the_source_of_a_value_is_the_comment_at_the_end_of_its_line(tmp_path, path, source):
    file = tmp_path / "a.yaml"
    file.write_text(COMMENTED.replace("  list: [1, 2]# no blank, no comment\n", ""))
    assert read(file, tmp_path).source(tuple(path.split("."))) == source


def test_a_value_without_a_comment_on_its_line_or_above_has_no_source(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("# alone\na: {b: 1}\n")
    assert read(file, tmp_path).source(("a", "b")) == ""
