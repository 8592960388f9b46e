"""The form of a table: short and long rows, numbers as ids, metrics that refine each other."""

import pytest

from fathom.config.validation import check
from fathom.papers.table_settings import Block, Metric, Row, TableSettings

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
        ({"widht": {}}, "widht: unknown key 'widht'; nearest valid name: 'with'"),
        ({"gates": "sotf"}, "gates: 'sotf' is not possible here; nearest valid name: 'soft'"),
        ({"metric": {"tokenize": "13"}}, "'13' is not possible here; nearest valid name: '13a'"),
        ({"first": {"row": "a", "avg": [3, 2]}}, "first: avg: 3.0 is above 2.0; write [low, high]"),
        ({"marks": {"bold": {"means": "big", "to": "a"}}}, "marks.bold.means: 'big' is not possib"),
        ({"columns": [True]}, "columns.0: YAML reads no, on, yes and off as true or false; put it"),
        ({"rows": {"a": {"run": 3}}}, "YAML reads 3 as a number; put it in quotes"),
    ],
)
def test_a_fault_names_its_key_and_the_nearest_name(keys, message):
    _, findings = checked(**keys)
    assert message in "\n".join(map(str, findings))
