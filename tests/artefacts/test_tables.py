"""Tables next to what the paper reports, and tables whose rows are compared with one of them."""

import csv
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from scipy import stats

from fathom.artefacts.rendering import write_csv
from fathom.artefacts.table.comparison import AGAINST, COLUMNS, compare_table, counts, lines
from fathom.artefacts.table.differences import BY_SEED, PAIRED
from fathom.artefacts.table.formats import (
    average_lines,
    html,
    markdown,
    numbers,
    seed_numbers,
    terminal,
    tex,
    write,
)
from fathom.artefacts.table.notes import notes_of
from fathom.artefacts.table.view import CellView, caption, label, our_text, view
from fathom.config.measurement_keys import ShownValue
from fathom.config.schema.table import Mark
from fathom.config.tables import Cell
from fathom.io.records import write_record
from fathom.results.measurements import Number, Record
from fathom.scoring.students_t import p_value
from tests.support import small_tables
from tests.support.small_tables import (
    KNOWN,
    TASKS,
    Results,
    reported,
    scores,
    table,
    texts,
    typical,
)

BLEU = "bleu.test.plain.13a"
MARK = Mark(means="gain", to="6/6", test="paired_bootstrap", draws=1000, share=0.5)
PRINTED = (
    reported("6/6", "avg", "29.5"),
    reported("6/6", "bos", "22", stderr="0.1"),
    reported("6/6", "fra", "38.0", mark="bold"),
    reported("6/6", "params", "66.3"),
    reported("24/24", "params", "224", right="287"),
    reported("24/24", "avg", note="diverged"),
    reported("24/24", "bos", note="diverged"),
    reported("24/24", "fra", note="diverged"),
    reported("LL-D, 6/12", "bos", "22", mark="bold"),
)


GOLDEN = Path(__file__).with_name("golden")


def compared(folder, results=None, printed=PRINTED, name="table1", scale="paper", **changes):
    """Return a table with its cells compared; sources may have changes."""
    results = results or typical(folder / "results")
    sources = {key: replace(source, **changes) for key, source in results.sources.items()}
    return small_tables.compared(results, name, printed=printed, scale=scale, sources=sources)


def laid_out(*args, **options):
    """Return a table in lines."""
    return view(compared(*args, **options), "A. Author: A paper. 2020")


def item(table, row, column):
    """Return one compared cell."""
    of = table.cells
    return next(p for p in of if (p.result.cell.row, p.result.cell.column) == (row, column))


def row(block, label, kind="result"):
    """Return the cells of the line of a kind that follows a label, by column."""
    labels = [part.label for part in block.rows]
    part = next(part for part in block.rows[labels.index(label) :] if part.kind == kind)
    return dict(zip(block.columns, part.cells, strict=False))


@pytest.fixture
def usual(tmp_path):
    return compared(tmp_path)


@pytest.fixture
def main(tmp_path):
    return laid_out(tmp_path).blocks[0]


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "results")


def test_a_small_papers_table_has_the_golden_files_and_lines(usual, tmp_path):
    """The golden files follow by hand from `typical` and PRINTED; so must what changes in them."""
    write(view(usual, "A. Author: A paper. 2020"), usual, tmp_path / "table1")
    write_csv(tmp_path / "compare.csv", COLUMNS, lines([usual]))
    written = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir() if path.is_file()}
    golden = {path.name: path.read_text("utf-8") for path in GOLDEN.iterdir()}
    assert written.keys() == golden.keys() | {"table1.html"}
    assert {name: written[name] for name in golden} == golden
    assert [*counts([usual]).values()] == [4, 3, 2]
    assert [*average_lines([usual])] == ["p table1  6/6: 29.50 ±0.50, paper 29.5, reproduced"]


def test_the_cell_of_a_task_has_a_wider_tolerance_than_a_mean(tmp_path, results):
    results.write("p/deep", {BLEU: scores(20.0, 20.0)})
    printed = (reported("24/24", "avg", "20.9"), reported("24/24", "bos", "20.9"))
    small = compared(tmp_path, results, printed)
    assert item(small, "24/24", "avg").verdict.words == "lower"
    assert item(small, "24/24", "bos").verdict.words == "reproduced"


