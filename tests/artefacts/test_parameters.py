"""Verdicts on printed counts, of parameters and of text.

The counts themselves are in tests/contracts.
"""

from dataclasses import replace

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.judged import judged_counts
from fathom.artefacts.parameters import PrintedCount, printed_counts, untrained_size, vocabulary
from fathom.artefacts.table.comparison import compare_table
from fathom.artefacts.table.sources import CORPUS
from fathom.config.paths import Paths
from fathom.config.reported import Reported
from fathom.config.schema.columns import Tolerance
from fathom.io.records import write_record
from fathom.results.measurements import Measurements, Number, Record, write
from tests.support.own_project import own_project
from tests.support.specs import small_spec


def printed(value, right="", reason=""):
    cell = Reported("row", "params", value, "", "", right, "", "here:1")
    within = Tolerance(relative=0.01, digits=True)
    return PrintedCount("paper", "table1", cell, small_spec(), None, 10, 10, reason, within)


@pytest.mark.parametrize(
    ("count", "ours", "verdict"),
    [
        (printed("100"), 100_900_000, "agrees"),
        (printed("100"), 101_100_000, "differs"),
        (printed("13"), 12_743_000, "agrees"),
        (printed("13"), 12_499_000, "differs"),
        (printed("13.0"), 12_743_000, "differs"),
        (printed("0"), 1_200, "agrees"),
        (printed("224", right="287"), 287_300_000, "misprint"),
        (printed("224", right="290"), 287_300_000, "misprint"),
        (printed("224", right="300"), 287_300_000, "differs"),
        (printed("120", reason="known"), 112_000_000, "unexplained"),
    ],
)
def test_a_count_agrees_within_one_percent_or_to_the_printed_digits(count, ours, verdict):
    assert count.verdict(ours) == verdict


def test_a_table_judges_the_size_of_a_network_as_the_list_of_counts_does(tmp_path):
    """The printed +13 is 12.743, which 1 % does not allow."""
    project, artefacts = own_project(), Artefacts(own_project(), Paths(tmp_path, "paper"))
    table, row = project.papers["lamgd"].tables["table5"], "O2M-related/Adapter"
    counts = printed_counts(project, [], ["lamgd"])
    count = next(each for each in counts if (each.table, each.cell.row) == ("table5", row))
    assert count.verdict(count.ours()) == "agrees"
    rows = row, "O2M-related/Transformer"
    cells = [cell for cell in project.cells(table) if cell.id in rows and cell.column == "params"]
    sources = {cell.source: artefacts.source(cell.source) for cell in cells}
    compared = compare_table(table, cells, [count.cell], sources, "paper").cells
    assert [each.verdict.words for each in compared if each.verdict] == ["reproduced"]


def test_the_difference_is_a_share_of_the_printed_number():
    assert printed("100").difference(110_000_000) == pytest.approx(0.1)
    assert printed("0").difference(5) is None
    assert printed("100", reason="x").difference(100_000_000) == 0


def test_a_size_is_known_from_the_encoded_text_or_with_the_papers_own_settings(tmp_path):
    project, run = own_project(), "latent_depth/masked_lm_24"
    paper, tiny = (Paths(tmp_path, scale) for scale in ("paper", "tiny"))
    assert untrained_size(project, paper, run) == pytest.approx(202e6, rel=0.01)
    assert untrained_size(project, tiny, run) is None
    sizes = []
    for entries in (1000, 1001):
        record = tiny.tensors(project.spec(run, "tiny").data) / "tensors.json"
        write_record(record, {"dictionaries": {"source": entries}})
        sizes.append(untrained_size(project, tiny, run))
    assert sizes[1] - sizes[0] > project.spec(run, "tiny").model.width


def test_of_two_entries_that_fit_a_run_the_last_gives_its_dictionaries(monkeypatch):
    project, run = own_project(), "latent_depth/masked_lm_24"
    paper = project.papers["latent_depth"]
    first, *_ = paper.parameters.vocabularies
    names = ("masked_lm", "masked_lm_24", "en_de")
    for order in (names, names[::-1]):
        entries = [first.model_copy(update={"like": name}) for name in order]
        changed = paper.parameters.model_copy(update={"vocabularies": entries})
        monkeypatch.setitem(vars(paper), "parameters", changed)
        assert vocabulary(project, run).like == [name for name in order if name != "en_de"][-1]


def test_what_needs_no_training_is_counted_in_one_sentence(tmp_path):
    """Text counts as soon as a paper's own is there, whatever the scale."""
    artefacts, paper = (
        Artefacts(own_project(), Paths(tmp_path, "tiny")),
        own_project().papers["lamgd"],
    )
    assert judged_counts([], artefacts, [paper]) == ""
    counts = [
        *((printed("100"), 100_500_000), (printed("224", right="287"), 287_300_000)),
        *((printed("120", reason="known"), ours) for ours in (112_000_000, 108_000_000)),
    ]
    network = (
        "Judged without training: 1 of 4 printed parameter counts agree; 1 is a misprint; "
        "2 are 6.7 to 10.0 % below the printed size for a reason that we do not know (Table 1)"
    )
    assert judged_counts(counts, artefacts, [paper]) == f"{network}."
    found = [(replace(count, finding="no such stack"), ours) for count, ours in counts]
    assert judged_counts(found, artefacts, [paper]).endswith(
        "2 are 6.7 to 10.0 % below the printed size (Table 1); no such stack."
    )

    table = paper.tables["table2"]
    cells = [c for c in own_project().cells(table) if c.source == "ted8_related"]
    values = {
        (item.row, item.column): item.number
        for item in paper.printed("table2", own_project().cells(table))
    }
    records: dict[str, Record] = {}
    for cell in cells:
        number = Number(value=values[cell.id, cell.column] / cell.value.factor)
        records.setdefault(cell.key, Record()).tasks[cell.task] = number
    records["pairs.test"].tasks["aze"] = Number(value=1.0)
    path = artefacts.corpus("ted8_related", "ted8_related").folders[CORPUS] / "statistics.json"
    write(
        path,
        Measurements(
            rule="statistics",
            recipe={},
            corpus="ted8_related",
            identity="a" * 64,
            measurements=records,
        ),
    )
    today = judged_counts(counts, artefacts, [paper])
    assert today == f"{network}; text: {len(cells) - 1} of {len(cells)} counts agree."
