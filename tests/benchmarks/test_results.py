"""Tables as Markdown, and their numbers."""

from benchmarks.peer.results import Table, cell, markdown

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
