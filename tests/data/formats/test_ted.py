import pytest

from fathom.data.readers.ted import read
from fathom.data.texts import Pair
from tests.data.small_archives import COLUMNS, row, table, talks, talks_dataset
from tests.support.refused import prose, refused

TASKS = {"por": "pt-br", "fra": "fr", "mar": "mr"}

TRAIN = table(
    row("t1", en="A bird sang .", pt_br="Um pássaro cantou .", pt="nunca", fr="Un oiseau ."),
    row("t1", en='Say " yes', pt_br='Diga " sim', fr_ca="jamais"),
    row("t1", en="It &apos;s &quot; &amp; &#91;", fr="C &apos;est &#91;"),
    row("t2", en="Never here .", pt="nunca", fr="_ _ NULL _ _"),
    row("t2", en="The word NULL is fine", fr="Le mot NULL aussi", mr="NULL"),
    row("t2", en="Before __NULL__ after", fr="Avant et après"),
    row("t2", en="Marked inside", fr="Avant _ _ NULL _ _ après"),
    row("t3", en="Empty there", fr="", pt_br="   \u00a0"),
    row("t3", en="", fr="Rien en face"),
    row("t3", en="Two\u2028lines", fr="Deux\x85lignes", mr="दोन\rओळी"),
    row("t3", en="Entity&#10;line", fr="Ligne&#8232;deux"),
    # Too short for `mr`, long enough for `fr`; and one cell too many.
    row("t4", en="Cut short", fr="Coupé", mr="lost")[: COLUMNS.index("fr") + 2],
    [*row("t4", en="One cell more", fr="Une de trop"), "more"],
)
VALID = table(
    row("v1", en="A bird sang .", fr="Un oiseau ."), row("v1", en="Only", mr="एक"), end="\r\n"
)
TEST = table(
    row("x1", en="A bird sang .", fr="Un oiseau ."), row("x1", en="A bird sang .", fr="Un oiseau .")
)


@pytest.fixture
def read_talks(tmp_path):
    """A function that reads an archive of these tables."""

    def run(train=TRAIN, valid=VALID, test=TEST, tasks=TASKS):
        path = talks(tmp_path / "ted_talks.tar.gz", train, valid, test)
        return read({"talks": path}, talks_dataset(tasks))

    return run


def test_columns_are_read_by_name_with_quotes_and_entities_as_characters(read_talks):
    texts = read_talks()
    assert texts["por"].splits["train"] == [
        Pair("Um pássaro cantou .", "A bird sang ."),
        Pair('Diga " sim', 'Say " yes'),
    ]
    assert texts["fra"].splits["train"] == [
        Pair("Un oiseau .", "A bird sang ."),
        Pair("C 'est [", "It 's \" & ["),
        Pair("Le mot NULL aussi", "The word NULL is fine"),
        Pair("Deux lignes", "Two lines"),
        Pair("Ligne deux", "Entity line"),
        Pair("Coupé", "Cut short"),
    ]
    assert texts["mar"].splits["train"] == [
        Pair("NULL", "The word NULL is fine"),
        Pair("दोन ओळी", "Two lines"),
    ]


def test_the_published_split_and_its_duplicates_are_kept(read_talks):
    texts = read_talks()
    bird = Pair("Un oiseau .", "A bird sang .")
    assert texts["fra"].splits["valid"] == [bird]
    assert texts["fra"].splits["test"] == [bird, bird]
    assert texts["mar"].splits["valid"] == [Pair("एक", "Only")]
    assert texts["por"].splits["valid"] == texts["por"].splits["test"] == []


def test_every_row_gives_a_task_a_pair_or_the_first_reason_why_not(read_talks):
    texts = read_talks()
    assert texts["fra"].dropped == {"missing_mark": 5, "empty": 2, "too_many_cells": 1}
    assert texts["mar"].dropped == {
        "missing_mark": 12,
        "no_cell": 1,
        "too_many_cells": 1,
    }
    for text in texts.values():
        assert text.read == 13 + 2 + 2
        assert text.read == sum(text.dropped.values()) + sum(map(len, text.splits.values()))


def test_columns_may_stand_in_any_order(read_talks):
    lines = [line.split("\t") for line in TEST.decode().split("\n")[:-1]]
    turned = "".join("\t".join(reversed(line)) + "\n" for line in lines).encode()
    assert read_talks(test=turned)["fra"].splits == read_talks()["fra"].splits


def test_a_byte_order_mark_does_not_hide_the_first_column(read_talks):
    lines = table(row("t", en="One", fr="Un")).replace(b"talk_name\ten", b"\xef\xbb\xbfen\tname")
    assert read_talks(test=lines)["fra"].splits["test"] == [Pair("Un", "t")]


def test_a_missing_column_is_named_with_the_nearest(read_talks):
    without = [column for column in COLUMNS if column != "mr"]
    cells = [cell for column, cell in zip(["", *COLUMNS], row("v"), strict=True) if column != "mr"]
    with refused("columns called", 0, "mr") as caught:
        read_talks(valid=table(cells, columns=without))
    assert caught.value.where == "ted_talks.tar.gz: all_talks_dev.tsv"
    assert prose("nearest") in caught.value.remedy


def test_a_column_that_no_task_uses_may_be_missing(read_talks):
    without = [column for column in COLUMNS if column != "mr"]
    cells = [cell for column, cell in zip(["", *COLUMNS], row("v"), strict=True) if column != "mr"]
    texts = read_talks(valid=table(cells, columns=without), tasks={"fra": "fr"})
    assert texts["fra"].splits["valid"] == []


def test_a_column_that_stands_twice_is_refused(read_talks):
    twice = ["fr" if column == "fr-ca" else column for column in COLUMNS]
    with refused("columns called", 2, "fr"):
        read_talks(train=table(columns=twice))


def test_a_missing_table_is_named(tmp_path):
    from tests.data.small_archives import tar_of

    path = tar_of(
        tmp_path / "t.tar.gz", {"./all_talks_train.tsv": TRAIN, "all_talks_test.tsv": TEST}
    )
    with refused("no table", "all_talks_dev.tsv"):
        read({"talks": path}, talks_dataset(TASKS))


def test_an_empty_table_has_no_columns(read_talks):
    with refused("columns called", 0):
        read_talks(test=b"")


def test_text_that_is_not_utf_8_is_named_by_its_line(read_talks):
    with refused("not UTF-8") as caught:
        read_talks(test=TEST.replace(b"Un oiseau", b"\xc9t\xe9", 1))
    assert caught.value.where == "ted_talks.tar.gz: all_talks_test.tsv, line 2"


def test_the_pivots_column_must_be_given(tmp_path):
    path = talks(tmp_path / "t.tar.gz", TRAIN, VALID, TEST)
    dataset = talks_dataset(TASKS, sources={"talks": {task: [TASKS[task]] for task in TASKS}})
    with refused("column of the pivot", "eng"):
        read({"talks": path}, dataset)
