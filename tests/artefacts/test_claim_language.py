"""Claims are read as Python's grammar; what is not of the language is refused, never executed."""

import pytest

from fathom.artefacts.claims.language import references, truth
from fathom.artefacts.claims.names import places
from fathom.artefacts.claims.worlds import Printed, worst
from fathom.io.errors import FathomError
from tests.artefacts.claim_numbers import answer
from tests.support.small_tables import KNOWN, TABLES, table

LATENT, LAMGD, TRANSPARENT = "latent_depth", "lamgd", "transparent_attention"
CELL, CELLS = 'table5["12/12", "avg"]', 'table5["12/12", tasks]'
WIDE, PICTURE = 'figure3["Valid", "wide"]', 'figure5["uniform"]'


@pytest.fixture(scope="module")
def printed(own_project):
    """A function that answers an expression on the cells that a paper prints."""
    worlds = {name: Printed(own_project, own_project.papers[name]) for name in own_project.papers}
    return lambda text, paper=LATENT: truth(text, "here", worlds[paper])


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    [
        ('__import__("os").system("x")', "`__import__('os').system('x')` is not true", "compare"),
        ('open("x") > 1', "no function 'open'", "'end'"),
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
        ("table5 > 1", "`table5` needs rows or labels", 'table5["row", "column"]'),
        ('t["a", 1:2] > 1', "`1:2` is not an index", "`:` or tasks"),
        ("t[x] > 1", "`x` is not an index", "`:` or tasks"),
        ("t[True] > 1", "`True` is not an index", "`:` or tasks"),
        ("t[[]] > 1", "`[]` is not an index", "`:` or tasks"),
        ('"a"[0] > 1', "`'a'[0]` indexes no table or figure", 'table["row", "column"]'),
        ('A > "b"', "`'b'` is not a number", "use + - *"),
        ("[x for x in t] > 1", "`[x for x in t]` is not a number", "use + - *"),
        ('max("a") > 1', "`'a'` is not a number", "use + - *"),
        ('near(A, "b", 1)', "`'b'` is not a number", "use + - *"),
        ('mean(sd("a", "b")) > 1', "`'a'` is not a number", "use + - *"),
        ("mean(others(A, A)) > 1", "`A['x']` is not an axis or a label", 'as "layer"'),
        ("(lambda: 1)() > 1", "`(lambda: 1)()` is not a number", "use + - *"),
        ("(y := A) > 1", "`(y := A['x'])` is not a number", "use + - *"),
        ("A > 1 if A > 2 else A > 3", "`A['x'] > 1 if", "compare it"),
        ('t["a" > 1', "not an expression (", 'table["row", "column"] > 20'),
        ("", "not an expression (", 'table["row", "column"] > 20'),
        ("A > 1; A > 2", "not an expression (", 'table["row", "column"] > 20'),
        (f"A > {'(' * 300}1{')' * 300}", "not an expression (", 'table["row", "column"] > 20'),
        (f"A > {'-' * 3000}1", "3,010 characters", "write at most 2,000"),
        (f"A > {'-' * 980}1", "the expression is too deep", "write a shorter one"),
        ("1 < 2", "no cell and no curve is compared", 'table["row", "column"]'),
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
        ('falling(table77[:, "avg"])', "no table or figure 'table77'", "'table7'"),
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
        ('end(figure6["β = 1O"]) > 1', "figure6 has no label 'β = 1O'", "'β = 1'"),
        ('mean(sd(figure6["β = 10"], "layers")) > 1', "figure6 has no axis 'layers'", "'layer'"),
        ('mean(sd(figure6["β = 10"], 3.5)) > 1', "`3.5` is not an axis or a label", 'as "layer"'),
        (f"end(others({PICTURE}, {CELL})) > 0", "`table5['12/12', 'avg']` is not an", "quotes"),
        # Labels name one curve, panel first.
        ('end(figure3["wide"]) > 1', "figure3 names several curves", "Train or Valid"),
        ('end(figure3["Train"]) > 1', "figure3 names several curves", "wide"),
        ('end(figure3["wide", "Valid"]) > 1', "figure3 has no label 'Valid'", "panel first"),
        ('end(figure3["Valid", "wide", "Train"]) > 1', "figure3 has no label 'Train'", "leave it"),
        ("end(figure3[:]) > 1", "figure3 has labels only", "a panel and its line"),
        ('figure4["all-encoder", "bos"] > 0', "figure4 draws no curve and no picture", "table5"),
        # What does not fit, whatever the results are.
        (f"{WIDE} < 3", "figure3 is a curve, and numbers are needed", "end(…)"),
        (f"0.5 * {WIDE} - 1 < 3", "0.5 × figure3 - 1 is a curve, and numbers", "end(…)"),
        (f"trained({WIDE})", "trained needs cells of a table, and gets a curve", "rows"),
        (f"max({WIDE}, 2) > 1", "figure3 is a curve, and numbers are needed", "end(…)"),
        (f"near({WIDE}, 2, 1)", "|figure3 - 2| is a curve", "end(…)"),
        (f"rising({WIDE})", "rising needs several numbers, and gets a curve", "several cells"),
        (f"end({CELLS}) > 1", "end needs a curve, and gets several numbers", "a line"),
        (f"end({PICTURE}) > 1", "end needs a curve, and gets a picture", "a line"),
        (f"agreement({WIDE}) > 0", "agreement needs a picture, and gets a curve", "a panel"),
        (f'agreement(sd({PICTURE}, "layer")) > 0', "agreement needs a picture", "a panel"),
        (f'mean(max({PICTURE}, "tsak")) > 0', "figure5 has no axis 'tsak'", "'task'"),
        (f'max({CELL}, "task") > 0', "max needs a curve, and gets one number", "a line"),
        (f'alike({PICTURE}, "bos", "far") > 0', "figure5 has no row 'far'", "'fra'"),
        (f'alike({PICTURE}, "bos") > 0', "`alike(figure5['uniform'], 'bos')` has other", "give 3"),
        (f"alike({PICTURE}) > 0", "alike of figure5 is a curve, and numbers", "end(…)"),
        (f"mean(alike({WIDE})) > 0", "alike needs a picture, and gets a curve", "a panel"),
        (f"rising({CELL})", "rising needs several numbers, and gets one number", "several cells"),
        (f"falling(mean({CELLS}))", "falling needs several numbers", "several cells"),
        (f"spread(2 * {CELL}) < 1", "spread needs several numbers", "several cells"),
        (f"near({CELL}, 1, {CELLS})", "near needs one number, and gets several numbers", "one row"),
        (f"significant(abs({CELL}))", "significant needs cells of a table", "arithmetic"),
        (f"failed({CELL} - 1)", "failed needs cells of a table, and gets one number", "arithmetic"),
        (f"mean({WIDE} - {CELL}) > 1", "a curve is computed with a written number", "summarise"),
        (f"mean({CELLS} * {WIDE}) > 1", "two measured numbers cannot be multiplied", "a written"),
        (f"{CELL} * {CELL} > 1", "two measured numbers cannot be multiplied", "a written number"),
        (f"mean(first({WIDE}, {CELL})) > 1", "the share is not a written one", "above 0"),
        (f"mean(first({WIDE}, 1.5)) > 1", "the share is not a written one", "at most 1"),
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
    ("text", "what"),
    [
        ('figure2["Domains", "law1", "law3"] > 1', "figure2 has no label 'law3'"),
        ('significant(figure2["Domains", "law1", "law2"])', "significant needs cells of a table"),
        # The axis in place of a row was an IndexError after the training.
        ('end(others(figure2["Domains"], "task")) > 0', "figure2 has no row 'task'"),
        ('agreement(figure2["Domains", "law1"]) > 0', "agreement needs a picture"),
        ('end(figure2["Domains", "law1", "law2"]) > 0', "end needs a curve, and gets one number"),
        ('end(figure3["Related languages"]) > 0', "figure3 draws no curve and no picture"),
    ],
)
def test_a_picture_is_not_a_curve_and_its_field_is_not_a_cell(printed, text, what):
    with pytest.raises(FathomError) as raised:
        printed(text, LAMGD)
    assert raised.value.what.startswith(what)


