"""A file that is like another one: merged keys, each with the file and line that gives it."""

import pytest
from fathom.config.layered_files import files_of, layered

from fathom.config.yaml_values import read
from fathom.io.errors import FathomError
from tests.support.refused import says

FILES = {
    "small": """\
title: small
times: {width: 1/8}  # the paper's §2
updates:
  one: {main: 300}
rules:
  - set: {a: 1}
  - set: {b: 2}
""",
    "long": """\
title: long
like: small
updates:
  one: {other: 20}
  two: {main: 40}  # guessed
rules:
  - set: {c: 3}
""",
    "longest": """\
title: longest
like: long
rules:
  - set: {d: 4}
times: {layers: 1/4}
""",
}


@pytest.fixture
def read_all(tmp_path):
    def files(texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        return dict(layered({n: read(tmp_path / f"{n}.yaml", tmp_path) for n in texts}, {}))

    return files


def test_mappings_are_merged_values_replaced_and_lists_joined(read_all):
    assert read_all(FILES)["longest"].value == {
        "title": "longest",
        "like": "long",
        "times": {"width": "1/8", "layers": "1/4"},
        "updates": {"one": {"main": 300, "other": 20}, "two": {"main": 40}},
        "rules": [{"set": {"a": 1}}, {"set": {"b": 2}}, {"set": {"c": 3}}, {"set": {"d": 4}}],
    }


def test_a_file_without_like_is_itself(read_all):
    files = read_all(FILES)
    assert files_of(files["small"]) == ("small.yaml",)
    assert files_of(files["longest"]) == ("small.yaml", "long.yaml", "longest.yaml")


@pytest.mark.parametrize(
    ("path", "where"),
    [
        (("title",), "longest.yaml:1: title"),
        (("times", "width"), "small.yaml:2: times.width"),
        (("times", "layers"), "longest.yaml:5: times.layers"),
        (("updates", "one", "main"), "small.yaml:4: updates.one.main"),
        (("updates", "one", "other"), "long.yaml:4: updates.one.other"),
        (("updates", "three"), "long.yaml:3: updates.three"),
        (("rules", 1, "set", "b"), "small.yaml:7: rules.1.set.b"),
        (("rules", 2, "set", "c"), "long.yaml:7: rules.0.set.c"),
        (("rules", 3, "set", "d"), "longest.yaml:4: rules.0.set.d"),
    ],
)
def test_each_key_has_the_place_in_the_file_that_gives_it(read_all, path, where):
    assert read_all(FILES)["longest"].where(path) == where


def test_each_value_has_the_source_of_its_own_line(read_all):
    file = read_all(FILES)["longest"]
    assert file.source(("times", "width")) == "the paper's §2"
    assert file.source(("updates", "two", "main")) == "guessed"
    assert file.source(("title",)) == ""


def test_a_file_that_does_not_exist_and_a_circle_are_findings(read_all):
    wrong = read_all(FILES | {"odd": "title: odd\nlike: smal\n", "small": "like: longest\n"})
    assert all(isinstance(item, FathomError) for item in wrong.values())
    says("unknown", "file", "smal", where="odd.yaml:2: like", nearest="small").check(
        [str(wrong["odd"])]
    )
    says("circle", where="like").check([str(wrong["long"])])


def test_like_with_another_value_is_left_to_the_class_of_the_keys(read_all):
    assert files_of(read_all({"odd": "like: 3\n"})["odd"]) == ("odd.yaml",)
