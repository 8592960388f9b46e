"""Verdicts on printed parameter counts.

The counts themselves are in tests/contracts.
"""

import pytest

from fathom.artefacts.parameters import PrintedCount, untrained_size
from fathom.config.paths import Paths
from fathom.config.reported import Reported
from fathom.io.records import write_record
from tests.support.specs import small_spec


def printed(value, right="", reason=""):
    cell = Reported("row", "params", value, "", "", right, "", "here:1")
    return PrintedCount("paper", "table1", cell, small_spec(), None, 10, 10, reason)


@pytest.mark.parametrize(
    ("count", "ours", "verdict"),
    [
        (printed("100"), 100_900_000, "agrees"),
        (printed("100"), 101_100_000, "differs"),
        (printed("13"), 12_743_000, "agrees"),
        (printed("0"), 1_200, "agrees"),
        (printed("224", right="287"), 287_300_000, "misprint"),
        (printed("224", right="290"), 287_300_000, "misprint"),
        (printed("224", right="300"), 287_300_000, "differs"),
        (printed("120", reason="known"), 112_000_000, "unexplained"),
    ],
)
def test_a_count_agrees_within_one_percent_or_to_the_printed_digits(count, ours, verdict):
    assert count.verdict(ours) == verdict


def test_the_difference_is_a_share_of_the_printed_number():
    assert printed("100").difference(110_000_000) == pytest.approx(0.1)
    assert printed("0").difference(5) is None
    assert printed("100", reason="x").difference(100_000_000) == 0


def test_a_size_is_known_from_the_encoded_text_or_with_the_papers_own_settings(
    own_project, tmp_path
):
    run = "latent_depth/masked_lm_24"
    paper, tiny = (Paths(tmp_path, scale) for scale in ("paper", "tiny"))
    assert untrained_size(own_project, paper, run) == pytest.approx(202e6, rel=0.01)
    assert untrained_size(own_project, tiny, run) is None
    sizes = []
    for entries in (1000, 1001):
        record = tiny.tensors(own_project.spec(run, "tiny").data) / "tensors.json"
        write_record(record, {"dictionaries": {"source": entries}})
        sizes.append(untrained_size(own_project, tiny, run))
    assert sizes[1] - sizes[0] > own_project.spec(run, "tiny").model.width
