"""A study of ten lines outside the clone: from two text files to a table with p."""

import csv
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.contracts.test_outside_paper import PAPER, ROOT, WORDS

pytestmark = pytest.mark.pipeline

STUDY = ROOT / "tests" / "support" / "study"
# Four trainings of few updates in place of twelve.
SHORT = {"seeds: 3": "seeds: 2", "[1, 3, 10]": "[3]"}
SCALES = """\
scales:
  tiny:
    updates: {m2o_diverse: 12}
    rules:
      - set: {training.schedule: {name: inverse_sqrt, learning_rate: 5.0e-3, warmup: 6}}
"""


@pytest.fixture
def folder(tmp_path):
    """A working folder with the study, its text and nothing else."""
    shutil.copytree(STUDY, tmp_path / "study")
    for kind in ("datasets", "sources"):
        shutil.copytree(PAPER / kind, tmp_path / "study" / kind)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("papers: [study]\n", encoding="utf-8")
    archive = tmp_path / "results" / "sources" / "by_hand" / "harvest.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as text:
        for split, lines in (("train", 240), ("valid", 12), ("test", 12)):
            sentences = [f"{WORDS[i % 10]} {WORDS[i // 10 % 10]} {split}\n" for i in range(lines)]
            for code in ("eo", "en"):
                text.writestr(f"{split}.{code}", "".join(sentences))
    return tmp_path


def run(folder, *words):
    """Return what a command prints that is started in a folder."""
    fathom = "from fathom.cli.main import main; main()"
    program = ["-m", "snakemake", "-s", str(ROOT / "workflow" / "Snakefile")]
    program = ["-c", fathom] if words[0] == "fathom" else program
    done = subprocess.run(
        [sys.executable, *program, *words[1:]],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def test_a_study_of_ten_lines_is_valid_and_plans_its_trainings(folder):
    assert "config/ is valid" in run(folder, "fathom", "--project", str(ROOT), "validate")
    printed = run(folder, "snakemake", "-n", "study")
    assert re.search(r"^train_run +12$", printed, re.MULTILINE), printed


def test_its_table_has_the_difference_and_p_and_no_printed_number(folder):
    path = Path(folder / "study" / "study.yaml")
    text = path.read_text(encoding="utf-8") + SCALES
    for old, new in SHORT.items():
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    run(folder, "snakemake", "study", "--cores", "2")
    results = folder / "results" / "tiny"
    with open(results / "study" / "table1.csv", encoding="utf-8", newline="") as stream:
        lines = {(line["row"], line["column"]): line for line in csv.DictReader(stream)}
    line = lines["λ = 3", "avg"]
    assert all(line[name] for name in ("difference", "low", "high", "p", "p_holm"))
    assert "reported" not in line
    # A metric in a file beside the study.
    line = lines["λ = 3", "verbatim"]
    assert all(line[name] for name in ("value", "difference", "low", "high", "p", "p_holm"))
    html = (results / "study" / "table1.html").read_text(encoding="utf-8")
    assert "paper" not in html.partition("<body>")[2]
    run(folder, "fathom", "--project", str(ROOT), "page", "study")
    page = (results / "study.html").read_text(encoding="utf-8")
    assert "Study" in page
    assert "paper" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.S)
