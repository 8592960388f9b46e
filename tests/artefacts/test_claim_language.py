"""Claims are read as Python's grammar; what is not of the language is refused, never executed."""

import pytest

from fathom.artefacts.claims.language import references, truth
from fathom.artefacts.claims.worlds import Printed, places, worst
from fathom.io.errors import FathomError
from tests.artefacts.claim_numbers import answer
from tests.support.small_tables import KNOWN, TABLES, table

LATENT, LAMGD = "latent_depth", "lamgd"
CELL, CELLS = 'table5["12/12", "avg"]', 'table5["12/12", tasks]'


@pytest.fixture(scope="module")
def printed(own_project):
    """A function that answers an expression on the cells that a paper prints."""
    worlds = {name: Printed(own_project, own_project.papers[name]) for name in own_project.papers}
    return lambda text, paper=LATENT: truth(text, "here", worlds[paper])


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    [
        ('__import__("os").system("x")', "`__import__('os').system('x')` is not true", "compare"),
        ('open("x") > 1', "no function 'open'", "'mean'"),
        ("maen(A) > 1", "no function 'maen'", "'mean'"),
        ("A.value > 1", "`A['x'].value` is not a number", "use + - *"),
        ("A.__class__ > 1", "`A['x'].__class__` is not a number", "use + - *"),
        ("A == 1", "`A['x'] == 1` compares otherwise", "near(a, b, by)"),
        ("A / 2 > 1", "`A['x'] / 2` is not a number", "use + - *"),
        ("+A > 1", "`+A['x']` is not a number", "use + - *"),
        ("A", "`A['x']` is not true or false", "compare it"),
        ("True", "`True` is not true or false", "compare it"),
        ("A > True", "`True` is not a number", "use + - *"),
        ("A > 1j", "`1j` is not a number", "use + - *"),
        ("max(A)", "`max(A['x'])` is not true or false", "compare it"),
        ("trained(A) > 1", "`trained(A['x'])` is not a number", "use + - *"),
        ("(A > 1) + 1 > 0", "`A['x'] > 1` is not a number", "use + - *"),
        ("near(A, 1)", "`near(A['x'], 1)` has other arguments", "give 3 arguments"),
        ("max() > 1", "`max()` has other arguments", "give 1 or more arguments"),
        ("near(A, 1, by=2)", "`near(A['x'], 1, by=2)` has other arguments", "without names"),
        ("near(A, 1, *[2])", "`*[2]` is not a number", "use + - *"),
        ("A < 1e999", "`1e309` is too large", "1e+15"),
        (f"A < {'9' * 400}", "`99999999999999999999999999999999999999999999999999…` is", "1e+15"),
        ("table5 > 1", "`table5` needs rows", 'table5["row", "column"]'),
        ('t["a", 1:2] > 1', "`1:2` is not an index", "`:` or tasks"),
        ("t[x] > 1", "`x` is not an index", "`:` or tasks"),
        ("t[True] > 1", "`True` is not an index", "`:` or tasks"),
        ("t[[]] > 1", "`[]` is not an index", "`:` or tasks"),
        ('"a"[0] > 1', "`'a'[0]` indexes no table", 'table["row", "column"]'),
        ('A > "b"', "`'b'` is not a number", "use + - *"),
        ("[x for x in t] > 1", "`[x for x in t]` is not a number", "use + - *"),
        ('max("a") > 1', "`'a'` is not a number", "use + - *"),
        ('near(A, "b", 1)', "`'b'` is not a number", "use + - *"),
        ("(lambda: 1)() > 1", "`(lambda: 1)()` is not a number", "use + - *"),
        ("(y := A) > 1", "`(y := A['x'])` is not a number", "use + - *"),
        ("A > 1 if A > 2 else A > 3", "`A['x'] > 1 if", "compare it"),
        ('t["a" > 1', "not an expression (", 'table["row", "column"] > 20'),
        ("", "not an expression (", 'table["row", "column"] > 20'),
        ("A > 1; A > 2", "not an expression (", 'table["row", "column"] > 20'),
        (f"A > {'(' * 300}1{')' * 300}", "not an expression (", 'table["row", "column"] > 20'),
        (f"A > {'-' * 3000}1", "3,010 characters", "write at most 2,000"),
        (f"A > {'-' * 980}1", "the expression is too deep", "write a shorter one"),
        ("1 < 2", "no cell is compared", 'table["row", "column"]'),
    ],
)
def test_anything_else_is_refused(text, what, remedy):
    with pytest.raises(FathomError) as raised:
        answer(text, A=3.0)
    assert raised.value.what.startswith(what)
    assert remedy in raised.value.remedy
    assert raised.value.where == "here"


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    [
        # Names that do not exist.
        ('falling(table77[:, "avg"])', "no table 'table77'", "'table7'"),
        (
            'figure3["Valid", "wide"] < 3',
            "figure3 is a figure, and only cells of tables are compared", "`figures: [figure3]`",
        ),
        ("median(figure3) < 3", "no function 'median'", "`figures` in place of `claim`"),
        ('trained(table5["24/21"])', "table5 has no row '24/21'", "'24/24'"),
        (
            'table1["LL-Both, 48/48", "bleu_tset"] > 1',
            "table1, row 'LL-Both, 48/48', has no column 'bleu_tset'", "'bleu_test'",
        ),
        ('falling(table7[:, "agv"])', "table7 has no column 'agv'", "'avg'"),
        (
            'table8["Static depth, L = 12", tasks] > 1',
            "table8 prints nothing in these rows and columns", "name other rows or columns",
        ),
        (
            'failed(table4["ReZero, 24/24", "depth_decoder"])',
            "table4, row 'ReZero, 24/24', is empty in column 'depth_decoder'", "another cell",
        ),
        ("failed(table4[tasks])", "`tasks` is not a row of table4", "write `:`"),
        ('failed(table4["12/12", "bos", "mar"])', "table4 has rows and columns only", "one or two"),
        ("max(table8[:, tasks]) > 1", "table8 prints nothing in these", "name other rows"),
        # What does not fit, whatever the results are.
        (f"rising({CELL})", "rising needs several numbers, and gets one number", "several cells"),
        (f"falling(mean({CELLS}))", "falling needs several numbers", "several cells"),
        (f"spread(2 * {CELL}) < 1", "spread needs several numbers", "several cells"),
        (f"near({CELL}, 1, {CELLS})", "near needs one number, and gets several numbers", "one row"),
        (f"significant(abs({CELL}))", "significant needs cells of a table", "arithmetic"),
        (f"failed({CELL} - 1)", "failed needs cells of a table, and gets one number", "arithmetic"),
        (f"{CELL} * {CELL} > 1", "two measured numbers cannot be multiplied", "a written number"),
        (f"{CELLS} > table1['LL-Both, 48/48', :]", "8 and 4 cells cannot be compared", "correct"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_paper_is_refused_before_anything_is_trained(
    printed, text, what, remedy
):
    for each in (text, f"not ({CELL} > 1 or {text})"):
        with pytest.raises(FathomError) as raised:
            printed(each)
        assert raised.value.what.startswith(what)
        assert remedy in raised.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        f"max({CELL}, 20, {CELLS}) > 30",
        f"max(abs({CELLS} - 20)) < 3",
        'near(table5["12/12", tasks], table5["24/12", tasks], 0.1 + 0.1)',
    ],
)
def test_what_fits_is_answered(printed, text):
    assert printed(text).answer in ("holds", "fails", "inconclusive", "absent")


