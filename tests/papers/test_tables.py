"""All tables of the papers have their cells, and say why rows are trained unequally long."""

from collections import Counter

import pytest

from tests.support.refused import prose, says


def test_every_printed_cell_of_all_papers_resolves(papers, known):
    kinds = Counter(
        cell.kind
        for paper in papers.values()
        for table in paper.tables.values()
        for cell in table.cells(known)
        if not cell.ours
    )
    assert kinds == {"run": 637, "corpus": 169, "empty": 8}


def test_no_two_cells_of_a_table_have_one_id(papers, known):
    for paper in papers.values():
        for table in paper.tables.values():
            ids = [(cell.id, cell.column) for cell in table.cells(known)]
            assert len(ids) == len(set(ids)), table.name


def test_blocks_give_ids_only_where_they_print_the_same_cell(papers, known):
    lamgd = papers["lamgd"].tables
    assert lamgd["table5"].cells(known)[0].id == "O2M-related/Transformer"
    assert lamgd["table2"].cells(known)[0].id == "aze"


def test_a_table_has_the_papers_marks_unless_it_has_its_own(papers):
    tables = papers["lamgd"].tables
    assert set(tables["table3"].marks) == {"bold", "added"}
    assert tables["table4"].marks["added"].to == "domains_transformer"


LATENT, LAMGD = "latent_depth/tables.yaml", "lamgd/tables.yaml"
UNEQUAL = """  unequal: >-
    adapters start from the Transformer's weights; LaMGD and HMGD train until they converge, 300,000
    updates against 200,000 (§3.1.1; HMGD's number is ours)
"""


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        pytest.param(
            LAMGD,
            UNEQUAL,
            "",
            says(
                "unequally long",
                "adapters 25000, domains 200000, domains 300000",
                where="table3",
                remedy=prose("say why"),
            ),
            id="unequal without a reason",
        ),
        pytest.param(
            LAMGD,
            "  columns: [avg, sharing_rate]",
            f"  columns: [avg, sharing_rate]\n{UNEQUAL.rstrip()}",
            says("equally long", where="table6.unequal", remedy=prose("delete unequal")),
            id="a reason without unequal rows",
        ),
        pytest.param(
            LATENT,
            "first: {row: 12/12, avg",
            "first: {row: 12/21, avg",
            says("unknown", "row", "12/21", where="table5.first.row", nearest="12/12"),
            id="first row",
        ),
        pytest.param(
            LATENT,
            "avg: [27.0, 28.2]",
            "agv: [27.0, 28.2]",
            says("unknown", "column", "agv", where="table5.first.agv", nearest="avg"),
            id="first column",
        ),
        pytest.param(
            LATENT,
            "first: {row: 12/12, avg: [27.0, 28.2]}",
            "first: {row: 12/12}",
            says("no band", where="table5.first", remedy=prose("write a band")),
            id="first without a band",
        ),
        pytest.param(
            LATENT,
            "metric: {unknown_for: [mar, kor]}",
            "metric: {unknown_for: [mar, kro]}",
            says("unknown", "task", "kro", where="table4.metric.unknown_for", nearest="kor"),
            id="task of unknown metric",
        ),
        pytest.param(
            LAMGD,
            "to: law}",
            "to: lwa}",
            says(
                "unknown", "row, column or run", "lwa", where="table4.marks.delta.to", nearest="law"
            ),
            id="what a mark compares with",
        ),
        pytest.param(
            LATENT,
            "  columns: [avg, tasks]\n  gates: hard",
            "  columns: [avg, bos, tasks]\n  gates: hard",
            says("column twice", "bos", 2, where="table9", remedy=prose("delete the column")),
            id="a column twice",
        ),
        pytest.param(
            LAMGD,
            "table6:\n",
            "table6:\n  like: tabel5\n",
            says("unknown", "entry", "tabel5", where="table6.like", nearest="table5"),
            id="unknown like",
        ),
    ],
)
def test_a_fault_is_found_with_line_and_nearest_name(faults, file, old, new, message):
    found = message.check(faults(file, old, new))
    assert found[0].startswith(f"config/papers/{file}:")


def test_a_circle_of_tables_is_found(faults):
    found = faults("transparent_attention/tables.yaml", "table1:\n", "table1:\n  like: table2\n")
    says("circle", "table1 > table2 > table1").check(found)
