"""Snakemake's own executor for Slurm, the fallback of docs/cluster.md: real Slurm, one row."""

import re

import pytest

from tests.slurm.conftest import ROOT, ROW, TARGET

pytestmark = pytest.mark.slurm
PACKAGES = ".venv-slurm_official/lib/python3*/site-packages"
DOCS = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
SECTION = DOCS.partition("## With the official executor\n")[2].partition("\n## ")[0]
OPTIONS = re.search(r"snakemake --profile slurm (--executor slurm .*?) latent", SECTION)[1].split()
# In place of a minute before the first look at a job; and the lines of jobs that ended well.
QUICK = ("--slurm-init-seconds-before-status-checks", "3", "--slurm-keep-successful-logs")


@pytest.fixture
def srun(case):
    """The script of the docs: Slurm's settings are outside of /etc, as on some clusters."""
    [script] = re.findall(r"srun <<'END'\n(.*?)^    END$", SECTION, re.M | re.S)
    text = re.sub("^    ", "", script, flags=re.M)
    path = case.folder / "bin" / "srun"
    path.parent.mkdir()
    conf = case.cluster.environment["SLURM_CONF"]
    path.write_text(text.replace("/path/of/slurm.conf", conf))
    path.chmod(0o755)
    case.variables["PATH"] = f"{path.parent}:{case.cluster.environment['PATH']}"


def test_the_row_of_a_table_is_made_by_the_official_executor(case, srun):
    packages = [*ROOT.glob(PACKAGES)]
    assert packages, "the official executor is not installed: make test-slurm"
    case.variables["PYTHONPATH"] = f"{packages[0]}:{case.environment['PYTHONPATH']}"
    head = case.start(TARGET, *OPTIONS, *QUICK, *ROW)
    case.end(head)
    assert case.attempts()[-1] == "to 60 finished"
    # The jobs that our own executor submits, too; what computes in the start stays there.
    logs = case.folder / ".snakemake" / "slurm_logs"
    submitted = {path.name for path in logs.iterdir()}
    assert submitted == {"rule_train_run", "rule_translate_run", "rule_measure_likelihood"}
    assert not (case.folder / "results" / "cluster" / "ended").exists()
