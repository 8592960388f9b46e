"""config/columns.yaml names what is measured, and columns whose values exist."""

from pathlib import Path

import pytest

from fathom.config.yaml_files import read
from fathom.errors import Findings
from fathom.papers.values import QUALIFIERS_OF, parse
from fathom.papers.vocabulary import Tolerance, load

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
        ("  chrf:", "  chfr:", "columns.yaml:14: measurements.chfr: nothing measures 'chfr'; near"),
        ("within: 1%", "within: 1 %", "nll.within: '1 %' is no tolerance; write 0.5, 1% of the"),
        ("of: network", "of: net", "parameters.of: 'net' is not possible here; nearest valid nam"),
        ("value: nll.valid", "value: nll.vaild", "nll_valid.value: nll has no 'vaild'; nearest"),
        ("title: Avg.}", "titel: Avg.}", "columns.avg.titel: unknown key 'titel'; nearest valid"),
    ],
)
def test_a_fault_is_found_with_its_line(project, edit, old, new, message):
    edit(FILE, old, new)
    with pytest.raises(Findings) as raised:
        load(read(project / FILE, project))
    assert message in str(raised.value)