@pytest.mark.parametrize(
    ("run", "printed", "value", "words"),
    [
        ("small", "20", 20.0, "reproduced"),
        ("small", "30", 20.0, "lower"),
        ("deep", "20", 20.0, "reproduced"),  # it diverged, but its settings are there
        ("control", "20", None, "not run"),
    ],
)
def test_a_printed_setting_is_compared_with_that_of_the_run(tmp_path, run, printed, value, words):
    epochs = ShownValue("setting", setting="training.updates")
    cell = Cell("", run, "Epoch", run, ours=False, kind="run", source=f"p/{run}", value=epochs)
    sources = {
        name: replace(source, settings=lambda: {"training.updates": 20.0})
        for name, source in typical(tmp_path).sources.items()
    }
    paper = [reported(run, "Epoch", printed)]
    (item,) = compare_table(table(tmp_path), [cell], paper, sources, "paper").cells
    assert (item.result.value, item.verdict.words) == (value, words)
    assert our_text(item.result, 2).text == ("not run" if value is None else "20")


@pytest.mark.parametrize(("comparable", "words"), [(True, "reproduced"), (False, None)])
def test_a_run_that_was_not_trained_has_its_size_and_no_score(tmp_path, comparable, words):
    """It said `not run`, though a size needs no training."""
    printed = (reported("6/6", "params", "66.3"), reported("6/6", "bos", "22"))
    unknown = compared(tmp_path, Results(tmp_path), printed)
    assert item(unknown, "6/6", "params").verdict.words == "not run"
    sized = {"untrained_size": lambda: 66_310_000, "comparable": comparable}
    table = compared(tmp_path, Results(tmp_path), printed, **sized)
    size, score = (item(table, "6/6", column) for column in ("params", "bos"))
    assert (size.result.value, size.result.seeds, size.result.words) == (66.31, 0, "")
    assert size.verdict.words == (words or "not comparable (paper)")
    assert (score.result.words, score.verdict.words) == ("not run", "not run")
    shown = row(view(table, "").blocks[0], "6/6")
    assert (shown["Params (M)"].full, shown["Avg."].text) == ("66.3", "not run")


def test_a_run_that_waits_for_a_file_says_which(tmp_path):
    shown = compared(tmp_path, Results(tmp_path), needs="a.tar.gz")
    score = item(shown, "6/6", "bos")
    assert score.result.words == "not run: needs a.tar.gz"
    assert (score.verdict.words, score.verdict.cause) == ("not run", "needs a.tar.gz")
    assert "not run: the run was not trained." in notes_of(shown)


def test_a_cell_that_the_paper_prints_as_a_difference_is_a_difference(tmp_path, results):
    for run, size in (("p/small", 91.6e6), ("p/deep", 104.6e6)):
        results.write(run, {"parameters": Record(all=Number(value=size))})
    printed = (reported("deep", "params", "13", mark="added"),)
    cell = item(compared(tmp_path, results, printed, "table2"), "deep", "params")
    assert cell.result.value == pytest.approx(13.0)
    assert cell.verdict.words == "reproduced"


def test_a_difference_printed_next_to_a_number_leaves_the_number(tmp_path, results):
    results.write("p/deep", {BLEU: scores(61.0, 60.4)})
    printed = (reported("deep", "fra", "60.4", mark="delta", note="-0.6"),)
    both = compared(tmp_path, results, printed, "table2")
    cell = item(both, "deep", "fra")
    assert (cell.result.value, cell.delta) == (60.4, pytest.approx(-0.6))
    assert cell.verdict.words == "reproduced"
    layout = view(both, "P")
    assert row(layout.blocks[0], "deep")["fra"].text == "60.4 (-0.6)"
    assert row(layout.blocks[0], "deep", "paper")["fra"].text == "60.4 (-0.6)"
    assert any("“delta”" in note and "to bos" in note for note in layout.notes)