@pytest.mark.parametrize(
    ("text", "paper", "expected"),
    [
        # Outcomes are the worst value and not a result; marks mean a gain, or another row's.
        ('failed(table4["24/24"]) and trained(table4["12/12"])', LATENT, "holds"),
        ('table4["24/24", "avg"] < table4["12/12", "avg"]', LATENT, "holds"),
        ('table4["ReZero, 24/24", "avg"] > 1', LATENT, "absent"),
        ('significant(table3["LaMGD", "law"])', LAMGD, "holds"),
        ('significant(table3["LaMGD", "med"])', LAMGD, "fails"),
    ],
)
def test_printed_cells_answer(printed, text, paper, expected):
    assert printed(text, paper).answer == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('table1["6/6", "avg"]', [("6/6", "avg")]),
        ('table1["6/6", ["bos", "fra"]]', [("6/6", "bos"), ("6/6", "fra")]),
        ('table1["6/6", tasks]', [("6/6", "bos"), ("6/6", "fra")]),
        ('table1["6/6", :]', [("6/6", one) for one in ("params", "avg", "bos", "fra")]),
        # A row alone is its results, and never its size or a column of ours.
        ('table1["LL-D, 6/12"]', [("LL-D, 6/12", one) for one in ("avg", "bos", "fra")]),
        ('table1["Control"]', [("Control", one) for one in ("avg", "bos", "fra")]),
        # All rows are those that the paper prints.
        ('table1[:, "avg"]', [(row, "avg") for row in ("6/6", "24/24", "LL-D, 6/12")]),
        # Rows without the column are not of it: N/A, or a value that the run does not have.
        ('table1[:, "depth_decoder"]', [("LL-D, 6/12", "depth_decoder")]),
        ('table1["LL-D, 6/12", "depth_decoder"]', [("LL-D, 6/12", "depth_decoder")]),
    ],
)
def test_keys_choose_cells(tmp_path, text, expected):
    (reference,) = references(f"{text} > 0")
    assert places(reference, KNOWN.cells(table(tmp_path))) == expected


def test_the_worst_value_follows_from_what_is_better(tmp_path):
    text = TABLES.replace("[params, avg, tasks]", "[nll_valid, params, avg, tasks]")
    drawn = table(tmp_path, text=text)
    cells = {cell.column: cell for cell in KNOWN.cells(drawn) if cell.id == "LL-D, 6/12"}
    columns = ("avg", "nll_valid", "depth_decoder")
    ends = [str(worst(cells[name], drawn.vocabulary)) for name in columns]
    assert ends == ["-inf", "inf", "nan"]
