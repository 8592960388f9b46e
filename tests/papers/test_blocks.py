"""Blocks have the table's settings where they say nothing, and `tasks` written out."""

import pytest

from fathom.config.blocks import blocks
from tests.support.refused import prose, says

DIVERSE = ("bos", "mar", "hin", "mkd", "ell", "bul", "fra", "kor")


def test_tasks_are_those_of_the_first_rows_run(papers, known):
    (block,) = blocks(papers["latent_depth"].tables["table5"], known)
    printed = [column.id for column in block.columns if not column.ours]
    assert printed == ["avg", *DIVERSE]
    assert block.shown(DIVERSE) == DIVERSE


def test_tasks_are_those_of_the_corpus_where_there_are_no_runs(papers, known):
    related, diverse = blocks(papers["lamgd"].tables["table2"], known)
    assert [row.id for row in diverse.rows] == list(DIVERSE)
    assert (related.heading, related.corpus) == ("Related", "ted8_related")


def test_a_block_has_the_tables_rows_and_names_of_its_own(papers, known):
    first, *_, last = blocks(papers["lamgd"].tables["table5"], known)
    assert [row.id for row in first.rows] == ["Transformer", "Adapter", "LaMGD"]
    assert first.rows == last.rows
    assert (first.names, last.names) == ({"set": "o2m_related"}, {"set": "m2o_diverse"})


def test_a_table_like_another_changes_what_placeholders_mean(papers, known):
    (block,) = blocks(papers["transparent_attention"].tables["table4"], known)
    assert block.names == {"system": "cs_en_rnmt"}
    assert block.value == "bleu.window"


def test_rows_and_columns_of_ours_come_last(papers, known):
    (block,) = blocks(papers["latent_depth"].tables["table2"], known)
    assert [row.id for row in block.rows if row.ours] == [row.id for row in block.rows][-2:]


def test_a_metric_refines_the_papers(papers, known):
    (block,) = blocks(papers["latent_depth"].tables["table4"], known)
    assert (block.metric.tokenize, block.metric.unknown_for) == ("13a", ("mar", "kor"))


TABLES = "lamgd/tables.yaml"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            TABLES,
            "corpus: ted8_diverse",
            "corpus: ted8_divers",
            says("unknown", "data set", "ted8_divers", nearest="ted8_diverse"),
        ),
        (
            TABLES,
            "corpus: domains6",
            "corpus: domain6",
            says("unknown", "data set", "domain6", where="table1.corpus"),
        ),
        (
            TABLES,
            "  rows:\n    8: o2m_",
            "  lines:\n    8: o2m_",
            says("unknown key", where="table6.lines"),
        ),
        (
            TABLES,
            "columns: [avg, sharing_rate]",
            "columns: []",
            says("no columns", remedy="`columns`"),
        ),
        (
            "latent_depth/tables.yaml",
            "  rows:\n    6/6: m2o_diverse_6_6",
            "  rows:\n    6/6: m2o_divers_6_6",
            says(
                "unknown",
                "run",
                "m2o_divers_6_6",
                where="table5.rows.6/6",
                nearest="m2o_diverse_6_6",
            ),
        ),
        (
            "latent_depth/tables.yaml",
            "  corpus: wikipedia25\n",
            "",
            says("rows without runs", where="table11.rows", remedy=prose("row or corpus")),
        ),
    ],
)
def test_a_fault_is_found_with_the_nearest_name(faults, file, old, new, message):
    message.check(faults(file, old, new))


def test_a_table_without_rows_is_found(faults):
    old = "rows: {beta = 0: beta_0, beta = 1: beta_1, beta = 10: beta_10}"
    found = faults("latent_depth/tables.yaml", old, "rows: {}")
    says("no rows", where="table6", remedy="`rows`").check(found)
