"""Snakemake looks for jobs when one has ended, unless the user limits jobs by time."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.targets import ROOT

SNAKEFILE = """
import sys
sys.path.insert(0, {lib!r})
from fathom.workflow.scheduling import look_only_when_jobs_end


rule both:
    input: "a", "b"


rule one:
    output: "{{name}}"
    shell: "touch {{output}}"


onstart:
    look_only_when_jobs_end(workflow)
    print("limited" if workflow.scheduler.job_rate_limiter else "free", file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "word"),
    [([], "free"), (["--max-jobs-per-timespan", "50/1s"], "limited")],
)
def test_only_a_limit_that_was_asked_for_stays(tmp_path, options, word):
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(lib=str(ROOT / "lib")))
    snakemake = Path(sys.executable).parent / "snakemake"
    ended = subprocess.run(
        [str(snakemake), "both", "--cores", "1", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert word in ended.stderr.split("\n")
    assert (tmp_path / "a").exists()
    assert (tmp_path / "b").exists()


def test_the_workflow_does_so_at_its_start():
    text = (ROOT / "workflow" / "Snakefile").read_text(encoding="utf-8")
    assert "onstart:\n    scheduling.look_only_when_jobs_end(workflow)\n" in text
