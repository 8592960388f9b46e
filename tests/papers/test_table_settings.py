"""The form of a table: short and long rows, numbers as ids, metrics that refine each other."""

import pytest

from fathom.config.check import check
from fathom.config.schema.table import Block, Metric, Row, TableSettings
from tests.support.refused import prose, says

TABLE = {"title": "T", "section": "§1", "columns": ["avg"], "rows": {"6/6": "run"}}


def where(path):
    return ".".join(map(str, path))


def checked(**keys):
    return check(TableSettings, TABLE | keys, where)


def test_a_number_is_an_id_as_printed():
    table, findings = checked(columns=[6, 12, "big6"], rows={"8": {"run": "x", "empty": [6]}})
    assert findings == []
    assert table.columns == ("6", "12", "big6")
    assert table.rows["8"].empty == ("6",)


def test_a_long_row_names_the_run_of_a_single_column():
    table, _ = checked(rows={"LaMGD": {"run": "split_lamgd", "law": "domains_lamgd"}})
    assert isinstance(table.rows["LaMGD"], Row)
    assert table.rows["LaMGD"].runs() == {"law": "domains_lamgd"}


def test_a_block_names_what_its_placeholders_mean():
    block, findings = check(Block, {"with": {"set": "o2m", "k": 8}}, str)
    assert findings == []
    assert block.with_ == {"set": "o2m", "k": "8"}


def test_a_metric_changes_only_what_it_says():
    paper = Metric(tokenize="13a", note="as printed")
    table = paper.over(Metric(unknown_for=("kor",)))
    assert (table.tokenize, table.unknown_for, table.note) == ("13a", ("kor",), "as printed")
    assert paper.over(None) == paper


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"widht": {}}, says("unknown key", "widht", where="widht", nearest="with")),
        ({"gates": "sotf"}, says("not possible", "sotf", where="gates", nearest="soft")),
        ({"metric": {"tokenize": "13"}}, says("not possible", 13, nearest="13a")),
        (
            {"first": {"row": "a", "avg": [3, 2]}},
            says("band", "avg: 3.0", "2.0", where="first", remedy="[low, high]"),
        ),
        (
            {"rows": {"6/6": "run", "Ours": None}},
            says("row without a value", where="rows.Ours", remedy=prose("row: run")),
        ),
        (
            {"marks": {"bold": {"means": "big", "to": "a"}}},
            says("not possible", "big", where="marks.bold.means"),
        ),
        (
            {"marks": {"bold": "best"}},
            says("no meaning", "best", where="marks.bold", remedy=prose("delete a mark")),
        ),
        (
            {"columns": [True]},
            says("YAML boolean", where="columns.0", remedy=prose("put it in quotes")),
        ),
        ({"rows": {"a": {"run": 3}}}, says("YAML number", 3, remedy=prose("put it in quotes"))),
    ],
)
def test_a_fault_names_its_key_and_the_nearest_name(keys, message):
    _, findings = checked(**keys)
    message.check(map(str, findings))
