"""The head of a page."""

from types import SimpleNamespace

from fathom.artefacts.page.cost import Cost
from fathom.artefacts.page.head import head
from tests.support.own_project import own_project


def run(ended, all_of=1, nats=None):
    """Return a run with some of its trainings ended."""
    attempts = [{"end": f"2026-01-0{number + 1}T00:00:00+00:00"} for number in range(ended)]
    trainings = tuple(
        SimpleNamespace(file=SimpleNamespace(attempts=[attempt])) for attempt in attempts
    )
    learned = nats is not None and nats > 0
    return SimpleNamespace(
        ended=trainings, trainings=("",) * all_of, below_unigram=nats, learned=learned
    )


def test_runs_cells_and_claims_are_counted(compare):
    paper = next(iter(own_project().papers.values()))
    runs = {"a": run(1, nats=0.5), "b": run(2, 2, nats=-0.5), "c": run(1, 2, nats=1.5), "d": run(0)}
    answers = [SimpleNamespace(answer="holds", reported_answer="fails")] * 3
    costs = [Cost("x", "cpu", 4, 7200.0, 9, 1.0)]
    top = head(paper, ("half", "half: of all"), {"table1": compare()}, runs, costs, answers)
    assert (top.runs, top.ended, top.trainings, top.hours) == (4, 3, 4, 2.0)
    assert (top.learned, top.nats) == (2, (-0.5, 1.5))
    assert (top.cells, top.judged) == (7, 7)
    assert top.last == "2026-01-02"
    assert top.scale_title == "of all"
    assert [share.count for share in top.claims] == [3]
    assert top.printed_claims[0].sign.words == "fails"


def test_without_results_nothing_is_judged(compare):
    paper = next(iter(own_project().papers.values()))
    tables = {"table1": compare(comparable=False)}
    top = head(paper, ("half", "half"), tables, {"d": run(0)}, [], [])
    assert (top.judged, top.nats, top.last, top.claims) == (0, (), "", ())
