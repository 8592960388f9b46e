"""What tables and figures ask of each run."""

import pytest

from fathom.artefacts.needs import Needs
from fathom.config.load import load
from tests.support.planned import DATASET, NOT_BUILT, REASON, planned
from tests.support.small_project import GATED, RUN, write_config


@pytest.fixture(scope="module")
def demands(tmp_path_factory):
    return Needs(load(write_config(tmp_path_factory.mktemp("small"))), "small")


def test_a_table_asks_for_the_measurements_that_its_cells_show(demands):
    table = demands.artefacts["sample_table1"]
    assert table.verb == "table"
    assert table.keys[f"sample/{RUN}"] == ("bleu.test.plain.13a", "parameters")
    assert set(table.keys[f"sample/{GATED}"]) == {
        "bleu.test.soft.13a",
        "bleu.test.hard.13a",
        "parameters",
        "depth.decoder",
    }


def test_a_figure_asks_for_what_its_table_shows(demands):
    figure, table = demands.artefacts["sample_figure1"], demands.artefacts["sample_table1"]
    assert figure.verb == "figure"
    assert set(figure.runs) == set(table.runs)


def test_a_run_is_decoded_as_all_tables_together_ask(demands):
    assert demands.decodings(f"sample/{RUN}") == (("test", "plain"),)
    assert set(demands.decodings(f"sample/{GATED}")) == {("test", "soft"), ("test", "hard")}


def test_the_runs_of_a_row_are_known(demands):
    assert demands.artefacts["sample_table1"].rows == {
        "Static": (f"sample/{RUN}",),
        "Gated": (f"sample/{GATED}",),
    }


@pytest.fixture(scope="module")
def own(own_project):
    return Needs(own_project, "tiny")


def test_validation_text_is_decoded_where_a_table_shows_it(own):
    assert ("valid", "soft") in own.decodings("latent_depth/inner_2")
    assert ("test", "soft") in own.decodings("latent_depth/m2o_diverse_ll_d_24_24")


def test_one_run_is_decoded_soft_for_one_table_and_hard_for_another(own):
    run = "latent_depth/m2o_diverse_ll_d_24_24"
    assert {("test", "soft"), ("test", "hard")} <= set(own.decodings(run))
    tables = {
        name: own.artefacts[f"latent_depth_{name}"].keys[run] for name in ("table5", "table9")
    }
    assert "bleu.test.soft.13a" in tables["table5"]
    assert "bleu.test.hard.13a" in tables["table9"]


def test_a_masked_language_model_has_no_decodings(own):
    assert own.decodings("latent_depth/masked_lm_24") == ()
    assert own.artefacts["latent_depth_table2"].keys["latent_depth/masked_lm_24"] == (
        "parameters",
        "perplexity.valid.plain",
    )


def test_a_table_of_a_corpus_asks_for_no_run(own):
    table = own.artefacts["lamgd_table2"]
    assert (table.runs, table.corpora) == ((), ("ted8_related", "ted8_diverse"))
    assert own.dataset("ted8_related") == "po_wheels_related"


def test_what_cannot_be_made_says_of_how_many_runs_and_why(own, own_project):
    paper = Needs(planned(own_project), "paper")
    reason = paper.not_built(paper.artefacts[NOT_BUILT])
    runs = len(paper.artefacts[NOT_BUILT].runs)
    assert reason == f"{runs} of {runs} runs: data set {DATASET}: {REASON}"
    assert own.not_built(own.artefacts["latent_depth_table5"]) == ""


@pytest.mark.parametrize("table", ["table3", "table4", "table7"])
def test_one_to_many_tables_are_built(own, table):
    assert own.not_built(own.artefacts[f"latent_depth_{table}"]) == ""
