"""A cell resolves to a run or corpus, a value and a task; what does not is found."""

import pytest

from tests.support.refused import prose, says


@pytest.fixture
def cell(papers, known):
    """A function that returns a cell of a table by its row's and column's ids."""

    def find(paper, table, row, column):
        cells = papers[paper].tables[table].cells(known)
        return next(item for item in cells if (item.id, item.column) == (row, column))

    return find


def test_a_row_names_the_run_and_a_column_the_task(cell):
    bos = cell("latent_depth", "table5", "LL-D, 24/24", "bos")
    assert (bos.kind, bos.source) == ("run", "latent_depth/m2o_diverse_ll_d_24_24")
    assert (bos.task, bos.tasks, bos.key) == ("bos", (), "bleu.test.soft.13a")


def test_a_cell_without_a_task_is_the_mean_over_the_blocks_tasks(cell):
    average = cell("lamgd", "table3", "LaMGD", "avg")
    assert average.task is None
    assert average.tasks == ("med", "law", "bank", "it", "talk", "rel")
    assert cell("lamgd", "table6", "12", "avg").tasks[0] == "aze"


def test_a_column_names_the_value(cell):
    likelihood = cell("latent_depth", "table1", "LL-Both, 48/48", "nll_valid")
    assert (likelihood.key, likelihood.value.unit) == ("nll.valid.soft", "bits")


def test_a_row_names_the_value_and_the_column_the_run(cell):
    count = cell("transparent_attention", "table3", "params", "big6")
    assert (count.key, count.source) == (
        "parameters",
        "transparent_attention/en_de_rnmt_plain_big6",
    )
    window = cell("transparent_attention", "table2", "transparent", "20")
    assert window.source == "transparent_attention/cs_en_transformer_transparent_20"
    assert window.key == "bleu.test.plain.window.moses"


def test_a_row_may_have_another_run_for_one_column(cell):
    assert cell("lamgd", "table4", "LaMGD", "law").source == "lamgd/domains_lamgd"
    assert cell("lamgd", "table4", "LaMGD", "law1").source == "lamgd/split_lamgd"
    assert cell("lamgd", "table4", "LaMGD", "law1").task == "law1"


def test_a_block_chooses_the_run_and_gives_the_id(cell):
    galician = cell("lamgd", "table5", "M2O-related/LaMGD", "glg")
    assert galician.source == "lamgd/m2o_related_lamgd"
    assert (galician.block, galician.row) == ("M2O-related", "LaMGD")


def test_a_table_chooses_the_gates_and_a_run_without_gates_has_a_plain_score(cell):
    assert cell("latent_depth", "table9", "Latent depth, E[L] = 14.5", "avg").gates == "hard"
    assert cell("latent_depth", "table9", "Static depth, L = 15", "avg").gates == "plain"


def test_a_value_with_gates_is_empty_for_a_run_without(cell):
    assert cell("latent_depth", "table5", "12/12", "avg_hard").kind == "empty"
    assert cell("latent_depth", "table5", "LL-D, 12/24", "avg_hard").gates == "hard"


def test_the_depth_of_a_stack_without_gates_is_empty(cell):
    assert cell("latent_depth", "table5", "LL-D, 12/24", "depth_encoder").kind == "empty"
    assert cell("latent_depth", "table5", "LL-D, 12/24", "depth_decoder").key == "depth.decoder"


def test_a_corpus_has_values_by_task_whatever_its_capitals(cell):
    german = cell("latent_depth", "table11", "De", "sentences_millions")
    assert (german.kind, german.source, german.task) == ("corpus", "wikipedia25", "de")
    tokens = cell("lamgd", "table1", "tokens_fr", "bank")
    assert (tokens.key, tokens.task) == ("tokens.train.fr", "bank")


def test_a_printed_na_is_an_empty_cell(cell):
    assert cell("transparent_attention", "table1", "transparent", "big6").kind == "empty"


def test_a_mean_over_a_task_of_unknown_metric_has_an_unknown_metric(cell):
    known = {
        column: cell("latent_depth", "table4", "6/6", column).metric_known
        for column in ("fra", "kor", "avg", "params")
    }
    assert known == {"fra": True, "kor": False, "avg": False, "params": True}


def test_a_row_of_ours_is_not_the_papers(cell):
    assert cell("latent_depth", "table4", "ReZero, 24/24", "bos").ours
    assert cell("latent_depth", "table4", "6/6", "params").ours
    assert not cell("latent_depth", "table4", "6/6", "bos").ours


