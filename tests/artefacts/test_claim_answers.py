"""What a claim may say, and its answer by three-valued logic on numbers with given intervals."""

import math
from itertools import product
from statistics import NormalDist

import pytest

from fathom.artefacts.claims.functions import NUMBERS, TRUTHS
from fathom.artefacts.claims.language import references, truth
from fathom.artefacts.claims.numbers import Largest, Sum, Term, minus, plus, scaled
from fathom.artefacts.claims.truths import (
    CANCEL,
    NO_WORST,
    TO_THE_WORST,
    TOO_FEW,
    Intervals,
    Truth,
    compare,
    every,
    some,
)
from fathom.artefacts.claims.worlds import Printed, places, worst
from fathom.io.errors import FathomError
from tests.artefacts.claim_numbers import UNTESTED, Numbers, answer, quantity
from tests.support.small_tables import KNOWN, TABLES, table

ANSWERS = ("holds", "fails", "inconclusive", "absent")


@pytest.mark.parametrize(
    ("text", "half", "expected"),
    [
        ("A > 2", 0.5, "holds"),
        ("A > 2", 1.0, "inconclusive"),  # 2 itself is not above 2
        ("A > 2", 1.5, "inconclusive"),
        ("A > 4", 0.5, "fails"),
        ("A > 4", 1.5, "inconclusive"),
        ("A < 4", 0.5, "holds"),
        ("A < 4", 1.5, "inconclusive"),
        ("A >= 2", 1.0, "holds"),
        ("A <= 2", 0.9, "fails"),
        ("A > 3", None, "fails"),
        ("A >= 3", None, "holds"),
        ("A < 3", None, "fails"),
    ],
)
def test_the_whole_interval_decides_or_else_the_number(text, half, expected):
    assert answer(text, A=(3.0, half)).answer == expected


TIGHT, LOOSE = (-1.0, 0.010), (-1.0, 0.026)  # a number, and its p as a normal one


