"""Claims are parsed to a tree; what is not of the language is refused and never executed."""

import pytest

from fathom.claims.expressions import (
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
from fathom.errors import FathomError


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
        ('__import__("os").system("x")', "no function '__import__('os').system'; valid names"),
        ('open("x") > 1', "here: no function 'open'; "),
        ('maen(t["a"]) > 1', "no function 'maen'; nearest valid name: 'mean'"),
        ('t["a"].value > 1', "`t['a'].value` is no number; use + - *, cells and the functions of"),
        ('t["a"] == 1', "`t['a'] == 1` compares otherwise; use < > <= >= or near(a, b, by)"),
        ('t["a"] / 2 > 1', "`t['a'] / 2` is no number; "),
        ('t["a"]', "`t['a']` is not true or false; compare it, or use trained(…)"),
        ('max(t["a"])', "`max(t['a'])` does not give true or false; use near, rising, "),
        ('trained(t["a"]) > 1', "`trained(t['a'])` does not give a number; use max, min, mean"),
        ('near(t["a"], 1)', "`near(t['a'], 1)` has other arguments; give 3 arguments, without n"),
        ('near(t["a"], 1, by=2)', "has other arguments; give 3 arguments, without names"),
        ("table5 > 1", '`table5` needs rows or labels; write table5["row", "column"]'),
        ('t["a", 1:2] > 1', "`1:2` is no index; write "),
        ("t[x] > 1", "`x` is no index; write "),
        ("t[True] > 1", "`True` is no index; write "),
        ('t["a"] > "b"', "`'b'` is no number; "),
        ("[x for x in t] > 1", "is no number; "),
        ("(lambda: 1)() > 1", "no function 'lambda: 1'; "),
        ('t["a" > 1', "here: no expression ("),
        ("", "here: no expression ("),
    ],
)
def test_anything_else_is_refused(text, message):
    with pytest.raises(FathomError) as raised:
        parse(text, "here")
    assert message in str(raised.value)
