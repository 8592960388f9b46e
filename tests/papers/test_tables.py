"""All tables of the papers have their cells, and say why rows are trained unequally long."""

from collections import Counter

import pytest


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
UNEQUAL = "unequal: adapters start from the Transformer's weights"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        pytest.param(
            LAMGD,
            f"  {UNEQUAL}\n",
            "",
            "table3: rows train unequally long (adapters 25000, domains 200000, domains 300000); "
            "add `unequal` and say why",
            id="unequal without a reason",
        ),
        pytest.param(
            LAMGD,
            "  columns: [avg, sharing_rate]",
            f"  columns: [avg, sharing_rate]\n  {UNEQUAL}",
            "table6.unequal: all rows train equally long; delete `unequal`",
            id="a reason without unequal rows",
        ),
        pytest.param(
            LATENT,
            "first: {row: 12/12, avg",
            "first: {row: 12/21, avg",
            "table5.first.row: no row '12/21'; nearest valid name: '12/12'",
            id="first row",
        ),
        pytest.param(
            LATENT,
            "avg: [27.0, 28.2]",
            "agv: [27.0, 28.2]",
            "table5.first.agv: no column 'agv'; nearest valid name: 'avg'",
            id="first column",
        ),
        pytest.param(
            LATENT,
            "first: {row: 12/12, avg: [27.0, 28.2]}",
            "first: {row: 12/12}",
            "table5.first: no column has a band; write `column: [low, high]`",
            id="first without a band",
        ),
        pytest.param(
            LATENT,
            "metric: {unknown_for: [mar, kor]}",
            "metric: {unknown_for: [mar, kro]}",
            "table4.metric.unknown_for: no task 'kro'; nearest valid name: 'kor'",
            id="task of unknown metric",
        ),
        pytest.param(
            LAMGD,
            "to: law}",
            "to: lwa}",
            "table4.marks.delta.to: no row, column or run 'lwa'; nearest valid name: 'law'",
            id="what a mark compares with",
        ),
        pytest.param(
            LATENT,
            "  columns: [avg, tasks]\n  gates: hard",
            "  columns: [avg, bos, tasks]\n  gates: hard",
            "column 'bos' meet 2 times; delete the repeated row or column",
            id="a column twice",
        ),
        pytest.param(
            LAMGD,
            "table6:\n",
            "table6:\n  like: tabel5\n",
            "table6.like: no entry 'tabel5'; nearest valid name: 'table5'",
            id="unknown like",
        ),
    ],
)
def test_a_fault_is_found_with_line_and_nearest_name(faults, file, old, new, message):
    found = [line for line in faults(file, old, new) if message in line]
    assert found
    assert found[0].startswith(f"config/papers/{file}:")


def test_a_circle_of_tables_is_found(faults):
    found = faults("transparent_attention/tables.yaml", "table1:\n", "table1:\n  like: table2\n")
    assert any("`like` goes in a circle: table1 > table2 > table1" in line for line in found)
