"""What Slurm is asked for by each command line that docs/cluster.md names."""

import json
import re

import pytest

from fathom.config import demand
from fathom.config.load import load
from tests.slurm.conftest import ROOT, ROW, RUN, TARGET

pytestmark = pytest.mark.slurm
DOCS = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
# The lines of options in blocks of code, without their comments.
LINES = re.findall(r"^    (--.*?)(?: +#.*)?$", DOCS, re.MULTILINE)
# What a training asks for, but for its memory.
USUAL = {
    "TresPerNode": "gres:gpu:1",
    "NumNodes": "1",
    "NumCPUs": "4",
    "TimeLimit": "00:31:00",
    "Partition": "main",
    "Requeue": "1",
    "Dependency": "(null)",
}
# What each line changes, by its beginning.
CHANGES = {
    "": {},
    "--set-resources train_run:runtime=240": {"TimeLimit": "04:00:00"},
    "--set-resources train_run:gres=": {"TresPerNode": "gres:gpu:h200:2", "NumCPUs": "8"},
    "--set-resources train_run:gpu=4": {
        "TresPerNode": "gres:gpu:2",
        "NumNodes": "2",
        "NumCPUs": "16",
    },
    "--set-resources train_run:mem_mb=6000": {"MinMemoryNode": "6000M"},
    "--set-resources train_run:partition=main,long": {"Partition": "main,long"},
    "--set-resources train_run:extra=--nice=5": {"Nice": "5"},
    "--default-resources partition=long": {"Partition": "long"},
    "--slurm-attach-gpu-partition long": {"Partition": "long", "TresPerNode": "gres:gpu:h200:1"},
    "--slurm-attach-extra=--comment=mine": {"Comment": "mine"},
}


@pytest.fixture(scope="module", autouse=True)
def drained(cluster):
    """Nodes that start nothing: a job that runs no longer names all of its partitions."""
    cluster.call("scontrol", "update", "nodename=n1,n2", "state=drain", "reason=test")
    yield
    cluster.call("scontrol", "update", "nodename=n1,n2", "state=resume")


def test_each_line_of_the_docs_has_its_expectation():
    assert len(LINES) == len(CHANGES) - 1
    assert all(any(line.startswith(key) for key in CHANGES if key) for line in LINES)


@pytest.mark.parametrize("line", ["", *LINES])
def test_a_job_asks_for_what_the_docs_say_and_for_all_else_as_usual(case, line):
    """An option for the time of a training took its GPU away."""
    given = ("--config", *(word for word in ROW if word != "--config"))
    head = case.start(TARGET, "--until", "train_run", *line.split(), *given)
    case.wait(lambda: "submitted as job" in case.printed(), "submitted")
    [number] = re.findall(r"submitted as job (\d+)", case.printed())
    said = case.cluster.call("scontrol", "--oneliner", "show", "job", number)
    case.kill(head)
    fields = dict(re.findall(r"(\w+)=(\S+)", said.replace("gres/", "gres:")))
    # From 2 to 2.
    fields["NumNodes"] = fields["NumNodes"].partition("-")[0]
    [changes] = [CHANGES[key] for key in CHANGES if (line.startswith(key) if key else not line)]
    memory = demand.memory_of_run(load(case.folder, check=False).spec(RUN, "tiny"))
    # A node's second process has its own.
    more = 4000 * (changes.get("TresPerNode", "1")[-1] == "2")
    expected = USUAL | {"MinMemoryNode": f"{memory + more}M"} | changes
    assert {key: fields.get(key) for key in expected} == expected
    name = fields["JobName"]
    assert name.startswith("sa-train_run-m2o_diverse_6_6-")
    request = json.loads((case.folder / "results" / "cluster" / name / "request.json").read_text())
    assert request["resumes"] == str(case.run / "checkpoints" / "last.pt")