LATENT, LAMGD = "latent_depth/tables.yaml", "lamgd/tables.yaml"
TRANSPARENT = "transparent_attention/tables.yaml"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        pytest.param(
            LATENT,
            "  columns: [params, perplexity]",
            "  columns: [params, perplxity]",
            says(
                "neither task nor value",
                "perplxity",
                where="table2.columns.1",
                nearest="perplexity",
            ),
            id="column",
        ),
        pytest.param(
            TRANSPARENT,
            "  columns: [6, 12, 16, 20, big6]",
            "  columns: {6: bleu.window, 12: bleu, 16: bleu, 20: bleu, big6: bleu}",
            says("two values", "params", 6, where="table1.rows.params", remedy=prose("one of two")),
            id="two values",
        ),
        pytest.param(
            LATENT,
            "    12/24: o2m_related_12_24",
            "    12/24: o2m_relatd_12_24",
            says(
                "unknown",
                "run",
                "o2m_relatd_12_24",
                where="table3.rows.12/24",
                nearest="o2m_related_12_24",
            ),
            id="run",
        ),
        pytest.param(
            LATENT,
            "value: bleu.valid\n",
            "value: bleu.vaild\n",
            says("qualifier", "bleu", "vaild", where="table10.value", nearest="valid"),
            id="value of the table",
        ),
        pytest.param(
            LAMGD,
            "proportion: share.train",
            "proportion: shares.train",
            says(
                "unknown", "measurement", "shares", where="table1.rows.proportion", nearest="share"
            ),
            id="value of the row",
        ),
        pytest.param(
            LAMGD,
            "{train: pairs.train in thousands, valid",
            "{train: pairs.train in thousand, valid",
            says("unknown", "unit", "thousand", where="table2.columns.train", nearest="thousands"),
            id="value of the column",
        ),
        pytest.param(
            LAMGD,
            "Adapter: {run: split_adapters, law: domains_adapters}",
            "Adapter: {run: split_adapters, lwa: domains_adapters}",
            says("unknown", "column", "lwa", where="table4.rows.Adapter.lwa", nearest="law"),
            id="run of a column",
        ),
        pytest.param(
            TRANSPARENT,
            "transparent: {run: <system>_transparent_<column>, empty: [big6]}",
            "transparent: {run: <system>_transparent_<column>, empty: [big7]}",
            says(
                "unknown", "column", "big7", where="table1.rows.transparent.empty", nearest="big6"
            ),
            id="empty column",
        ),
        pytest.param(
            TRANSPARENT,
            "baseline: <system>_plain_<column>",
            "baseline: <systm>_plain_<column>",
            says("placeholder", "with", "systm", where="table1.rows.baseline", nearest="system"),
            id="placeholder",
        ),
        pytest.param(
            LAMGD,
            "proportion: share.train",
            "proportion: bleu",
            says(
                "not of",
                "bleu",
                "corpus",
                where="table1.rows.proportion",
                remedy=prose("name runs"),
            ),
            id="corpus without the value",
        ),
        pytest.param(
            LATENT,
            "value: bleu.valid\n",
            "value: pairs.valid\n",
            says("not of", "pairs", "run", remedy=prose("name a corpus")),
            id="run without the value",
        ),
        pytest.param(
            LATENT,
            "Ro, Fr, Fi",
            "Rm, Fr, Fi",
            says(
                "neither is a task",
                "Rm",
                "sentences_millions",
                "wikipedia25",
                where="table11.rows.5",
                nearest="my",
            ),
            id="task of a corpus",
        ),
        pytest.param(
            LAMGD,
            "HMGD: domains_hmgd",
            "HMGD: {value: bleu}",
            says("row without a run", "HMGD", where="table3.rows.HMGD", remedy=prose("row: run")),
            id="row without a run",
        ),
    ],
)
def test_a_fault_is_found_with_line_and_nearest_name(faults, file, old, new, message):
    found = message.check(faults(file, old, new))
    assert found[0].startswith(f"config/papers/{file}:")


def test_a_wrong_column_is_one_finding_of_all_rows(faults):
    found = faults(LATENT, "  columns: [params, perplexity]", "  columns: [params, perplxity]")
    assert len(says("neither task nor value").check(found)) == 1
