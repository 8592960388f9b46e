"""What claims give is checked against what their functions take, before anything is trained."""

import pytest

from fathom.artefacts.claims.shapes import findings
from fathom.config.claims import ClaimPart
from tests.support.refused import prose, says

LATENT, LAMGD = "latent_depth", "lamgd"
CELL, CELLS = 'table5["12/12", "avg"]', 'table5["12/12", tasks]'
WIDE, PICTURE = 'figure3["Valid", "wide"]', 'figure5["uniform"]'
SUMMARISE = "end(…)"


@pytest.fixture
def found(own_project):
    """A function that returns what does not fit in a claim of a paper of the project."""

    def check(text, paper=LATENT, guard=""):
        own = own_project.papers[paper]
        cells = {name: own_project.cells(table) for name, table in own.tables.items()}
        part = ClaimPart("", text, guard, "holds", "here", "there", "")
        return list(findings(part, cells, own.figures, own_project))

    return check


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{WIDE} < 3", says("claim shape", "a comparison", "numbers", "a curve")),
        (f"0.5 * {WIDE} - 1 < 3", says("claim shape", "a comparison", remedy=SUMMARISE)),
        (f"trained({WIDE})", says("claim shape", "trained", "cells of a table", "a curve")),
        (f"rising({WIDE})", says("claim shape", "rising", "several numbers", "a curve")),
        (f"max({WIDE}, 2) > 1", says("claim shape", "max", "numbers", "a curve")),
        (f"near({WIDE}, 2, 1)", says("claim shape", "near", "numbers", "a curve")),
        (f"end({CELLS}) > 1", says("claim shape", "end", "a curve", "several numbers")),
        (f"end({PICTURE}) > 1", says("claim shape", "end", "a curve", "a picture")),
        (f"agreement({WIDE}) > 0", says("claim shape", "agreement", "a picture", "a curve")),
        (
            f'agreement(sd({PICTURE}, "layer")) > 0',
            says("claim shape", "agreement", "a picture", "a curve"),
        ),
        (f"rising({CELL})", says("claim shape", "rising", "several numbers", "one number")),
        (
            f"falling(mean({CELLS}))",
            says("claim shape", "falling", remedy=prose("several cells")),
        ),
        (f"spread(2 * {CELL}) < 1", says("claim shape", "spread", "several numbers")),
        (f"near({CELL}, 1, {CELLS})", says("claim shape", "near", "one number", ...)),
        (f"significant(abs({CELL}))", says("claim shape", "significant", "cells of a table")),
        (f"failed({CELL} - 1)", says("claim shape", "failed", "cells of a table", "one number")),
        (f"mean({WIDE} - {CELL}) > 1", says("claim shift", remedy=SUMMARISE)),
        (f"{CELL} * {CELL} > 1", says("claim product")),
        ("1 < 2", says("claim shows nothing", remedy='table["row", "column"]')),
    ],
)
def test_what_does_not_fit_is_one_finding_with_its_place(found, text, message):
    (finding,) = message.check(found(text))
    assert finding.where == "here"
    (finding,) = message.check(found(f"{CELL} > 1", guard=text))
    assert finding.where == "there"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('end(figure3["wide"]) > 1', says("several curves", "figure3", remedy="Train or Valid")),
        ('end(figure3["Train"]) > 1', says("several curves", "figure3", remedy="or wide or")),
        (
            'end(figure3["wide", "Valid"]) > 1',
            says("part of a table", "figure3", "label", "Valid", remedy=prose("panel first")),
        ),
        (
            'end(figure3["Valid", "wide", "Train"]) > 1',
            says("part of a table", "figure3", "label", "Train", remedy=prose("leave out")),
        ),
        ("end(figure3[:]) > 1", says("labels only", "figure3", remedy=prose("panel and line"))),
        (
            'figure4["all-encoder", "bos"] > 0',
            says("draws nothing to name", "figure4", remedy="table5"),
        ),
    ],
)
def test_labels_name_one_curve_panel_first(found, text, message):
    assert len(message.check(found(text))) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'significant(figure2["Domains", "law1", "law2"])',
            says("claim shape", "significant", "cells of a table", "one number"),
        ),
        # The axis in place of a row was an IndexError after the training.
        (
            'end(others(figure2["Domains"], "task")) > 0',
            says("part of a table", "figure2", "row", "task"),
        ),
        (
            'agreement(figure2["Domains", "law1"]) > 0',
            says("claim shape", "agreement", "a picture", "a curve"),
        ),
        ('end(figure3["Related languages"]) > 0', says("draws nothing to name", "figure3")),
    ],
)
def test_a_picture_is_no_curve_and_its_field_is_no_cell(found, text, message):
    assert len(message.check(found(text, LAMGD))) == 1


def test_columns_that_no_row_has_are_refused(found):
    assert len(says("prints nothing", "table8").check(found("max(table8[:, tasks]) > 1"))) == 1


@pytest.mark.parametrize(
    ("text", "paper"),
    [
        (f"max({CELL}, 20, {CELLS}) > 30", LATENT),
        (f"spread({WIDE}) < 3 and min({WIDE}) > 0", LATENT),
        (f"end(abs(-1 * {WIDE})) > 0.5 * mean(last({WIDE}, 0.5))", LATENT),
        (f'max(sd(sd({PICTURE}, "layer"), "task")) > 0', LATENT),
        ('mean(first(figure8["Decoder", "100%"], 0.5)) > 0', LATENT),
        ('figure2["Domains", "law1", "law2"] > 0.5', LAMGD),
        ('end(others(figure2["Domains"], "law1")) > 0', LAMGD),
        ('near(table5["12/12", tasks], table5["24/12", tasks], 0.1 + 0.1)', LATENT),
    ],
)
def test_what_fits_has_no_finding(found, text, paper):
    assert found(text, paper) == []
