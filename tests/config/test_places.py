"""Values keep their file and key when they are read, merged and substituted."""

from fathom.config.merge import Node, Place, merge, placeholders, substitute
from fathom.config.yaml_values import YamlFile

FILE = YamlFile("a.yaml", {}, {("a",): 1, ("a", "b"): 2, ("c",): 3, ("c", "b"): 4})


def node(value, key):
    return Node.read(value, Place(FILE, (key,)))


def test_merged_values_keep_their_places():
    merged = merge(node({"x": {"p": 1, "q": 2}, "b": 1}, "a"), node({"x": {"p": 3}, "b": 2}, "c"))
    assert merged.plain == {"x": {"p": 3, "q": 2}, "b": 2}
    assert merged.at(("b",)).where == "a.yaml:4: c.b"
    assert merged.at(("x", "q")).path == ("a", "x", "q")
    assert merged.at(("x", "new")).path == ("c", "x", "new")


def test_a_value_and_a_mapping_replace_each_other():
    assert merge(node({"x": 1}, "a"), node({"x": {"y": 2}}, "c")).plain == {"x": {"y": 2}}
    assert merge(node({"x": {"y": 2}}, "a"), node({"x": None}, "c")).plain == {"x": None}


def test_a_value_is_put_where_no_mapping_was():
    value = Node(7, Place(FILE, ("c",)))
    assert node({"x": 1}, "a").put(("m", "n"), value).plain == {"x": 1, "m": {"n": 7}}


def test_names_are_replaced_in_keys_lists_and_parts_of_texts():
    thing = {"<a>": ["<b>", "x_<a>", 3], "k": "<other>"}
    assert substitute(thing, {"a": "m", "b": 12}) == {"m": [12, "x_m", 3], "k": "<other>"}
    assert placeholders("<a>_plain_<column>") == ("a", "column")