@pytest.mark.parametrize(
    ("text", "paper"),
    [
        (f"max({CELL}, 20, {CELLS}) > 30", LATENT),
        (f"spread({WIDE}) < 3 and min({WIDE}) > 0", LATENT),
        (f"end(abs(-1 * {WIDE})) > 0.5 * mean(last({WIDE}, 0.5))", LATENT),
        (f'max(sd(sd({PICTURE}, "layer"), "task")) > 0', LATENT),
        (f'min(max({PICTURE}, "task")) < mean(first(mean({PICTURE}, "task"), 0.5))', LATENT),
        (f'alike({PICTURE}, "bos", "fra") > mean(others(alike({PICTURE}), "bos"))', LATENT),
        ('mean(first(figure8["Decoder", "100%"], 0.5)) > 0', LATENT),
        ('figure2["Domains", "law1", "law2"] > 0.5', LAMGD),
        ('end(others(figure2["Domains"], "law1")) > 0', LAMGD),
        ('near(table5["12/12", tasks], table5["24/12", tasks], 0.1 + 0.1)', LATENT),
    ],
)
def test_what_fits_is_answered(printed, text, paper):
    assert printed(text, paper).answer in ("holds", "fails", "inconclusive", "absent")


@pytest.mark.parametrize(
    ("text", "paper", "expected"),
    [
        # Outcomes are the worst value and not a result; marks mean a gain, or another row's.
        ('failed(table4["24/24"]) and trained(table4["12/12"])', LATENT, "holds"),
        ('table4["24/24", "avg"] < table4["12/12", "avg"]', LATENT, "holds"),
        ('table4["ReZero, 24/24", "avg"] > 1', LATENT, "absent"),
        ('significant(table3["LaMGD", "law"])', LAMGD, "holds"),
        ('significant(table3["LaMGD", "med"])', LAMGD, "fails"),
        ('end(figure1["6 layers"]) > 1', TRANSPARENT, "absent"),
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
