import pytest

from fathom.config.yaml_files import read
from fathom.errors import FathomError, Findings


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


def test_a_key_that_stands_twice_is_refused_with_its_line(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("one: 1\ntwo: 2\none: 3\n")
    with pytest.raises(Findings) as caught:
        read(file, tmp_path)
    assert str(caught.value) == "a.yaml:3: one: the key stands twice; delete one of the two"


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
    with pytest.raises(FathomError, match="no mapping at the top level"):
        read(file, tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FathomError, match=r"gone\.yaml: cannot be read"):
        read(tmp_path / "gone.yaml", tmp_path)


@pytest.mark.parametrize(
    ("key", "read_as"), [("no", "true or false"), ("12", "a number"), ("~", "null")]
)
def test_a_key_that_yaml_does_not_read_as_text_is_refused_with_its_line(tmp_path, key, read_as):
    """A language's code `no` became `False`, and the message spoke of that."""
    file = tmp_path / "a.yaml"
    file.write_text(f"one:\n  {key}: 1\n")
    with pytest.raises(Findings) as caught:
        read(file, tmp_path)
    assert str(caught.value) == (
        f"a.yaml:2: one.{key}: YAML reads this key as {read_as}; put it in quotes"
    )


def test_a_file_that_is_not_utf_8_is_told(tmp_path):
    """It ended in a traceback."""
    file = tmp_path / "a.yaml"
    file.write_bytes(b"title: caf\xe9\n")
    with pytest.raises(FathomError, match=r"^.*a\.yaml: not UTF-8 at byte 11; "):
        read(file, tmp_path)