def test_our_cells_have_the_mark_of_the_test_that_they_pass(results):
    results.score("p/small", texts(0.4, seed=2))
    results.score("p/deep", texts(0.1))
    results.score("p/control", texts(0.4, seed=2))
    judged = small_tables.compared(results, printed=PRINTED, marks={"bold": MARK})
    marks = {row: item(judged, row, "bos").mark for row in ("6/6", "24/24", "Control")}
    assert marks == {"6/6": "", "24/24": "bold", "Control": ""}
    assert (item(judged, "24/24", "avg").mark, item(judged, "24/24", "params").mark) == ("bold", "")
    shown = view(judged, "").blocks[0].rows
    assert {row.label for row in shown if row.kind == "result" and row.cells[1].bold} == {"24/24"}
    (note,) = [note for note in notes_of(judged) if note.startswith("The paper's mark “bold”")]
    assert "paired bootstrap (1,000 draws of 50% of the sentences, of which 95% agree)" in note
    assert [line["mark"] for line in numbers(judged)].count("bold") == 3


def test_a_difference_that_is_printed_has_a_paired_spread(tmp_path, results):
    results.score("p/small", texts(0.4, seed=2))
    results.score("p/deep", texts(0.1))
    printed = (reported("deep", "bos", "13", mark="added"),)
    judged = compared(tmp_path, results, printed, "table2")
    less = item(judged, "deep", "bos").result
    assert 0 < less.stderr < less.interval
    assert any("in pairs" in note for note in notes_of(judged))


@pytest.mark.parametrize(("shown_as", "title"), [({}, "bos"), ({"bos": "BOS~songs"}, "BOS~songs")])
def test_columns_are_called_after_their_text_and_few_sentences_have_a_mark(
    tmp_path, shown_as, title
):
    layout = laid_out(tmp_path, shown_as=shown_as)
    assert layout.blocks[0].columns == ("Params (M)", "Avg.", f"{title}†", "fra†", "Seeds")
    assert any("~" in note for note in layout.notes) == ("~" in title)


def test_a_scaled_count_keeps_two_digits(tmp_path, results):
    results.write("p/small", {"parameters": Record(all=Number(value=493_000.0))})
    block = laid_out(tmp_path, results, (reported("6/6", "params", "246"),)).blocks[0]
    assert row(block, "6/6")["Params (M)"].text == "0.49"


def test_a_number_of_some_seeds_says_of_how_many(tmp_path, results):
    results.write("p/small", {BLEU: scores(20.0, 38.0)}, 1)
    results.write("p/small", {}, 2, outcome="diverged")
    layout = laid_out(tmp_path, results)
    assert row(layout.blocks[0], "6/6")["fra"].full == "38.0 (1 of 2 seeds) ±0.5"
    assert any("6/6: 1 of 2 seeds: diverged at update 122" in note for note in layout.notes)


def test_words_that_neighbours_share_are_printed_once(main):
    ours = row(main, "24/24")
    shared = CellView("diverged at update 122", span=3, verdict="no-result-as-reported")
    assert ours["Avg."] == shared
    assert ours["bos†"].span == ours["fra†"].span == 0
    assert row(main, "24/24", "paper")["Avg."] == CellView("diverged", span=3)


def test_each_block_has_its_heading_and_columns(tmp_path, results):
    pairs = {"train": 5640.0, "valid": 28.0}
    records = {
        f"pairs.{split}": Record(tasks={"bos": Number(value=count)})
        for split, count in pairs.items()
    }
    results.corpus("text", records)
    printed = (reported("train", "bos", "5.64"), reported("valid", "bos", "474"))
    first, second = laid_out(tmp_path, results, printed, "table3").blocks
    assert (first.heading, first.columns) == ("First", ("bos", "fra"))
    assert (second.heading, second.columns) == ("Second", ("kor",))
    # A number of things has no decimals next to one in thousands.
    names = ("train (thousands)", "valid")
    assert [row(first, name)["bos"].text for name in names] == ["5.64", "28"]
    assert row(second, "valid")["kor"].text == "not measured"


