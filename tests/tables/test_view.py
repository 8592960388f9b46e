"""How a table reads: rows of both sides, decimals, marks, headings, notes."""

from dataclasses import replace

import pytest

from fathom.artefacts.table.comparison import compare_table
from fathom.artefacts.table.view import CellView, caption, label, view
from fathom.results.measurements import Number, Record
from tests.support.small_tables import KNOWN, Results, reported, scores, table, typical

BLEU = "bleu.test.plain.13a"
PRINTED = (
    reported("6/6", "avg", "29.5"),
    reported("6/6", "bos", "22", stderr="0.1"),
    reported("6/6", "fra", "38.0", mark="bold"),
    reported("24/24", "params", "224", right="287"),
    reported("24/24", "avg", note="diverged"),
    reported("24/24", "bos", note="diverged"),
    reported("24/24", "fra", note="diverged"),
)


def laid_out(folder, results=None, printed=PRINTED, name="table1", verdicts=False, shown_as=None):
    """Return a table's view."""
    results = results or typical(folder / "results")
    drawn = table(folder, name)
    sources = {
        name: replace(source, shown_as=shown_as or {}) for name, source in results.sources.items()
    }
    compared = compare_table(drawn, KNOWN.cells(drawn), printed, sources, "paper")
    return view(compared, "A. Author: A paper. 2020", verdicts)


def row(block, label, kind="result"):
    """Return the texts of the row of a kind that follows a label."""
    labels = [part.label for part in block.rows]
    start = labels.index(label)
    part = next(part for part in block.rows[start:] if part.kind == kind)
    return dict(zip(block.columns, part.cells, strict=False))


@pytest.fixture
def main(tmp_path):
    return laid_out(tmp_path).blocks[0]


def test_columns_have_their_titles_and_few_sentences_a_mark(main):
    assert main.columns == ("Params (M)", "Avg.", "bos†", "fra†", "Seeds")


def test_a_task_with_another_text_is_called_after_it(tmp_path):
    drawn = laid_out(tmp_path, shown_as={"bos": "BOS~songs"})
    assert drawn.blocks[0].columns == ("Params (M)", "Avg.", "BOS~songs†", "fra†", "Seeds")
    assert any("BOS~songs" in note for note in drawn.notes)
    assert not any("~" in note for note in laid_out(tmp_path).notes)


def test_our_row_is_followed_by_the_papers_own_numbers_as_printed(main):
    kinds = [(part.label, part.kind) for part in main.rows[:4]]
    assert kinds == [
        ("6/6", "result"), ("paper", "paper"), ("24/24", "result"), ("paper", "paper"),
    ]  # fmt: skip
    paper = row(main, "6/6", "paper")
    assert paper["Avg."] == CellView("29.5")
    assert paper["bos†"] == CellView("22", "±0.1")
    assert paper["fra†"] == CellView("38.0", bold=True)


def test_a_misprint_is_printed_with_what_it_must_mean(main):
    assert row(main, "24/24", "paper")["Params (M)"].text == "224 [287]"


def test_a_number_has_the_decimals_of_its_column_and_a_spread(main):
    ours = row(main, "6/6")
    assert ours["Avg."].full == "29.5 ±0.5"
    assert ours["fra†"].full == "38.5 ±0.5"
    assert ours["Seeds"].text == "2"


def test_a_number_of_some_seeds_says_of_how_many(tmp_path):
    results = Results(tmp_path / "results")
    results.write("p/small", {BLEU: scores(20.0, 38.0)}, 1)
    results.write("p/small", {}, 2, outcome="diverged")
    drawn = laid_out(tmp_path, results)
    ours = row(drawn.blocks[0], "6/6")
    assert ours["bos"].full == "20 (1 of 2 seeds) ±0"
    assert any("6/6: 1 of 2 seeds: diverged at update 122" in note for note in drawn.notes)


def test_an_outcome_that_neighbours_share_is_printed_once(main):
    ours = row(main, "24/24")
    assert ours["Avg."] == CellView(
        "diverged at update 122", span=3, verdict="no-result-as-reported"
    )
    assert ours["bos†"].span == ours["fra†"].span == 0
    assert row(main, "24/24", "paper")["Avg."] == CellView("diverged", span=3)


def test_a_scaled_count_keeps_two_digits(tmp_path):
    results = Results(tmp_path / "results")
    results.write("p/small", {"parameters": Record(all=Number(value=493_000.0))})
    printed = (reported("6/6", "params", "246"),)
    block = laid_out(tmp_path, results, printed).blocks[0]
    assert row(block, "6/6")["Params (M)"].text == "0.49"


