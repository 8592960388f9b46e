"""`snakemake --logger fathom`: what a start prints, with a stand-in for the trainer."""

import json
import sys

import pytest

from fathom.config.load import load, open_paths
from fathom.workflow.targets import Targets
from tests.pipeline.conftest import copy_of_the_project
from tests.support import stand_in

TABLE = "latent_depth_table5"


@pytest.fixture(scope="module")
def starts(tmp_path_factory):
    """What two starts print: the first has a training that fails, the second makes the rest."""
    project = copy_of_the_project(tmp_path_factory.mktemp("logger"))
    loaded = load(project.folder, check=False)
    paths = open_paths(loaded, "tiny", "results")
    files = stand_in.outputs(Targets(loaded, "tiny", paths), TABLE)
    failing = next(call for call in files if call.startswith("train latent_depth/m2o_diverse_6_6"))
    stand_in.install(project.folder, sys.executable, files)
    calls = project.folder / ".venv" / "bin" / "files.json"
    calls.write_text(json.dumps({call: made for call, made in files.items() if call != failing}))
    words = ("snakemake", TABLE, "--cores", "2", "--logger", "fathom")
    failed = project.run(*words, code=1)
    calls.write_text(json.dumps(files))
    return failed, project.run(*words), project.run(*words, "-n")


def test_a_start_prints_a_line_for_each_training_and_less_than_60_in_all(starts):
    for printed in starts:
        lines = printed.split("\n")
        assert len(lines) < 60
        assert [line for line in lines if len(line) > 200] == []
    assert "[ 10 of 11] " in starts[0]
    assert "[  1 of 1] latent_depth/m2o_diverse_6_6: ended" in starts[1]
    assert "steps done" in starts[1]
    assert "Nothing to be done" in starts[2]


def test_a_job_that_fails_is_printed_with_its_log_and_how_to_go_on(starts):
    failed = starts[0]
    assert failed.count("FAILED train_run latent_depth/m2o_diverse_6_6") == 1
    assert "the last lines of results/logs/train_run/latent_depth/m2o_diverse_6_6" in failed
    assert "    KeyError: 'train latent_depth/m2o_diverse_6_6" in failed  # of the stand-in
    assert f"Again: snakemake {TABLE} --cores 2 --logger fathom" in failed
