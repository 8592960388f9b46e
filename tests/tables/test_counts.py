"""What was counted in the sentences of a cell."""

import pytest

from fathom.artefacts.table.counts import counts_of, same_references, statistics_of, tasks_of
from tests.support.small_tables import KNOWN, Results, table, texts


@pytest.fixture
def results(tmp_path):
    made = Results(tmp_path)
    made.score("p/small", texts(0.4))
    return made


def cell(results, column):
    cells = KNOWN.cells(table(results.folder))
    return next(one for one in cells if (one.row, one.column) == ("6/6", column))


def test_a_mean_counts_the_sentences_of_each_task(results):
    mean = cell(results, "avg")
    assert (tasks_of(mean), tasks_of(cell(results, "bos"))) == (("bos", "fra"), ("bos",))
    sets = counts_of(mean, results.sources)
    assert [len(one.counts) for task in sets for one in task] == [30, 30]
    assert [[one.metric for one in task] for task in statistics_of(mean, sets)] == [["13a"]] * 2


def test_each_seed_has_counts_of_the_same_sentences(results):
    results.score("p/small", texts(0.2, seed=5), seed=2)
    (trainings,) = counts_of(cell(results, "bos"), results.sources)
    assert len(trainings) == 2
    assert same_references(trainings)


def test_other_sentences_are_told_apart(results):
    results.score("p/deep", texts(0.2, lines=20))
    other = next(
        one
        for one in KNOWN.cells(table(results.folder))
        if (one.row, one.column) == ("24/24", "bos")
    )
    (first,) = counts_of(cell(results, "bos"), results.sources)
    (second,) = counts_of(other, results.sources)
    assert not same_references([*first, *second])


def test_a_score_without_stored_sentences_has_no_counts(results):
    for path in results.folder.rglob("sentences.fra.tsv.gz"):
        path.unlink()
    assert counts_of(cell(results, "avg"), results.sources) is None
