"""The method of docs/adding_a_method.md in a folder outside the clone, and in a package."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fathom.artefacts.table.sources import ResultSource
from fathom.cli.verbs import PROJECT_VARIABLE
from fathom.config import plugins
from fathom.config.load import load
from fathom.config.measurement_keys import METRICS, rule_of
from fathom.config.rules import require_plain_gates
from fathom.config.yaml_values import from_plain
from fathom.decode.contracts import check
from fathom.io.errors import Findings
from fathom.io.files import read_json, read_lines, sha256
from fathom.io.records import read_record, write_record
from fathom.results.training_record import stale_code
from fathom.scoring.contracts import check_metric
from fathom.scoring.metrics import named
from tests.cli.conftest import call
from tests.config.conftest import PROJECT
from tests.support.refused import refused, says
from tests.support.small_runs import encoded, specification, train_run
from tests.support.specs import ROOT

__all__ = ["call"]

# Another name: a reader of the page may have the page's method in the clone.
NAME = "branches_by_chance"
STUDY = """\
title: Fewer layers
data: {dataset: pair, subwords: {algorithm: bpe, joint: 50}}
runs:
  flat: {like: deep/static}
  skipped: {like: deep/static, method: {name: branches_by_chance, p: 0.3}}
tables:
  table1: {against: flat, columns: [params, avg], rows: {all: flat, fewer: skipped}}
"""
METRIC = "METRIC = 'verbatim'\n"
READER = """\
from typing import Literal

from fathom.config.schema.dataset import ParallelDataset
from fathom.data.readers import parallel


class LinesDataset(ParallelDataset):
    format: Literal["lines"]


def read(files, dataset):
    return parallel.read(files, dataset)
"""
VERBATIM = (ROOT / "tests" / "support" / "study" / "metrics" / "verbatim.py").read_text(
    encoding="utf-8"
)


def documented(start: str, page: str = "adding_a_method.md") -> str:
    """Return a code block of a page."""
    page = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (block,) = (block for block in page.split("```") if block.startswith(start))
    return block.partition("\n")[2]


CODE, CARD = documented('python\n"""Stochastic depth'), documented("yaml\ntitle: Stochastic depth")


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """No test finds a plugin of another one."""
    monkeypatch.setattr(plugins, "_registered", {})


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def mine(tmp_path):
    """A study with the method, which shares code with a module of the folder."""
    folder = tmp_path / "mine"
    code = CODE.replace("1 - self.p\n", "kept(self.p)\n").replace(
        "import Method, Stack, generator\n",
        "import Method, Stack, generator\n\nfrom ..shared import kept\n",
    )
    files = {f"methods/{NAME}.py": code, f"methods/{NAME}.yaml": CARD, "study.yaml": STUDY}
    write(folder, files | {"shared.py": "def kept(p):\n    return 1 - p\n"})
    return folder


def project_with(*folders: Path, check: bool = False):
    layer = from_plain({"papers": [str(folder) for folder in folders]}, "--config")
    return load(PROJECT, check, [layer])


def test_a_method_beside_a_study_is_valid_and_nothing_is_imported_before_it_is_used(mine):
    before = {*sys.modules}
    project = project_with(mine, check=True)
    assert project.spec("mine/skipped").method.settings == {"p": 0.3}
    assert not [name for name in {*sys.modules} - before if "fathom_plugins" in name]
    assert plugins.load("methods", NAME).__name__ == f"fathom_plugins.mine.methods.{NAME}"


