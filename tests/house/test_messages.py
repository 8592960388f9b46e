"""Tests pin the prose of messages by ids of one table, which has what is used and what is written.

A reworded message then changes one line of tests/support/messages.py.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fathom.io.errors import FathomError, Findings
from tests.house.tree import ROOT, Source, listed, rule_files, sources
from tests.support.messages import MESSAGES
from tests.support.refused import refused, says

TABLE = "tests/support/messages.py"
BY_ID = ("refused", "says", "prose")
ERRORS = ("FathomError", "Findings")


def unused(root: Path, messages: dict[str, str]) -> list[str]:
    """Return ids that no test uses."""
    used = {
        node.args[0].value
        for source in sources(root, "tests")
        for node in source.nodes
        if _is_call(node, *BY_ID) and node.args and isinstance(node.args[0], ast.Constant)
    }
    return [f"{TABLE}: no test uses '{name}'; delete it" for name in messages if name not in used]


def unwritten(root: Path, messages: dict[str, str]) -> list[str]:
    """Return ids with words that no string of the library or the workflow has."""
    texts = [text for source in sources(root, "lib", "workflow") for text in _strings(source)]
    texts += [path.read_text(encoding="utf-8") for path in rule_files(root)]
    written = "\n".join(texts)
    return [
        f"{TABLE}: no message has the words '{words}' of '{name}'; correct them"
        for name, text in messages.items()
        for words in (part.strip(" `'\"(),:;<>") for part in text.split("{}"))
        if words not in written
    ]


def _strings(source: Source) -> Iterator[str]:
    """Yield the texts of a file that are no docstrings, without the values of f-strings."""
    for node in source.nodes:
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and id(node) not in source.docstrings:
            yield str(node.value)


def pinned(root: Path) -> list[str]:
    """Return tests that pin a message's prose by themselves."""
    return [
        f"{source.at(node)}: pins prose; write refused(id) and put the prose into {TABLE}"
        for source in sources(root, "tests")
        for node in source.nodes
        if _is_call(node, "raises")
        and any(keyword.arg == "match" for keyword in node.keywords)
        and any(re.search(rf"\b({'|'.join(ERRORS)})\b", ast.unparse(arg)) for arg in node.args)
    ]


def _is_call(node: ast.AST, *names: str) -> bool:
    """Whether a node calls a function of one of the names, also as an attribute of a module."""
    function = getattr(node, "func", None)
    return getattr(function, "id", getattr(function, "attr", None)) in names


def test_every_id_is_used_by_a_test():
    findings = unused(ROOT, MESSAGES)
    assert not findings, listed(findings)


def test_the_words_of_every_id_are_those_of_a_message():
    findings = unwritten(ROOT, MESSAGES)
    assert not findings, listed(findings)


def test_no_test_pins_prose_by_itself():
    findings = pinned(ROOT)
    assert not findings, listed(findings)


def test_an_id_that_nothing_uses_is_found(small):
    root = small(
        {"tests/test_a.py": 'x = "one"\nwith refused("two"):\n    says("three", where="x")\n'}
    )
    messages = dict.fromkeys(("one", "two", "three"), "text")
    assert unused(root, messages) == [f"{TABLE}: no test uses 'one'; delete it"]


def test_words_that_no_message_has_are_found(small):
    root = small(
        {
            "lib/fathom/data/a.py": '"""Not this."""\n\nx = f"no file {a} of " f"{b} is left"\n',
            "workflow/b.py": 'y = "all is well"\n',
        }
    )
    messages = {
        "a": "no file {} of {} is left",
        "b": "all is {}",
        "c": "Not this",
        "d": "'{}' left {}",
    }
    assert unwritten(root, messages) == [
        f"{TABLE}: no message has the words 'Not this' of 'c'; correct them"
    ]


def test_prose_that_a_test_pins_by_itself_is_found(small):
    text = """
        def test_a():
            with pytest.raises(FathomError, match="gone"):
                act()
            with pytest.raises((OSError, Findings), match="gone"):
                act()
            with pytest.raises(FathomError):
                act()
            with pytest.raises(ValueError, match="gone"):
                act()
    """
    findings = pinned(small({"tests/data/test_a.py": text}))
    assert [finding.split(":")[1] for finding in findings] == ["2", "4"]


WRONG = FathomError("no run 'deap'", "runs.yaml:3: runs.x.like", "nearest valid name: 'deep'")


@pytest.mark.parametrize(
    ("right", "parts"),
    [
        (True, {"where": "runs.x.like", "nearest": "deep"}),
        (True, {"where": re.compile("runs.*like"), "remedy": "deep"}),
        (False, {"where": "runs.x"}),
        (False, {"where": "s.x.like"}),
        (False, {"nearest": "dee"}),
        (False, {"remedy": "dee"}),
    ],
)
def test_an_error_and_its_printed_line_have_the_same_parts(right, parts):
    expected = says("unknown", "run", **parts)
    assert expected.matches(WRONG) is expected.matches(f"fathom: {WRONG}") is right


def test_other_values_of_a_prose_are_another_message():
    assert says("unknown", ..., "deap").matches(WRONG)
    assert not says("unknown", "paper").matches(WRONG)
    assert not says("unknown", "run", "dea").matches(WRONG)
    assert not says("no such file").matches(WRONG)


def test_a_check_that_fails_prints_the_real_message():
    with pytest.raises(pytest.fail.Exception, match=re.escape(str(WRONG))), refused("no such file"):
        raise WRONG


def test_one_of_several_findings_must_have_all_parts():
    other = FathomError("no such file", "a.yaml", "write it")
    with refused("no such file", where="a.yaml", error=Findings):
        raise Findings([WRONG, other])
    with pytest.raises(pytest.fail.Exception), refused("no such file", where="runs.x.like"):
        raise Findings([WRONG, other])