def test_a_block_has_both_sides_of_each_cell_for_the_page(usual):
    first, added = view(usual, "P").blocks
    assert (first.added, added.added) == (False, True)
    cell = next(cell for cell in first.cells[0] if cell.column.startswith("bos"))
    assert (cell.ours.text, cell.reported.full, cell.difference) == ("20", "22 ±0.1", "-2")
    assert cell.sign.words == "lower"
    ids = [cell.id for block in (first, added) for line in block.cells for cell in line]
    assert len(ids) == len(set(ids))
    assert all(name.startswith("table1-") for name in ids)


def test_a_label_has_kind_and_number_and_a_caption_place_and_scale():
    labels = [label(name, "T") for name in ("table5", "figure4", "figure2a")]
    assert labels == ["Table 5 · T", "Figure 4 · T", "Figure 2a · T"]
    captions = [caption(section, "P.", "tiny") for section in ("§4.4", "App. B", "Results")]
    ends = " of P. Scale: tiny."
    assert captions == [f"§4.4{ends}", f"App. B{ends}", f"“Results”{ends}"]


@pytest.mark.parametrize(("updates", "said"), [(500, True), (1000, False)])
def test_a_table_says_whether_its_rows_are_trained_for_different_numbers_of_updates(
    tmp_path, updates, said
):
    table = compared(tmp_path, updates=1000)
    sources = table.sources | {"p/deep": replace(table.sources["p/deep"], updates=updates)}
    notes = [*notes_of(replace(table, sources=sources))]
    assert ("Rows are trained for different numbers of updates." in notes) == said


def test_seeds_that_were_trained_and_are_not_shown_are_named(tmp_path):
    notes = notes_of(compared(tmp_path, unused=(2, 5)))
    (note,) = [note for note in notes if note.startswith("p/deep")]
    assert "2, 5" in note
    assert "--seeds all" in note


def test_seeds_that_were_trained_in_tf32_are_named_where_others_were_not(tmp_path):
    table = compared(tmp_path)
    folders = table.sources["p/small"].folders

    def notes(*precisions):
        for folder, precision in zip(folders.values(), precisions, strict=True):
            record = {"device": {"products": {"precision": precision}}}
            write_record(folder.parent / "training.json", record)
        return [note for note in notes_of(table) if note.startswith("p/small")]

    assert notes("high", "high") == notes("medium", "highest") == []
    assert notes("highest", "high") == ["p/small: trained in TF32 with seed 2 alone."]


def test_what_was_not_measured_and_how_seeds_ended_is_named(tmp_path, results):
    results.write("p/deep", {})
    results.write("p/small", {}, outcome="diverged")
    notes = list(notes_of(compared(tmp_path, results)))
    assert any(note.startswith("not measured: ") and "p/deep" in note for note in notes)
    assert "6/6: 1 of 2 seeds: diverged at update 122." in notes


def test_text_that_is_scored_as_it_is_says_so(results):
    results.write("p/deep", {"bleu.test.plain.none": scores(20.0, 38.0)})
    text = "t: {title: T, section: S, columns: [bos], metric: {tokenize: none}, rows: {a: deep}}"
    judged = small_tables.compared(results, "t", text)
    (metric,) = [note for note in notes_of(judged) if note.startswith("Metric")]
    assert "tokenizer none (the text is scored as it is)" in metric


def test_a_doubtful_number_has_a_mark_and_a_note_says_why(tmp_path, results):
    doubtful = scores(20.0, 38.0).model_copy(update={"doubt": "another language"})
    results.write("p/small", {BLEU: doubtful})
    layout = laid_out(tmp_path, results)
    ours = row(layout.blocks[0], "6/6")
    assert [ours[name].text for name in ("Avg.", "bos", "fra")] == ["29.0‡", "20‡", "38.0‡"]
    assert any(note.startswith("‡") for note in layout.notes)
    assert "6/6: another language." in layout.notes
    assert not any("‡" in note for note in laid_out(tmp_path).notes)


