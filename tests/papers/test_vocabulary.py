"""config/columns.yaml names what is measured, and columns whose values exist."""

from pathlib import Path

import pytest

from fathom.config.schema.columns import Tolerance, load
from fathom.config.vocabulary import QUALIFIERS_OF, parse
from fathom.config.yaml_values import read
from fathom.io.errors import Findings
from tests.support.refused import says

FILE = "config/columns.yaml"


@pytest.fixture
def vocabulary():
    root = Path(__file__).parents[2]
    return load(read(root / FILE, root))


def test_every_measurement_is_made_by_a_rule(vocabulary):
    assert set(vocabulary.measurements) <= set(QUALIFIERS_OF)


def test_every_column_has_a_value_that_is_measured(vocabulary):
    for column in vocabulary.columns.values():
        assert column.value is None or parse(column.value, vocabulary.measurements)


def test_a_column_without_an_entry_has_its_id_as_title(vocabulary):
    assert vocabulary.title("avg") == "Avg."
    assert vocabulary.title("bos") == "bos"


def test_a_task_has_a_tolerance_of_its_own(vocabulary):
    bleu = vocabulary.measurements["bleu"]
    assert bleu.tolerance(None) == Tolerance(absolute=0.5)
    assert bleu.tolerance("bos") == Tolerance(at_least=0.4)
    assert vocabulary.measurements["nll"].tolerance("bos") == Tolerance(relative=0.01)
    assert vocabulary.measurements["pairs"].tolerance(None) == Tolerance(absolute=0.0)
    assert vocabulary.measurements["chrf"].tolerance(None) is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "  chrf:",
            "  chfr:",
            says(
                "nothing measures",
                "chfr",
                where="columns.yaml:14: measurements.chfr",
                nearest="chrf",
            ),
        ),
        (
            "within: 1%",
            "within: 1 %",
            says(
                "tolerance",
                "1 %",
                where="nll.within",
                remedy="0.5, 1% of the reported value, or 0.4 or the interval",
            ),
        ),
        (
            "of: network",
            "of: net",
            says("not possible", "net", where="parameters.of", nearest="network"),
        ),
        (
            "value: nll.valid",
            "value: nll.vaild",
            says("qualifier", "nll", "vaild", where="nll_valid.value", nearest="valid"),
        ),
        (
            "title: Avg.}",
            "titel: Avg.}",
            says("unknown key", "titel", where="columns.avg.titel", nearest="title"),
        ),
    ],
)
def test_a_fault_is_found_with_its_line(project, edit, old, new, message):
    edit(FILE, old, new)
    with pytest.raises(Findings) as raised:
        load(read(project / FILE, project))
    message.check(raised.value)
