"""Claims are parsed to a tree; what is not of the language is refused and never executed."""

import pytest

from fathom.artefacts.claims.expressions import (
    Arithmetic,
    Call,
    Comparison,
    Junction,
    Key,
    Negation,
    Number,
    Reference,
    Word,
    parse,
    parts,
)
from fathom.io.errors import FathomError
from tests.support.refused import prose, says


def shown(table, *keys):
    return Reference(table, keys)


def test_a_cell_is_compared_with_a_difference():
    tree = parse('table3["A", "avg"] - table3["B", "avg"] > 2.5', "here")
    assert tree == Comparison(
        (
            Arithmetic(
                "-",
                shown("table3", Key(("A",)), Key(("avg",))),
                shown("table3", Key(("B",)), Key(("avg",))),
            ),
            Number(2.5),
        ),
        (">",),
    )


def test_comparisons_are_chained():
    tree = parse('0.7 <= max(table1["a", :]) <= 1.1', "here")
    assert tree.operators == ("<=", "<=")
    assert tree.operands[1] == Call(
        "max", (shown("table1", Key(("a",)), Key(every=":", several=True)),)
    )


def test_slices_are_lists_all_or_tasks():
    tree = parse('trained(t[["a", "b"]]) and trained(t["a", tasks]) and trained(t[12, 6])', "here")
    keys = [part.keys for part in parts(tree) if isinstance(part, Reference)]
    assert keys == [
        (Key(("a", "b"), several=True),),
        (Key(("a",)), Key(every="tasks", several=True)),
        (Key(("12",)), Key(("6",))),
    ]


def test_truths_are_joined_and_negated():
    tree = parse('trained(t["a"]) and not failed(t["b"])', "here")
    assert isinstance(tree, Junction)
    assert tree.operator == "and"
    assert isinstance(tree.parts[1], Negation)


def test_a_word_is_an_argument():
    tree = parse('mean(sd(figure6["b"], "layer")) < -1', "here")
    assert Word("layer") in list(parts(tree))
    assert tree.operands[1] == Arithmetic("-", Number(0.0), Number(1.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '__import__("os").system("x")',
            says("unknown", "function", "__import__('os').system", remedy=prose("valid names")),
        ),
        ('open("x") > 1', says("unknown", "function", "open", where="here")),
        ('maen(t["a"]) > 1', says("unknown", "function", "maen", nearest="mean")),
        ('t["a"].value > 1', says("claim is no number", "t['a'].value", remedy="+ - *")),
        (
            't["a"] == 1',
            says("claim compares", "t['a'] == 1", remedy="< > <= >= or near(a, b, by)"),
        ),
        ('t["a"] / 2 > 1', says("claim is no number", "t['a'] / 2")),
        ('t["a"]', says("claim is no truth", "t['a']", remedy="trained(…)")),
        ('max(t["a"])', says("claim gives", "max(t['a'])", "true or false", remedy="near, rising")),
        (
            'trained(t["a"]) > 1',
            says("claim gives", "trained(t['a'])", "a number", remedy="max, min, mean"),
        ),
        ('near(t["a"], 1)', says("claim arguments", "near(t['a'], 1)", remedy="3 arguments")),
        ("max() > 1", says("claim arguments", "max()", remedy=prose("arguments", "1 or more"))),
        ('t["a"] < 1e999', says("claim too large", remedy="1e+15")),
        (f't["a"] < {"9" * 400}', says("claim too large", remedy="1e+15")),
        ('t["a"] > -1e16', says("claim too large", "1e+16")),
        ('near(t["a"], 1, by=2)', says("claim arguments", remedy=prose("arguments", 3))),
        ("table5 > 1", says("claim needs keys", "table5", remedy='table5["row", "column"]')),
        ('t["a", 1:2] > 1', says("claim index", "1:2")),
        ("t[x] > 1", says("claim index", "x")),
        ("t[True] > 1", says("claim index", "True")),
        ('t["a"] > "b"', says("claim is no number", "'b'")),
        ("[x for x in t] > 1", says("claim is no number")),
        ('max("a") > 1', says("claim is no number", "'a'", where="here")),
        ('near(t["a"], "b", 1)', says("claim is no number", "'b'")),
        ('mean(sd(c["a"], 2)) > 1', says("claim word", "2", remedy='"layer"')),
        ('mean(sd(c["a"], t["b"])) > 1', says("claim word", "t['b']")),
        ('mean(first(c["a"], "x")) > 1', says("claim is no number", "'x'")),
        ('mean(first(c["a"], t["b"])) > 1', says("claim share", "t['b']", remedy="above 0")),
        ('mean(last(c["a"], 1.5)) > 1', says("claim share", "1.5")),
        ('mean(last(c["a"], -0.5)) > 1', says("claim share", "-0.5")),
        ("(lambda: 1)() > 1", says("unknown", "function", "lambda: 1")),
        ('t["a" > 1', says("no expression", where="here")),
        ("", says("no expression", where="here")),
    ],
)
def test_anything_else_is_refused(text, message):
    with pytest.raises(FathomError) as raised:
        parse(text, "here")
    message.check(raised.value)
