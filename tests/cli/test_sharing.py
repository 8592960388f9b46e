"""`fathom sharing`: how much of the network two tasks share."""

from fathom.results import measurements
from tests.support.refused import says
from tests.support.small_project import RUN

GROUPS = "  groups: {like: base, method: {name: group_dropout, groups: 4, active: 3}}  # §3\n"


def test_similarity_and_sharing_are_measured(own, encoded, call):
    folder = own(encoded)
    runs = folder / "config" / "papers" / "sample" / "runs.yaml"
    runs.write_text(runs.read_text(encoding="utf-8") + GROUPS, encoding="utf-8")
    assert call("train", "groups").code == 0
    answer = call("sharing", "groups")
    assert (answer.code, answer.out) == (0, "")
    (path,) = folder.glob("results/runs/*/*/1/measurements/sharing.json")
    found = measurements.read(path).measurements
    assert found["similarity"].values[0][0] == 1.0
    # Two masks of three of four groups have two in common at least.
    assert 2 / 3 <= found["sharing"].all.value <= 1


def test_a_run_without_masks_is_refused(trained, call, monkeypatch):
    monkeypatch.chdir(trained)
    says("no masks").check(call("sharing", RUN).one_line)
