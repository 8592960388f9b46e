"""The frozen answers: no change of code moves an answer, its interval, its lines or a figure."""

import json

import pytest

from tests.contracts.frozen_claims import FROZEN, WORLDS, answers
from tests.contracts.frozen_config import changed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def both():
    return json.loads(FROZEN.read_text(encoding="utf-8")), answers()


def test_the_papers_own_cells_answer_as_they_did(both):
    assert not changed(*(side["printed"] for side in both))


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("part", ["claims", "figures"])
def test_invented_results_answer_and_draw_as_they_did(both, world, part):
    assert not changed(*(side[world][part] for side in both))
