"""`fathom status`: counts of what exists."""

import json

import pytest

from fathom.cluster.jobs import Folder
from fathom.io.files import write_json
from tests.cli.conftest import invoke
from tests.support.small_project import GATED, RUN


def test_before_anything_is_made_nothing_has_started(project, call):
    answer = call("status")
    assert answer.code == 0
    first, cells = answer.lines
    assert first == "sample: 0 of 1 tables, 0 of 1 figures, 2 runs (2 not started)"
    assert cells.startswith("cells: ")
    assert not (project / "results").exists()


def test_a_job_that_will_not_start_is_printed_with_what_frees_it(project, call):
    folder = Folder(project / "results" / "cluster" / "x")
    write_json(folder.path / "job.json", {"now": "7", "rule": "train_run", "label": "a.1"})
    folder.note({"number": "7", "name": "PENDING", "reason": "held", "cure": "scontrol release 7"})
    assert any("scontrol release 7" in line for line in call("status").lines)
    assert "scontrol release 7" in json.loads(call("status", "--json").out)["jobs"][0]


@pytest.mark.slow
def test_it_counts_what_is_drawn_trained_and_compared(own, summarised, call):
    folder = own(summarised)
    invoke(folder, ("table", "sample_table1"), ("compare",))
    (attempts,) = (folder / "results/runs/sample").glob(f"{GATED}-*/1/attempts.json")
    (attempts.parent / "training.json").unlink()
    static, gated, summary, cells = call("status", "--runs").lines
    assert static == f"sample/{RUN}  finished"
    assert gated == f"sample/{GATED}  started at update 4 of 4"
    assert summary == ("sample: 1 of 1 tables, 0 of 1 figures, 2 runs (1 finished, 1 started)")
    assert "not run" not in cells
    content = json.loads(call("status", "--json").out)
    states = content["papers"]["sample"]["runs"]
    assert states[f"sample/{RUN}"]["state"] == "finished"
    assert states[f"sample/{GATED}"] == {"state": "started", "update": 4, "of": 4}
    assert sum(content["cells"].values()) > 0
