"""Tables as Markdown, and their numbers."""

import torch

from benchmarks.peer.results import Table, all_numbers, cell, described, machine, markdown

TABLE = Table(
    "t", "A title", ("", "a", "b"), [["x", 1.234, None], ["y", "text", 12345.6]], {"n": 2}
)


def test_a_number_has_three_significant_digits_and_nothing_is_a_dash():
    numbers = {
        1.847: "1.85",
        61.24: "61.2",
        0.834: "0.83",
        107.2: "107",
        16504.0: "16,504",
        0.0: "0",
        14: "14",
    }
    assert {value: cell(value) for value in numbers} == numbers
    assert (cell(None), cell("as it is")) == ("–", "as it is")


def test_a_table_is_written_with_its_title_and_numbers_to_the_right():
    assert markdown(TABLE) == (
        "A title\n\n|  | a | b |\n| --- | --: | --: |\n| x | 1.23 | – |\n| y | text | 12,346 |\n"
    )


def test_the_numbers_of_several_tables_are_one_mapping():
    other = Table("u", "", (), [], {"m": 3.0})
    assert all_numbers([TABLE, other]) == {"n": 2, "m": 3.0}


def test_machine_versions_and_commit_are_in_the_description():
    facts = machine(torch.device("cpu"))
    text = described(facts | {"busy": False})
    for part in (facts["processor"], facts["commit"], torch.__version__, str(facts["load"])):
        assert part in text
    assert described(facts | {"busy": True}) != text