def test_a_result_where_the_paper_has_none_and_the_reverse_have_a_sign_and_a_note(
    tmp_path, results
):
    """24/24 diverged in the paper and trained here, and nothing said so."""
    printed = (
        reported("6/6", "bos", note="diverged, printed NA"),
        reported("6/6", "fra", "38.0"),
        reported("24/24", "bos", "20.0"),
        reported("24/24", "fra", note="diverged, printed NA"),
    )
    results.write("p/small", {"bleu.test.plain.13a": scores(20.0, 38.0)})
    results.write("p/deep", {}, outcome="diverged")
    shown = laid_out(tmp_path, results, printed)
    cells = {(cell.row, cell.column): cell for line in shown.blocks[0].cells for cell in line}
    turned = {place for place, cell in cells.items() if "⇄" in cell.ours.text}
    assert turned == {("6/6", "bos"), ("24/24", "bos")}
    assert cells["6/6", "bos"].reported.text == "NA"
    assert {
        "⇄: we have a result where the paper has none, or the reverse.",
        "The paper's “NA”: diverged.",
    } <= {*shown.notes}
    assert r"$\rightleftarrows$" in tex(shown)


def test_rows_of_another_depth_say_which_and_a_count_that_seeds_share_has_no_spread(tmp_path):
    results = typical(tmp_path / "results", comparable=False)
    made = compared(tmp_path, results)
    sources = {name: replace(each, layers="2/2") for name, each in made.sources.items()}
    sources["p/small"] = replace(sources["p/small"], text="Messages", paper_layers="6/6")
    sources["p/deep"] = replace(sources["p/deep"], paper_layers="24/24")
    made = replace(made, sources=sources)
    shown = view(made, "A. Author: A paper. 2020")
    names = [line.label for line in shown.blocks[0].rows if line.kind == "result"]
    assert names[:2] == ["6/6 (here 2/2)", "24/24 (here 2/2)"]
    assert shown.caption.endswith(" Text: Messages.")
    assert any("cannot be compared" in note for note in shown.notes)
    assert item(made, "6/6", "params").result.stderr == 0.0
    assert row(shown.blocks[0], names[0])["Params (M)"].full == "66.3"


def test_a_count_that_the_corpus_is_drawn_to_have_is_by_construction(results):
    pairs = Record(tasks={task: Number(value=5640) for task in TASKS})
    results.corpus("text", {"pairs.train": pairs})
    corpus = replace(results.sources["text"], comparable=True, by_construction=("pairs.train",))
    printed = (reported("train", "bos", "5.64"), reported("train", "fra", "6.0"))
    made = small_tables.compared(results, "table3", printed=printed, sources={"text": corpus})
    words = [item(made, "train", task).verdict.words for task in TASKS]
    assert words == ["by construction", "lower"]


def test_the_cell_of_a_task_is_doubtful_where_that_task_fails(tmp_path, results):
    record = scores(20.0, 38.0)
    record = record.model_copy(update={"doubt": "two fail", "doubts": {"bos": "0% right"}})
    results.write("p/small", {"bleu.test.plain.13a": record})
    made = compared(tmp_path, results)
    doubtful = {name: item(made, "6/6", name).result.doubtful for name in ("avg", *TASKS)}
    assert doubtful == {"avg": True, "bos": True, "fra": False}
    assert item(made, "6/6", "bos").result.note.endswith("bos: 0% right")


AGAINST_SMALL = """
table1:
  title: Depth
  section: ""
  against: small
  columns: [params, avg, tasks]
  rows: {6/6: small, 24/24: deep, Control: control}
"""


@pytest.fixture
def paired(results):
    """Three rows on the same sentences, of which the first is the worst."""
    results.score("p/small", texts(0.4, seed=2))
    results.score("p/deep", texts(0.1))
    results.score("p/control", texts(0.35, seed=3))
    return small_tables.compared(results, text=AGAINST_SMALL)


