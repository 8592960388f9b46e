"""A metric of one file beside a study, and COMET: scored after all else, shown and tested."""

import json
import re
import shutil
import sys
from statistics import fmean

import pytest

from fathom.io.files import read_lines, sha256, write_lines
from fathom.io.records import read_record, write_record
from fathom.results import measurements
from fathom.results.tree import rows
from tests.house.tree import ROOT
from tests.support import run_files
from tests.support.small_project import GATED, RUN

METRIC = ROOT / "tests" / "support" / "study" / "metrics" / "verbatim.py"
STUDY = """\
title: Exact translations
tables:
  table1:
    against: sample/static_2_2
    columns: [verbatim, avg]
    rows: {Static: sample/static_2_2, Gated: sample/gated_2_2}
"""
# The interface of unbabel-comet: a translation is as good as its length is close to the source's.
COMET = """\
from types import SimpleNamespace

def download_model(name):
    return f"a copy of {name}"

def load_from_checkpoint(path):
    assert path == "a copy of Unbabel/wmt22-comet-da"
    return SimpleNamespace(predict=predict)

def predict(data, batch_size, gpus):
    assert batch_size > 0 and gpus in (0, 1)
    far = [abs(len(each["mt"]) - len(each["src"])) for each in data]
    assert all(each["ref"] for each in data)
    return SimpleNamespace(scores=[1 / (3 + each) for each in far])
"""


@pytest.fixture
def folder(own, summarised):
    """A project with a study and its metric; half of the translations are right."""
    folder = own(summarised)
    (folder / "mine" / "metrics").mkdir(parents=True)
    shutil.copy(METRIC, folder / "mine" / "metrics")
    (folder / "mine" / "study.yaml").write_text(STUDY, encoding="utf-8")
    with open(folder / "config" / "config.yaml", "a", encoding="utf-8") as stream:
        stream.write("papers: [mine]\n")
    (place,) = folder.glob(f"results/runs/*/{RUN}-*/1/decodings/test.plain-*")
    record = read_record(place / "decoding.json")
    for task in ("bos", "kor"):
        (text,) = folder.glob(f"results/corpora/*/{task}/test.eng")
        wrong = read_lines(place / f"{task}.txt")
        write_lines(place / f"{task}.txt", [*read_lines(text)[:2], *wrong[2:]])
        record["files"][f"{task}.txt"] = sha256(place / f"{task}.txt")
    write_record(place / "decoding.json", record)
    return folder


def test_a_metric_beside_a_study_has_a_column_with_interval_and_p(folder, call):
    for run in (RUN, GATED):
        assert call("score", run).code == 0
    assert call("validate").code == 0
    assert call("table", "mine_table1").code == 0
    table = rows(folder / "results/small/mine/table1.csv")
    lines = {(line["row"], line["column"]): line for line in table}
    assert float(lines["Static", "verbatim"]["value"]) == 50
    line = lines["Gated", "verbatim"]
    assert float(line["value"]) == 0
    assert float(line["low"]) <= float(line["difference"]) == -50 <= float(line["high"])
    assert 0 < float(line["p"]) <= 1
    answer = call("test", GATED, RUN, "--metric", "verbatim", "--json")
    (compared,) = json.loads(answer.out)
    assert (compared["difference"], compared["metric"]) == (-50, "verbatim")
    html = (folder / "results/small/mine/table1.html").read_text(encoding="utf-8")
    assert "% verbatim" in html


def test_the_metric_of_the_docs_is_the_one_that_is_tested():
    _, _, code = METRIC.read_text(encoding="utf-8").split('"""')
    # Another name: a reader of the page may have the page's metric in the clone.
    code = code.replace("verbatim", "exact").replace("Verbatim", "Exact")
    assert code.strip() in (ROOT / "docs" / "adding_a_metric.md").read_text(encoding="utf-8")


