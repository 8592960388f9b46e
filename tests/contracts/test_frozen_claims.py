"""The frozen answers: no change of code moves an answer, its interval, its lines or a figure."""

import pytest

from tests.contracts import frozen_config
from tests.contracts.frozen_claims import WORLDS, answers, frozen
from tests.contracts.frozen_config import changed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def both():
    return frozen(), answers(frozen_config.frozen())


def test_the_papers_own_cells_answer_as_they_did(both):
    assert not changed(*(side["printed"] for side in both))


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("part", ["claims", "figures"])
def test_invented_results_answer_and_draw_as_they_did(both, world, part):
    assert not changed(*(side[world][part] for side in both))