def test_it_keeps_its_contracts_and_is_not_exported(mine):
    card = project_with(mine).methods[NAME]
    assert check(card) == {}
    with refused(f"the method {NAME} with plain gates"):
        require_plain_gates(card, "plain", "mine/skipped")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "file", "old", "new", "contract"),
    [
        ("adding_a_method.md", f"methods/{NAME}.py", "generator=stream, ", "", "draws"),
        ("adding_a_metric.md", "metrics/verbatim.py", '"higher"', '"lower"', "best"),
    ],
)
def test_the_printed_test_of_a_plugin_passes_and_says_what_is_broken(
    mine, monkeypatch, page, file, old, new, contract
):
    monkeypatch.chdir(mine.parent)
    monkeypatch.setenv(PROJECT_VARIABLE, str(PROJECT))
    write(mine, {"metrics/verbatim.py": VERBATIM})
    tests = {"config/config.yaml": "papers: [mine]\n"}
    printed = documented("python\nfrom pathlib import Path", page)
    # The page's names may be those of a method and a metric that somebody has added to the clone.
    renamed = printed.replace("stochastic_depth", NAME).replace("exact", "verbatim")
    tests["mine/test_mine.py"] = renamed
    write(mine.parent, tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "mine/test_mine.py"]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (first.returncode, "1 passed" in first.stdout) == (0, True), first.stdout
    code = mine / file
    code.write_text(code.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (second.returncode, f"'{contract}': [" in second.stdout) == (1, True), second.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "contract", "words"),
    [
        (
            "torch.lerp(x, y, weight)",
            "x + weight * (y - x)",
            "neutral",
            "training: a logit differs by up to",
        ),
        ("generator=stream, ", "", "draws", "the loss differs by up to"),
        ("def block(", "def blok(", "hooks", "no hook 'blok'; nearest valid name: 'block'"),
        ("kept(self.p)", "kept(self.q)", "batches", "has no attribute 'q' (branches_by_chance.py:"),
    ],
    ids=["rounded", "drawn_anywhere", "misspelt", "fails"],
)
def test_a_wrong_method_breaks_a_contract_that_says_why(mine, old, new, contract, words):
    code = mine / "methods" / f"{NAME}.py"
    text = code.read_text(encoding="utf-8")
    assert old in text
    code.write_text(text.replace(old, new), encoding="utf-8")
    broken = check(project_with(mine).methods[NAME])
    assert words in " ".join(broken[contract])
    assert [*broken] == [contract] or contract == "batches"


@pytest.mark.parametrize("name", METRICS)
def test_each_metric_of_fathom_keeps_the_contracts(name):
    for metric in named(name).variants("eng", ("moses",)):
        assert check_metric(metric) == {}


COUNTED = "[hypothesis == reference, 1] for hypothesis, reference in pairs"
PLACED = COUNTED.replace(", 1]", ", 1 + at]").replace("hypothesis, ref", "at, (hypothesis, ref")
SCORE = "100 * sums[0] / sums[1]"


@pytest.mark.parametrize(
    ("contract", "words", "old", "new"),
    [
        ("whole", "`count` returned float64 (5, 2); return int64", "int)", "float)"),
        ("finite", "the score is inf", SCORE,
         "float(sums[0]) / (sums[1] - sums[0]) if sums[0] < sums[1] else float('inf')"),
        ("empty", "IndexError: list index out of range (verbatim.py:18)", "hypothesis == reference",
         "hypothesis.split()[0] == reference.split()[0]"),
        ("best", "lower is better: 100, 0, 0 for right, cut and other", '"higher"', '"lower"'),
        ("repeats", "counts of equal text differ by up to 5", ", 1]",
         ", self.calls.append(1) or len(self.calls)]"),
        ("order", "in the reverse order: counts differ by up to 4", COUNTED,
         PLACED.replace("reference in pairs", "reference) in enumerate(pairs)")),
        ("sums", "scores differ by up to 1e+02", "METRIC =",
         "    def scores(self, sums):\n        return 0 * sums[:, 0]\n\n\nMETRIC ="),
    ],
)  # fmt: skip
def test_a_wrong_metric_breaks_one_contract(mine, contract, words, old, new):
    assert old in VERBATIM
    code = VERBATIM.replace("    def sig", "    calls = []\n\n    def sig", 1).replace(old, new)
    write(mine, {"metrics/verbatim.py": code})
    project_with(mine)
    broken = check_metric(named("verbatim"))
    assert [*broken] == [contract]
    assert words in " ".join(broken[contract])


def test_the_documented_reader_reads_text_whose_identity_has_its_own_keys(mine, call, monkeypatch):
    monkeypatch.chdir(mine.parent)
    monkeypatch.setenv(PROJECT_VARIABLE, str(PROJECT))
    code, card = documented('python\n"""Pairs in JSON'), documented("yaml\ntitle: Songs\ncitation")
    lines = [json.dumps({"eo": f"Kanto\n{n}", "en": f"song {n}"}) for n in range(2000)]
    text = mine.parent / "text" / "songs.jsonl"
    write(mine.parent, {"config/config.yaml": "papers: [mine]\n", str(text): "\n".join(lines)})
    source = documented("yaml\ntitle: Songs\nkind").replace("81234", str(text.stat().st_size))
    source = source.replace("3f5a…", sha256(text))
    write(mine, {"readers/jsonl.py": code, "datasets/songs.yaml": card})
    write(mine, {"sources/songs.yaml": source})
    assert call("fetch", "songs").code == 0
    assert call("prepare", "songs").code == 0
    write(mine, {"datasets/songs.yaml": card.replace("lower: true", "lower: false")})
    assert call("prepare", "songs").code == 0
    first = {read_lines(path)[0][:6] for path in Path("results").glob("corpora/*/epo/train.epo")}
    assert first == {"kanto ", "Kanto "}
    monkeypatch.delitem(sys.modules, "fathom_plugins.mine.readers.jsonl")
    write(mine, {"readers/jsonl.py": code.replace('" ".join(row[key].split())', "row[key]")})
    answer = call("prepare", "songs")
    assert "the reader returned a sentence with a line break: 'Kanto\\n" in answer.err