def test_every_format_has_difference_interval_and_p_and_no_reported_number(paired, tmp_path):
    laid_out = view(paired, "Depth")
    (block,) = laid_out.blocks
    assert block.columns[-5:] == AGAINST
    write(laid_out, paired, tmp_path / "table1")
    with open(tmp_path / "table1.csv", encoding="utf-8", newline="") as stream:
        lines = {(line["row"], line["column"]): line for line in csv.DictReader(stream)}
    base, deep = lines["6/6", "avg"], lines["24/24", "avg"]
    assert [base[name] for name in AGAINST] == [""] * 5
    assert float(deep["difference"]) == float(deep["value"]) - float(base["value"])
    assert float(deep["low"]) < float(deep["difference"]) < float(deep["high"])
    assert float(deep["p_holm"]) == 2 * float(deep["p"]) < 0.05
    assert "reported" not in deep
    shown = block.against[1]
    assert shown[0].startswith("+")
    lines, _ = terminal(block, 200)
    for text in (markdown(laid_out), tex(laid_out), html(laid_out), str(lines)):
        text = unescape(text).replace("$<$", "<")
        assert all(part in text for part in shown)
    assert shown[3] == "<0.001"
    less, corrected = [note for note in laid_out.notes if "difference" in note or "p_holm" in note]
    assert "Avg. minus that of small" in less
    assert PAIRED.format(10_000) in less
    assert corrected == "p_holm: p with Holm's correction for 2 rows."


def test_several_seeds_give_the_interval_and_p_over_seeds(results, monkeypatch):
    monkeypatch.setitem(KNOWN.entries, "p/deep", (1, 2))
    for seed, value in ((1, 20.0), (2, 21.0)):
        results.write("p/small", {BLEU: scores(value, value)}, seed)
        results.write("p/deep", {BLEU: scores(value + 4 + seed, value + 5)}, seed)
    made = small_tables.compared(results, text=AGAINST_SMALL)
    cells = {(each.result.cell.row, each.result.cell.column): each for each in made.cells}
    against = cells["24/24", "avg"].against
    assert against.difference == 5.25
    # The differences of seeds 1 and 2 are 5 and 5.5.
    assert against.p == against.p_holm == pytest.approx(p_value(5.25, [(0.25, 2)]))
    assert against.low < 5.25 < against.high
    assert against.method == BY_SEED
    assert cells["Control", "avg"].against is None


LESS = """
table1:
  title: T
  section: S
  columns: {nll: nll.valid, delta: nll.valid}
  less: {delta: 6/6}
  rows: {6/6: small, 24/24: deep, Control: control}
"""


def test_a_column_of_differences_shows_them_with_the_paired_interval(results, monkeypatch):
    monkeypatch.setitem(KNOWN.entries, "p/deep", (1, 2))
    values = ((3.8, 3.6), (3.9, 3.75))
    for seed, (small, deep) in enumerate(values, 1):
        for run, value in (("p/small", small), ("p/deep", deep)):
            record = Record(all=Number(value=value))
            results.write(run, {"nll.valid.plain": record}, seed)
    found = small_tables.compared(results, text=LESS)
    (block,), pairs = view(found, "Depth").blocks, stats.ttest_rel(*zip(*values, strict=True))
    low, high = (-end for end in pairs.confidence_interval(0.95)[::-1])
    cells = {row[0].row: row[1].ours for row in block.cells}
    assert cells["24/24"].full == f"-0.175 [{low:+.3f}, {high:+.3f}]"
    assert (cells["6/6"].full, cells["Control"].text) == ("", "not run")
    assert any(
        note.endswith(f"minus that of 6/6; in brackets: {BY_SEED}.")
        for note in view(found, "").notes
    )
    lines = {(line["row"], line["column"]): line for line in numbers(found)}
    assert lines["24/24", "delta"]["p"] == pytest.approx(pairs.pvalue)
    assert {line["column"] for line in seed_numbers(found)} == {"nll"}
