"""`fathom clean`: nothing goes without a kind and --yes."""

import json
import shutil

import pytest

from fathom.results.clean import KINDS
from tests.support.refused import says
from tests.support.small_project import RUN


@pytest.mark.slow
def test_it_lists_first_and_deletes_what_is_named(own, trained, call):
    folder = own(trained)
    (last,) = folder.glob("results/runs/sample/*/1/checkpoints/last.pt")
    state = shutil.copy(last, last.with_name("before_last.pt"))
    assert call("clean").code == 0
    (line,) = call("clean", "states").lines
    assert state.name in line
    assert state.exists()
    assert call("clean", "states", "--yes").code == 0
    assert not state.exists()
    # Nothing that counts has gone.
    assert call("verify").code == 0
    assert call("translate", RUN).code == 0


@pytest.mark.slow
def test_what_can_be_deleted_is_json_too(own, trained, call):
    own(trained)
    answer = call("clean", "--json")
    kinds = json.loads(answer.out)
    assert [*kinds] == [*KINDS]
    assert all(item["bytes"] > 0 for items in kinds.values() for item in items)


def test_a_kind_must_be_named_to_delete(project, call):
    says("no kind").check(call("clean", "--yes").one_line)
    says("unknown", "kind", "state", nearest="states").check(call("clean", "state").one_line)


def test_a_mistake_in_config_is_refused_since_it_hides_runs(project, edit, call):
    edit("papers/sample/runs.yaml", "label_smoothing", "label_smothing")
    answer = call("clean", "unused", "--yes")
    assert answer.code == 1
    assert "label_smothing" in answer.err