def test_scores_of_an_edited_metric_have_another_signature(mine):
    write(mine, {"metrics/verbatim.py": VERBATIM})
    project_with(mine)
    before = named("verbatim").how
    write(mine, {"metrics/verbatim.py": VERBATIM.replace("hypothesis == ref", "hypothesis != ref")})
    assert re.fullmatch(r"case:mixed\|file:[0-9a-f]{8}", before)
    assert named("verbatim").how != before
    assert "file:" not in named("ter").how


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"methods/adapters.py": CODE, "methods/adapters.yaml": CARD},
            says("'adapters' is taken by config/methods/adapters.yaml", where="adapters.yaml"),
        ),
        ({"metrics/bleu.py": METRIC}, says("'bleu' is taken by", where="mine/metrics/bleu.py")),
        ({"metrics/likelihood.py": METRIC}, says("'likelihood' is taken by")),
        ({"readers/ted.py": READER}, says("'ted' is taken by", where="mine/readers/ted.py")),
        ({"methods/halved.py": CODE}, says("the method has no card", remedy="halved.yaml")),
        ({"methods/halved.yaml": CARD}, says("the card has no module", remedy="halved.py")),
        ({"metric/verbatim.py": METRIC}, says("nothing reads this file", nearest="metrics")),
    ],
)
def test_a_name_that_is_taken_and_half_a_method_are_refused(mine, files, message):
    write(mine, files)
    with pytest.raises(Findings) as caught:
        project_with(mine, check=True)
    message.check(caught.value)


def test_a_module_that_cannot_be_imported_is_named_with_its_line(mine):
    write(mine, {f"methods/{NAME}.py": "from fathom.nn import hook\n"})
    project_with(mine)
    with refused("ImportError: cannot import name 'hook'", where=f"mine/methods/{NAME}.py"):
        plugins.load("methods", NAME)


def test_what_fails_while_it_runs_is_one_line_with_its_place(mine, call, monkeypatch):
    write(mine, {"metrics/words.py": "def count(text):\n    return text.spilt()\n"})
    project_with(mine)
    count = plugins.load("metrics", "words").count
    monkeypatch.chdir(mine.parent)
    monkeypatch.setattr("fathom.cli.ask.open_scale", lambda *_, **__: count("a b"))
    answer = call("list")
    place = "fathom: mine/metrics/words.py:2: "
    error = "AttributeError: 'str' object has no attribute 'spilt'; correct the code\n"
    assert (answer.code, answer.err) == (1, place + error)


def test_a_bug_after_code_of_a_plugin_ran_names_its_contracts(mine, call, monkeypatch):
    def takes_a_tensor():
        plugins.load("metrics", "words")
        raise TypeError("not NoneType")

    reader = "def read(files, _):\n    open(files)\n"
    write(mine, {"metrics/words.py": "", "readers/folders.py": reader})
    project_with(mine)
    monkeypatch.setattr("fathom.cli.ask.open_scale", lambda *_, **__: takes_a_tensor())
    test = "test its contracts: docs/adding_a_metric.md"
    words = f"a bug of fathom, or of {mine}/metrics/words.py ({test}); please"
    answer = call("list")
    assert (answer.code, words in answer.err) == (70, True)
    read = plugins.load("readers", "folders").read
    monkeypatch.setattr("fathom.cli.ask.open_scale", lambda *_, **__: read(str(mine), None))
    assert "folders.py:2: IsADirectoryError" in call("list").one_line


def test_a_raised_recipe_is_another_identity_of_its_runs_alone(mine):
    before = {
        name: project_with(mine).spec(name).identity for name in ("mine/flat", "mine/skipped")
    }
    write(mine, {f"methods/{NAME}.yaml": f"{CARD}recipe: 2\n"})
    after = {name: project_with(mine).spec(name).identity for name in before}
    assert [name for name in before if after[name] != before[name]] == ["mine/skipped"]