@pytest.mark.parametrize(
    ("text", "values", "expected", "decide"),
    [
        # One of three may decide alone, so it needs p of .05 / 3; then one of two .05 / 2.
        ("A > 0", [TIGHT, (0.2, 0.9), (0.3, 0.8)], "fails", 1),
        ("A > 0", [LOOSE, (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("A > 0", [TIGHT, (-1.0, 0.024), (0.3, 0.8)], "fails", 2),
        ("A > 0", [TIGHT, LOOSE, (0.3, 0.8)], "fails", 1),
        ("not A > 0", [LOOSE, (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("min(A) > 0", [LOOSE, (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("max(A) < 0", [(1.0, 0.026), (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("max(A) > 0", [(1.0, 0.026), (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("max(A) > 0", [(1.0, 0.010), (0.2, 0.9), (0.3, 0.8)], "holds", 1),
        # All must agree.
        ("A > 0", [(1.0, 0.04)] * 3, "holds", 3),
        ("max(A) > 0", [(-1.0, 0.04)] * 3, "fails", 3),
        # What has no interval is none of several comparisons, and decides as before.
        ("A > 0", [LOOSE, 0.2, 0.3], "fails", 1),
        ("A > 0", [LOOSE, -0.2, (0.2, 0.9)], "fails", 1),
    ],
)
def test_one_comparison_of_several_decides_alone_by_holms_procedure(text, values, expected, decide):
    numbers = [(one[0], normal(*one)) if isinstance(one, tuple) else one for one in values]
    found = answer(text, A=numbers)
    assert (found.answer, len(found.evidence)) == (expected, decide)


def normal(value, p):
    """Return half of the interval of a normal number with this p, by the chance to be outside."""
    quantile = NormalDist().inv_cdf
    return lambda outside: abs(value) * quantile(outside / 2) / quantile(p / 2)


def test_a_comparison_that_decides_alone_shows_its_level_and_of_how_many_it_is_one():
    (fact,) = answer("A > 0", A=[(-1.0, 0.5), (0.5, 9.0)]).evidence
    assert (fact.low, fact.high, fact.basis) == (-1.5, -0.5, "97.5 % given; 2 comparisons, Holm")
    (alone,) = answer("A > 0", A=(-1.0, 0.5)).evidence
    assert alone.basis == "95 % given"


def test_and_or_and_not_are_those_of_three_valued_logic():
    order = {"fails": 0, "absent": 1, "inconclusive": 2, "holds": 3}
    joined = {"holds": 0, "absent": 1, "inconclusive": 2, "fails": 3}
    for first, second in product(ANSWERS, ANSWERS):
        truths = Truth(first), Truth(second)
        assert every(truths).answer == min(first, second, key=order.get)
        assert some(truths).answer == min(first, second, key=joined.get)
    opposites = [(~Truth(one)).answer for one in ANSWERS]
    assert opposites == ["fails", "holds", "inconclusive", "absent"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What fails anyway needs no run.
        ("A > 5 and N > 1", "fails"),
        ("A > 2 and N > 1", "absent"),
        ("A > 2 or N > 1", "holds"),
        ("A > 5 or N > 1", "absent"),
        ("not A > 5", "holds"),
        ("not N > 5", "absent"),
        # A chain holds where each link does.
        ("2 < A <= 3", "holds"),
        ("2 < A < 3", "fails"),
        ("A > D > 1", "fails"),
        # A run without a result is the worst, and equally bad as others.
        ("A > D", "holds"),
        ("D > A", "fails"),
        ("D >= D", "absent"),
        ("D >= F", "holds"),
        ("D > F", "fails"),
        ("trained(A) and failed(D)", "holds"),
        ("failed(A)", "fails"),
        ("failed(N)", "absent"),
        # Slices go pair by pair, or with one number.
        ("S > 0.5", "holds"),
        ("S > 1", "fails"),
        ("S - A > -2.5", "holds"),
        ("0.5 * A > 1", "holds"),
        ("-A < -2", "holds"),
        ("A > -0.0", "holds"),
        # Decimals of print are not binary fractions, and small numbers are not rounded to 0.
        ("near(60.4, P, 0.2)", "holds"),
        ("P + 0.2 >= 60.4", "holds"),
        ("T < 3 * T", "holds"),
        # Each number is above the one before, and each cell has its mark.
        ("rising(S)", "holds"),
        ("falling(S)", "fails"),
        ("significant(G)", "holds"),
        ("significant(S)", "fails"),
        ("not significant(A)", "holds"),
        ("significant(U)", "absent"),
        ("not significant(U)", "absent"),
        ("significant(N)", "absent"),
        # How far apart two failed runs are is not known.
        ("mean(M) > mean(K)", "inconclusive"),
        ("mean(W) >= mean(V)", "holds"),
        ("mean(W) > D", "fails"),
        # Functions give numbers.
        ("near(max(R), 4, 1e-9)", "holds"),
        ("near(max(B, 3, R), 5, 1e-9)", "holds"),
        ("near(spread(R), 3, 1e-9)", "holds"),
        ("near(max(abs(R - 3)), 2, 1e-9)", "holds"),
        ("near(mean(2 * R - 1), 4, 1e-9)", "holds"),
    ],
)
def test_an_expression_has_an_answer(text, expected):
    values = {
        "A": 3.0, "N": "not run", "D": "diverged", "F": "failed to train", "S": [1.0, 2.0, 4.0],
        "P": 60.2, "T": 1e-12, "G": [6.0, 7.0], "U": [UNTESTED], "M": [3.0, "diverged"],
        "K": [1.0, "diverged"], "W": ["diverged"] * 3, "V": ["diverged"] * 2,
        "R": [4.0, 1.0, 2.5], "B": 5.0,
    }  # fmt: skip
    used = {name: value for name, value in values.items() if name in text}
    assert answer(text, **used).answer == expected


def test_the_largest_is_compared_one_by_one():
    rows = [(3.0, 1.0), (5.0, 1.0), (4.5, 1.0)]
    assert answer("max(A) > 3.5", A=rows).answer == "holds"
    assert answer("max(A) > 4.8", A=rows).answer == "inconclusive"
    assert answer("max(A) > 7", A=rows).answer == "fails"
    assert answer("B >= max(A)", A=rows, B=(7.0, 1.0)).answer == "holds"
    assert answer("B >= max(A)", A=rows, B=(5.5, 1.0)).answer == "inconclusive"
    assert answer("B >= max(A)", A=rows, B=(3.5, 1.0)).answer == "fails"
    assert answer("min(A) < 3.5 and min(A) > 1", A=rows).answer == "inconclusive"
    assert answer("rising(A)", A=[1.0, (2.0, 3.0), 3.0]).answer == "inconclusive"
    assert answer("spread(A) < 2.5", A=[1.0, 3.0, 2.0]).answer == "holds"
    assert answer("spread(A) < 2", A=[1.0, 3.0, 2.0]).answer == "fails"


def test_fewer_than_two_numbers_have_no_answer():
    for claim in ("rising(A)", "falling(A)", "spread(A) < 2", "A >= max(A)", "A > max(A)"):
        assert answer(claim, A=[1.0]).answer == "absent", claim
        assert answer(f"{claim} and B > 1", A=[1.0], B=2.0).answer == "absent", claim
    assert answer("rising(A) or B > 1", A=[1.0], B=2.0).answer == "holds"
    (fact,) = answer("rising(A)", A=[1.0]).evidence
    assert (fact.text, fact.answer) == (TOO_FEW, "absent")
    assert (every(()).answer, some(()).answer) == ("absent", "absent")
    assert answer("failed(A) or significant(A)", A=[]).answer == "absent"


def test_a_number_among_those_that_it_is_compared_with_is_not_above_itself():
    """It was not run, since no evidence was left."""
    world = Numbers(a=30.0, b=20.0)
    best, other = world.values.values()
    cases = (
        (best, ">", ">=", Largest(1, (best, other))),
        (scaled(best, -1), "<", "<=", scaled(Largest(1, (best, other)), -1)),
    )
    for one, strict, loose, among in cases:
        truth = compare(Intervals(world.interval), one, strict, among)
        assert (truth.answer, len(truth.evidence)) == ("fails", 1)
        assert truth.evidence[0].text.endswith(f"a 30, must be {strict} itself")
        assert compare(Intervals(world.interval), one, loose, among).answer == "holds"
    (fact,) = compare(Intervals(world.interval), Largest(1, (best, other)), ">=", best).evidence
    assert (fact.text, fact.answer) == ("a 30, must be >= itself", "holds")


def test_runs_that_all_diverged_are_not_close_to_each_other():
    """Equally bad runs were stable: the difference was 0."""
    for claim in ("spread(A) < 0.5", "near(B, C, 0.2)", "B - C < 0.5", "B - C > 1", "B + 1 > C"):
        values = {"A": ["diverged"] * 3, "B": "diverged", "C": "diverged"}
        truth = answer(claim, **{name: one for name, one in values.items() if name in claim})
        assert truth.answer == "inconclusive", claim
        assert {fact.basis for fact in truth.evidence} == {CANCEL}
    assert answer("spread(A) < 0.5", A=["diverged", 1.0, "diverged"]).answer == "fails"
    assert answer("near(B, C, 0.2)", B="diverged", C=1.0).answer == "fails"


def test_runs_without_a_result_cancel_whatever_rounding_adds_to_their_weights():
    bad = [quantity(name, "diverged") for name in "uvw"]
    first, second, _ = bad
    halves = plus(scaled(first, 0.5), scaled(second, 0.5))
    assert minus(NUMBERS["mean"](tuple(bad)), halves).value == 0
    tenths = plus(scaled(first, 0.1), scaled(first, 0.2))
    assert minus(tenths, scaled(first, 0.3)) == Sum()
    assert math.isnan(plus(minus(first, second), Sum(constant=2.0)).value)


def test_the_evidence_is_what_decides_and_reads_as_the_claim():
    (fact,) = answer("A > B", A=[1.0, 4.0, 2.0], B=[0.0, 5.0, 1.0]).evidence
    assert fact.difference == -1.0
    assert fact.text == "A1 4 - B1 5 = -1, must be > 0"
    (fact,) = answer("0.7 <= A - B <= 9", A=(3.0, 0.5), B=1.0).evidence[:1]
    assert (fact.low, fact.high, fact.basis) == (1.5, 2.5, "95 % given")
    assert fact.text == "A 3 - B 1 = 2 [1.5, 2.5], must be >= 0.7"
    (fact,) = answer("0.5 * A - B > 1e-3", A=3.0, B="diverged (5 of 5 seeds)").evidence
    assert fact.text == "0.5 × A 3 - B diverged (5 of 5 seeds), must be > 0.001"
    assert (fact.difference, fact.low, fact.high) == (None, None, None)
    doubtful = Sum({Term("a", 3.0, mark="‡"): 1.0})
    assert answer("A > 0", A=doubtful).evidence[0].text == "a 3‡, must be > 0"
    # What is denied must be the opposite.
    assert answer("not A > B", A=3.0, B=1.0).evidence[0].text == "A 3 - B 1 = 2, must be <= 0"


@pytest.mark.parametrize(
    ("worst", "factor", "low", "high"),
    [
        (-math.inf, 1.0, None, 21.0),
        (-math.inf, -1.0, None, 21.0),  # turned round, so that it reads as the claim
        (math.inf, 0.5, 9.75, None),
        (math.nan, 1.0, None, None),
    ],
)
def test_the_interval_of_seeds_that_failed_reaches_to_the_worst_value(worst, factor, low, high):
    term = Term("s", 20.5, lost="2 of 5 seeds diverged", worst=worst)
    world = Numbers()
    world.halves[term] = 0.5
    (fact,) = compare(Intervals(world.interval), Sum({term: factor}), ">", Sum()).evidence
    assert fact.answer == ("holds" if worst == math.inf else "inconclusive")
    assert "s 20.5 (2 of 5 seeds diverged)" in fact.text
    assert (fact.low, fact.basis) == (low, f"95 % given; {TO_THE_WORST}")
    assert fact.high == high


def test_a_missing_result_without_a_worst_value_says_so():
    unknown = Sum({Term("depth", math.nan, "diverged"): 1.0})
    (fact,) = answer("A > 1", A=unknown).evidence
    assert (fact.answer, fact.basis) == ("inconclusive", NO_WORST)


def test_a_gain_of_a_row_with_a_diverged_seed_is_not_certain():
    for lost, expected in (("2 of 5 seeds diverged", "inconclusive"), ("", "holds")):
        cell = Sum({Term("a", 20.0, lost=lost, gain=True): 1.0})
        assert TRUTHS["significant"](None, cell).answer == expected


# What a claim may say

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