def test_a_metric_is_scored_by_name_and_leaves_other_files_as_they_are(folder, call):
    paths = [path for path in folder.glob("results/runs/**/*") if path.is_file()]
    before = {path: path.read_bytes() for path in paths}
    assert call("score", RUN, "--metric", "chrfpp").code == 0
    assert {path: path.read_bytes() for path in before} == before
    new = {path.name.partition("-")[0] for path in folder.glob("results/runs/**/*.json")}
    assert "chrfpp.test.plain" in new
    assert "verbatim.test.plain" not in new


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"verbatim", "%', '"verbose", "%', "METRIC is not a metric with the name 'verbatim'"),
        ("METRIC = ", "WRONG = ", "METRIC is not a metric with the name 'verbatim'"),
        (
            "import numpy as np",
            "import numpi as np",
            "ModuleNotFoundError: No module named 'numpi'",
        ),
        (", int)", ")[:1]", "metric verbatim: `count` returned int64 (1, 2); return int64 (4, 2)"),
        (", int)", ", float)", "metric verbatim: `count` returned float64 (4, 2); return int64"),
    ],
)
def test_a_wrong_file_of_a_metric_is_refused_with_what_to_correct(folder, call, old, new, message):
    path = folder / "mine" / "metrics" / "verbatim.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert message in call("score", RUN, "--metric", "verbatim").one_line


def documented(words):
    """Return the block of docs/adding_a_metric.md that has these words."""
    page = (ROOT / "docs" / "adding_a_metric.md").read_text(encoding="utf-8")
    (block,) = (block for block in page.split("```") if words in block)
    return block.partition("\n")[2]


@pytest.fixture
def with_comet(folder):
    """The project with COMET as the page adds it: the file, its two entries, and a table."""
    code = documented("class Comet(Metric)")
    (folder / "mine" / "metrics" / "comet.py").write_text(code, encoding="utf-8")
    (folder / "mine" / "study.yaml").write_text(STUDY.replace("verbatim, avg", "comet"))
    path = folder / "config" / "columns.yaml"
    text = path.read_text(encoding="utf-8")
    _, measurement, column = re.split(
        r"(?m)^measurements:\n|^columns:\n", documented("comet.test}")
    )
    for section, entry in (("measurements:\n", measurement), ("columns:\n", column)):
        text = text.replace(section, section + entry, 1)
    path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A package with the interface of unbabel-comet."""
    packages = tmp_path / "packages"
    about = packages / "unbabel_comet-2.2.7.dist-info" / "METADATA"
    code = packages / "comet" / "__init__.py"
    for path in (about, code):
        path.parent.mkdir(parents=True)
    code.write_text(COMET, encoding="utf-8")
    about.write_text("Metadata-Version: 2.1\nName: unbabel-comet\nVersion: 2.2.7\n")
    monkeypatch.syspath_prepend(packages)
    yield
    sys.modules.pop("comet", None)


def test_without_its_package_comet_says_how_to_install_it(with_comet, call):
    line = call("score", RUN, "--metric", "comet").one_line
    assert "no package 'comet'; install it as docs/adding_a_metric.md says" in line


def test_comet_as_the_docs_add_it_scores_a_cell_of_a_table(with_comet, call, stand_in):
    assert call("validate").code == 0
    for run in (RUN, GATED):
        assert call("score", run, "--metric", "comet").code == 0
    (place,) = with_comet.glob(f"results/runs/*/{RUN}-*/1/decodings/test.plain-*")
    (path,) = place.parents[1].glob("measurements/comet.test.plain-*.json")
    record = measurements.read(path).measurements["comet.test.plain"]
    assert record.how.startswith("model:Unbabel/wmt22-comet-da|version:2.2.7|file:")
    for line in run_files.scores(place / "comet" / "scores.tsv"):
        (source,) = with_comet.glob(f"results/corpora/*/{line.task}/test.{line.task}")
        pairs = zip(read_lines(source), read_lines(place / f"{line.task}.txt"), strict=True)
        scores = [round(1e6 / (3 + abs(len(mt) - len(src)))) for src, mt in pairs]
        assert float(line.value) == pytest.approx(sum(scores) / len(scores) / 1e4, abs=1e-6)
        assert float(line.low) <= float(line.value) <= float(line.high)
        assert record.tasks[line.task].value == float(line.value)
    assert call("table", "mine_table1").code == 0
    cells = {line["row"]: line for line in rows(with_comet / "results/small/mine/table1.csv")}
    mean = fmean(each.value for each in record.tasks.values())
    assert float(cells["Static"]["value"]) == pytest.approx(mean)
    assert 0 < float(cells["Gated"]["p"]) <= 1
    assert "COMET" in (with_comet / "results/small/mine/table1.md").read_text(encoding="utf-8")