@pytest.fixture
def trained(mine, tmp_path):
    """A function that trains a run of the method, or goes on with it; returns its folder."""

    def train():
        settings = {"name": NAME, "p": 0.3}
        method = project_with(mine).methods[NAME].method(**settings)
        finishes = specification(changes={"outcome": {"failed_margin": -9.0}})
        train_run(replace(finishes, method=method), text, tmp_path / "1")
        return tmp_path / "1"

    text = encoded(tmp_path / "text")
    write(mine, {"readers/lines.py": READER})
    return train


def test_numbers_of_a_training_with_other_code_are_marked_as_stale(mine, trained):
    project_with(mine)
    plugins.load("readers", "lines")
    record = trained() / "training.json"
    assert read_json(record)["plugin"] == {
        name: sha256(mine / name) for name in ("shared.py", f"methods/{NAME}.py")
    }
    source = ResultSource("mine/skipped", {1: record.parent / "measurements"}, rule_of, method=NAME)
    write(mine, {"not_used.py": "x = 1\n", "readers/lines.py": f"{READER}x = 1\n"})
    ((_, reading),) = source.readings("parameters")
    assert reading.stale == ""
    write(mine, {"shared.py": "def kept(p):\n    return 1.0 - p\n"})
    source = replace(source, _cache={})
    ((_, reading),) = source.readings("parameters")
    assert reading.stale == f"training: the code of {NAME} has changed since"


def test_copies_of_an_earlier_version_say_the_same(mine, trained):
    record = trained() / "training.json"
    content = read_record(record)
    copies = {f"code/{name}": digits for name, digits in content.pop("plugin").items()}
    write_record(record, content | {"files": content["files"] | copies})
    assert stale_code(record, NAME) == ""
    write(mine, {"shared.py": "def kept(p):\n    return 1.0 - p\n"})
    assert stale_code(record, NAME) == f"training: the code of {NAME} has changed since"


def test_a_training_is_not_resumed_with_other_code(mine, trained, monkeypatch):
    run = trained()
    (run / "training.json").unlink()
    code = mine / "methods" / f"{NAME}.py"
    kept = code.read_text(encoding="utf-8")
    code.write_text(f"{kept}# after an edit\n", encoding="utf-8")
    # Before its state is read, which other parameters would not fit.
    for _ in range(2):
        with monkeypatch.context() as patch, refused(f"{NAME}.py of the plugin has changed since"):
            patch.setattr("fathom.train.loop.Training.resume", None)
            trained()
    code.write_text(kept, encoding="utf-8")
    assert (trained() / "training.json").exists()


def test_an_installed_package_brings_the_same_folder_without_being_imported(mine, monkeypatch):
    site = mine.parent / "site"
    (site / "thin").mkdir(parents=True)
    mine.rename(site / "thin" / "plugin")
    information = {"METADATA": "Metadata-Version: 2.1\nName: thin\nVersion: 1\n"}
    information["entry_points.txt"] = "[fathom.plugins]\nthin_layers = thin.plugin\n"
    write(site / "thin-1.dist-info", information)
    write(site, {"thin/__init__.py": "raise ImportError\n", "thin/plugin/__init__.py": ""})
    monkeypatch.syspath_prepend(site)
    plugins.installed.cache_clear()
    try:
        project = load(PROJECT, check=True)
    finally:
        plugins.installed.cache_clear()
    assert "thin_layers/skipped" in project.entries
    assert plugins.load("methods", NAME).__name__ == f"fathom_plugins.thin_layers.methods.{NAME}"


def test_metrics_and_readers_are_found_by_name(mine):
    pair = (PROJECT / "config" / "datasets" / "pair.yaml").read_text(encoding="utf-8")
    lines = pair.replace("format: parallel", "format: lines")
    files = {
        "metrics/verbatim.py": METRIC,
        "readers/lines.py": READER,
        "datasets/mine_pair.yaml": lines,
    }
    write(mine, files)
    project = project_with(mine)
    assert plugins.load("metrics", "verbatim").METRIC == "verbatim"
    assert type(project.datasets["mine_pair"]).__name__ == "LinesDataset"
    assert callable(plugins.load("readers", "lines").read)
    with refused("no metric 'verbatin'", nearest="verbatim"):
        plugins.load("metrics", "verbatin")
