"""A paper outside the clone, unlike the others: own text, one pair, chrF, counts, a claim."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fathom.artefacts.needs import Needs
from fathom.artefacts.parameters import printed_counts
from fathom.config.load import load
from fathom.config.switches import VARIABLE
from fathom.config.yaml_values import from_plain
from fathom.io.errors import Findings
from tests.contracts.test_fourth_paper import identities
from tests.support.refused import refused

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "tests" / "support" / "outside_paper"
WORDS = ("suno", "pano", "akvo", "vento", "kampo", "nokto", "tago", "mano", "pordo", "arbo")


def with_papers(*folders):
    return load(ROOT, layers=[from_plain({"papers": [str(each) for each in folders]}, "--config")])


@pytest.fixture(scope="module")
def grown():
    return with_papers(PAPER)


def test_its_runs_are_among_the_others_and_no_other_run_has_another_identity(grown):
    assert {run for run in grown.entries if run.startswith("outside_paper/")} == {
        "outside_paper/plain",
        "outside_paper/rezero",
    }
    before, after = identities(load(ROOT, check=False)), identities(grown)
    assert {key: after[key] for key in before} == before


def test_its_scale_has_its_updates_and_rules(grown):
    plain, rezero = (grown.spec(f"outside_paper/{run}", "tiny") for run in ("plain", "rezero"))
    assert plain.training.updates == 20
    assert (plain.model.dropout, rezero.model.dropout) == (0.1, 0.0)
    assert plain.data.subwords.joint == 60


def test_its_table_of_chrf_its_counts_and_its_claim_are_built(grown):
    demands = Needs(grown, "tiny")
    for name in ("outside_paper_table1", "outside_paper_table2"):
        assert demands.not_built(demands.artefacts[name]) == ""
    cells = grown.cells(grown.papers["outside_paper"].tables["table1"])
    assert {cell.value.measurement for cell in cells if cell.value} == {"chrf"}
    assert [*grown.claims["outside_paper"]] == ["rezero_sings_better"]
    assert "same seed" in grown.claims["outside_paper"]["rezero_sings_better"].note


def test_a_paper_whose_name_is_taken_is_one_finding(tmp_path):
    (tmp_path / "lamgd").mkdir()
    with refused("the name 'lamgd' is taken by", error=Findings):
        with_papers(tmp_path / "lamgd")


def test_a_count_of_a_borrowed_run_has_the_sizes_of_the_runs_paper(tmp_path):
    copy = shutil.copytree(PAPER, tmp_path / PAPER.name)
    with open(copy / "tables.yaml", "a", encoding="utf-8") as stream:
        stream.write("table3: {title: A count, section: §2, columns: [params],\n")
        stream.write("         rows: {Deep: latent_depth/en_de_dlcl_36_36}}\n")
    (copy / "reported" / "table3.csv").write_text(
        "row,column,value,stderr,mark,right,note\nDeep,params,224,,,,\n", encoding="utf-8"
    )
    missing = []
    counts = {
        (count.source_entries, count.target_entries)
        for count in printed_counts(with_papers(copy), missing)
        if count.spec.name == "latent_depth/en_de_dlcl_36_36"
    }
    assert (counts, missing) == ({(34_040, 34_040)}, [])


def test_a_mistake_in_it_is_named_with_its_whole_path(tmp_path):
    copy = tmp_path / PAPER.name
    for path in PAPER.rglob("*.*"):
        (copy / path.relative_to(PAPER)).parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8").replace("label_smoothing", "label_smothing")
        (copy / path.relative_to(PAPER)).write_text(text, encoding="utf-8")
    where = f"{copy}/runs.yaml:11: families.base.training.label_smothing"
    with refused("unknown key 'label_smothing'", where=where, error=Findings):
        with_papers(copy)


@pytest.mark.slow
def test_commands_and_the_workflow_know_it_from_another_folder(tmp_path):
    folder = tmp_path / "results" / "sources" / "by_hand"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "harvest.zip", "w") as archive:
        for split, lines in (("train", 240), ("valid", 12), ("test", 12)):
            text = [f"{WORDS[i % 10]} {WORDS[i // 10 % 10]} {split}\n" for i in range(lines)]
            for code in ("eo", "en"):
                archive.writestr(f"{split}.{code}", "".join(text))
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text(f"papers: [{PAPER}]\n", encoding="utf-8")
    snakemake = [sys.executable, "-m", "snakemake", "-s", ROOT / "workflow" / "Snakefile", "-n"]
    done = subprocess.run(
        [*snakemake, "outside_paper"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "outside_paper: 0 of 2 trainings found, 2 to train" in done.stderr
    listed = subprocess.run(
        [sys.executable, "-c", "from fathom.cli.main import main; main()", "list", "artefacts"],
        cwd=ROOT,
        env=os.environ | {VARIABLE: json.dumps({"papers": [str(PAPER)]})},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "outside_paper_table1" in listed.stdout
