"""Tables: run or text, value and task of each cell, what is printed there, and what it means."""

import math

import pytest

from fathom.config import reported
from fathom.config.load import load
from fathom.config.measurement_keys import parse
from fathom.config.schema.columns import Tolerance
from fathom.io.errors import FathomError
from tests.config.conftest import PROJECT

TABLES = "papers/deep/tables.yaml"
MEASUREMENTS = ("bleu", "nll", "depth", "tokens", "parameters", "sharing", "pairs")


def cells(project, table, paper="deep"):
    """Return the cells of a table by the ids of their row and column."""
    found = project.cells(project.papers[paper].tables[table])
    return {(cell.id, cell.column): cell for cell in found}


@pytest.fixture(scope="module")
def cell(sample):
    return lambda table, row, column: cells(sample, table)[row, column]


def test_a_row_names_the_run_and_a_column_the_task(cell):
    bos = cell("table1", "Gated", "bos")
    assert (bos.kind, bos.source, bos.key) == ("run", "deep/gated", "bleu.test.soft.13a")
    assert (bos.task, bos.tasks) == ("bos", ())


def test_a_table_chooses_the_gates_of_values_that_name_none(edited):
    project = load(edited((TABLES, "table1:\n", "table1:\n  gates: hard\n")))
    assert cells(project, "table1")["Gated", "bos"].gates == "hard"


def test_a_capital_changes_no_task(edited):
    folder = edited(
        (TABLES, "  rows: [tasks]", "  rows: [Bos, Fra, Kor]"),
        *(
            (f"papers/deep/reported/table{n}.csv", f"{name},{column}", f"{name.title()},{column}")
            for n in (4, 5)
            for name in ("bos", "fra", "kor")
            for column in ("train", "valid")
        ),
    )
    assert cells(load(folder), "table4")["Fra", "valid"].task == "fra"


# Values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("blue.valid", ("blue", "bleu")),
        ("bleu.soft.hard", ("hard",)),
        ("depth.soft", ("soft",)),
        ("nll in bit", ("bit", "bits")),
        ("tokens.train", ("language", "tokens.train.en")),
        ("", ()),
    ],
)
def test_what_is_not_a_value_is_refused_with_the_nearest_name(text, words):
    with pytest.raises(FathomError) as caught:
        parse(text, MEASUREMENTS)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("text", "gates", "key"),
    [
        ("bleu.hard.valid", "soft", "bleu.valid.hard.13a"),
        ("bleu.window", "plain", "bleu.test.plain.window.13a"),
        ("nll.valid in bits", "plain", "nll.valid.plain"),
        ("tokens.fr.train", "", "tokens.train.fr"),
    ],
)
def test_qualifiers_have_any_order_and_the_table_chooses_gates_and_metric_without_them(
    text, gates, key
):
    assert parse(text, MEASUREMENTS).key(gates, "13a") == key


def test_a_unit_is_a_factor():
    assert parse("nll.valid in bits", MEASUREMENTS).factor == pytest.approx(1 / math.log(2))
    assert parse("parameters in millions", MEASUREMENTS).factor == 1e-6


def test_a_measurement_has_a_tolerance_for_means_and_one_for_tasks(sample):
    of = sample.papers["deep"].tables["table1"].vocabulary.measurements
    assert of["bleu"].tolerance(None) == Tolerance(absolute=0.5)
    assert of["bleu"].tolerance("bos") == Tolerance(at_least=0.4)
    assert of["nll"].tolerance("bos") == Tolerance(relative=0.01)
    assert of["parameters"].tolerance(None) == Tolerance(relative=0.01, digits=True)
    assert of["chrf"].tolerance(None) is None


def test_a_column_without_an_entry_has_its_id_as_title(sample):
    vocabulary = sample.papers["deep"].tables["table1"].vocabulary
    assert (vocabulary.title("avg"), vocabulary.title("bos")) == ("Avg.", "bos")


# What is printed