def test_added_rows_have_a_mark_and_added_columns_a_block_of_their_own(tmp_path):
    main, ours = laid_out(tmp_path).blocks
    assert [part.label for part in main.rows][-2:] == ["Control *", "test sentences"]
    assert (ours.heading, ours.columns) == ("Not in the paper", ("Avg., hard", "E[L] dec."))
    assert [part.label for part in ours.rows] == ["LL-D, 6/12"]
    assert row(ours, "LL-D, 6/12")["E[L] dec."].text == "5.50"


def test_the_last_row_counts_test_sentences(main):
    counts = row(main, "test sentences", "count")
    assert [counts[name].text for name in ("Avg.", "bos†", "Params (M)")] == [
        "136–1000", "68–500", "",
    ]  # fmt: skip


def test_verdicts_have_rows_where_they_are_asked_for(tmp_path):
    block = laid_out(tmp_path, verdicts=True).blocks[0]
    verdicts = row(block, "6/6", "verdict")
    assert verdicts["bos†"].text == "-1.50 lower"
    assert verdicts["bos†"].verdict == "lower"


def test_runs_that_were_not_trained_have_no_row_of_verdicts(tmp_path):
    block = laid_out(tmp_path, Results(tmp_path / "results"), verdicts=True).blocks[0]
    assert {part.kind for part in block.rows} == {"result", "paper"}


def test_runs_of_other_settings_have_no_row_of_verdicts(tmp_path):
    results = typical(tmp_path / "results", comparable=False)
    block = laid_out(tmp_path, results, verdicts=True).blocks[0]
    assert {part.kind for part in block.rows} == {"result", "paper", "count"}


def test_each_block_has_its_heading_and_columns(tmp_path):
    results = Results(tmp_path / "results")
    results.corpus("text", {"pairs.train": Record(tasks={"bos": Number(value=5640.0)})})
    first, second = laid_out(tmp_path, results, (), "table3").blocks
    assert (first.heading, first.columns) == ("First", ("bos", "fra"))
    assert (second.heading, second.columns) == ("Second", ("kor",))
    assert row(first, "train (thousands)")["bos"].text == "5.6"
    assert row(first, "valid")["bos"].text == "not measured"


def test_a_number_of_things_has_no_decimals_next_to_one_in_thousands(tmp_path):
    results = Results(tmp_path / "results")
    pairs = {"train": 5640.0, "valid": 28.0}
    records = {
        f"pairs.{split}": Record(tasks={"bos": Number(value=count)})
        for split, count in pairs.items()
    }
    results.corpus("text", records)
    printed = (reported("train", "bos", "5.64"), reported("valid", "bos", "474"))
    block = laid_out(tmp_path, results, printed, "table3").blocks[0]
    names = ("train (thousands)", "valid")
    assert [row(block, name)["bos"].text for name in names] == ["5.64", "28"]


def test_a_difference_is_printed_next_to_the_number(tmp_path):
    results = Results(tmp_path / "results")
    results.write("p/deep", {BLEU: scores(61.0, 60.4)})
    printed = (reported("deep", "fra", "60.4", mark="delta", note="-0.6"),)
    drawn = laid_out(tmp_path, results, printed, "table2")
    assert row(drawn.blocks[0], "deep")["fra"].text == "60.4 (-0.6)"
    assert row(drawn.blocks[0], "deep", "paper")["fra"].text == "60.4 (-0.6)"
    assert any("“delta”" in note and "to bos" in note for note in drawn.notes)


@pytest.mark.parametrize(
    ("name", "text"),
    [("table5", "Table 5 · T"), ("figure4", "Figure 4 · T"), ("figure2a", "Figure 2a · T")],
)
def test_a_label_has_kind_number_and_title(name, text):
    assert label(name, "T") == text


@pytest.mark.parametrize(
    ("section", "text"),
    [("§4.4", "§4.4 of P."), ("App. B", "App. B of P."), ("Results", "“Results” of P.")],
)
def test_a_caption_says_where_and_at_which_scale(section, text):
    assert caption(section, "P.", "tiny") == f"{text} Scale: tiny."


def test_a_doubtful_number_has_a_mark_and_a_note_says_why(tmp_path):
    results = Results(tmp_path / "results")
    doubtful = scores(20.0, 38.0).model_copy(update={"doubt": "equal hypotheses"})
    results.write("p/small", {BLEU: doubtful})
    seen = laid_out(tmp_path, results)
    ours = row(seen.blocks[0], "6/6")
    assert [ours[name].text for name in ("Avg.", "bos", "fra")] == ["29.0‡", "20‡", "38.0‡"]
    assert any(note.startswith("‡") for note in seen.notes)
    assert "6/6: equal hypotheses." in seen.notes


def test_numbers_without_doubt_have_no_mark(tmp_path):
    assert not any("‡" in note for note in laid_out(tmp_path).notes)
