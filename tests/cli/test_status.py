"""`fathom status`: counts of what exists."""

import json
import os
import time

import pytest

from fathom.cli.options import open_project
from fathom.cluster.jobs import Folder
from fathom.config.paths import Paths
from fathom.io.files import write_json, write_lines
from fathom.io.holders import Holder, write_holder
from fathom.io.locks import HOLDER
from fathom.results.run_state import State, write_state
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


def test_a_failed_training_is_printed_with_its_last_lines(project, call):
    text = call("status", "--runs").lines[0].split()[0]
    spec = open_project().spec(text, "small")
    folder = Paths(project / "results", "small").run(spec, 1)
    given = {"attempt": 1, "host": "x", "pid": 1, "job": None, "reason": "this is why"}
    write_state(folder, State(state="failed", update=2, updates=4, **given))
    write_lines(folder / "train.log", ["first", "last"])
    lines = call("status").lines
    assert lines[0].startswith(f"{text}  failed, update 2 of 4: this is why; its lines: ")
    assert lines[1:3] == ["    first", "    last"]
    fields = json.loads(call("status", "--json").out)["papers"]["sample"]["runs"][text]
    assert (fields["reason"], fields["last_lines"]) == ("this is why", ["first", "last"])


def test_a_process_that_lives_without_a_heartbeat_is_seen(project, call):
    spec = open_project().spec(f"sample/{RUN}", "small")
    lock = Paths(project / "results", "small").run(spec, 1) / HOLDER
    lock.parent.mkdir(parents=True)
    write_holder(lock, Holder.here(), new=True)
    assert "no sign of life" not in call("status").lines[0]
    then = time.time() - 600
    os.utime(lock, (then, then))
    assert call("status").lines[0].endswith("running, no sign of life for 10 min")


@pytest.mark.slow
def test_it_counts_what_is_drawn_trained_and_compared(own, summarised, call):
    folder = own(summarised)
    invoke(folder, ("table", "sample_table1"), ("compare",))
    (attempts,) = (folder / "results/runs/sample").glob(f"{GATED}-*/1/attempts.json")
    (attempts.parent / "training.json").unlink()
    write_holder(attempts.parent / HOLDER, Holder.here(), new=True)
    static, gated, summary, cells = call("status", "--runs").lines
    assert static == f"sample/{RUN}  finished"
    assert gated.startswith(f"sample/{GATED}  running at update 4 of 4, NLL ")
    assert gated.endswith(" tokens/s, 0 s left")
    assert summary == ("sample: 1 of 1 tables, 0 of 1 figures, 2 runs (1 finished, 1 running)")
    assert "not run" not in cells
    assert call("status").lines == [gated, summary, cells]
    content = json.loads(call("status", "--json").out)
    states = content["papers"]["sample"]["runs"]
    assert states[f"sample/{RUN}"]["state"] == "finished"
    gated = states[f"sample/{GATED}"]
    assert (gated["state"], gated["update"], gated["of"]) == ("running", 4, 4)
    assert gated["nll"] > 0
    assert gated["tokens_per_second"] > 0
    assert gated["process"] == str(Holder.here())
    assert sum(content["cells"].values()) > 0