def test_a_reported_cell_keeps_what_is_printed_and_compares_what_is_meant(sample):
    paper = sample.papers["deep"]
    path, places = paper.reported("table1"), cells(sample, "table1").values()
    printed = {(cell.row, cell.column): cell for cell in reported.read(path, places, PROJECT)}
    misprint, outcome = printed["Gated", "kor"], printed["Tuned", "kor"]
    assert (misprint.value, misprint.number, misprint.decimals) == ("199", 19.9, 0)
    assert (outcome.number, outcome.outcome) == (None, "diverged")
    assert printed["Static", "avg"].deviation == 0.1
    assert printed["Tuned", "avg"].mark == "bold"
    assert printed["Gated", "fra"].difference == -0.1
    assert printed["Tuned", "fra"].difference == 0.0
    assert printed["Static", "bos"].where == "config/papers/deep/reported/table1.csv:3"


# Papers


def test_a_reference_and_a_citation_have_what_is_given(sample):
    about = sample.papers["deep"].about
    assert about.reference == "A. Author, B. Author: A Deep Sample. 2020"
    assert about.citation.fields() == {
        "type": "inproceedings",
        "key": "author2020deep",
        "booktitle": "Samples",
        "year": "2020",
    }
    question = about.model_copy(update={"title": "Deep?"})
    assert question.reference.endswith(": Deep? 2020")


def test_a_paper_may_have_no_equations_figures_and_deviations(sample):
    paper = sample.papers["wide"]
    assert (paper.about.equations, paper.figures, paper.deviations) == ({}, {}, ())


def test_a_figure_like_another_has_its_kind_and_its_own_title(sample):
    figure = sample.papers["deep"].figures["figure3"]
    settings = figure.settings
    assert (settings.kind, settings.title, settings.section) == ("lines", "Other curves", "§6")
    assert (settings.series, settings.smooth) == ("nll.valid", 3)


def test_an_entry_on_a_deviation_keeps_its_parts(sample):
    entry = sample.papers["deep"].deviations[0]
    assert (entry.name, entry.released, entry.settings) == (
        "clip",
        "Nothing is clipped.",
        ("training.clip",),
    )


@pytest.mark.parametrize(
    ("source", "open_values"),
    [
        ("§3", []),
        ("silent; as elsewhere", ["width", "heads", "dropout"]),
        ("§3; dropout silent", ["dropout"]),
        ("heads and dropout silent; §3", ["heads", "dropout"]),
        ("width: §3; silent: a library's defaults", ["heads", "dropout"]),
        ("§3; places of it released", ["width", "heads", "dropout"]),
    ],
)
def test_a_source_says_which_values_of_its_line_are_silent(findings, edited, source, open_values):
    edits = (
        ("papers/deep/runs.yaml", "gates: {method",
         f"unused: {{model: {{width: 8, heads: 2, dropout: 0.1}}}}  # {source}\n  gates: {{method"),
    )  # fmt: skip
    if not open_values:
        assert load(edited(*edits))
        return
    found = [finding.where.rpartition(".")[2] for finding in findings(*edits)]
    assert found == open_values


def test_an_entry_may_apply_to_the_whole_paper(edited):
    applies = "applies: [base, latent_layers, table1, figure1]"
    assert load(edited(("papers/deep/deviations.yaml", applies, "applies: [paper]")))


@pytest.mark.parametrize("name", ["deep/base", "deep/static"])
def test_an_entry_may_apply_to_a_borrowed_run_and_to_what_it_is_like(edited, name):
    entry = "{title: Rate, paper: Silent., ours: One., why: It trains., applies: [%s]}"
    edit = ("papers/wide/deviations.yaml", None, f"rate: {entry % name}\n")
    (deviation,) = load(edited(edit)).papers["wide"].deviations
    assert deviation.applies == (name,)


def test_a_paper_whose_tables_are_missing_is_not_left_out_in_silence(edited):
    project = load(edited(("papers/wide/tables.yaml", None, None)), check=False)
    with pytest.raises(FathomError) as caught:
        _ = project.papers["wide"].tables
    assert caught.value.where == "config/papers/wide/tables.yaml"
    assert "reported/table1.csv needs it" in caught.value.what
    assert project.papers["deep"].tables
