"""The method of docs/adding_a_method.md in a folder outside the clone, and in a package."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fathom.cli.verbs import PROJECT_VARIABLE
from fathom.config import plugins
from fathom.config.load import load
from fathom.config.measurement_keys import METRICS
from fathom.config.rules import require_plain_gates
from fathom.config.yaml_values import from_plain
from fathom.decode.contracts import check
from fathom.io.errors import Findings
from fathom.results.training_record import changed_code
from fathom.scoring import contracts
from fathom.scoring.contracts import check_metric
from fathom.scoring.metrics import named
from tests.cli.conftest import call
from tests.config.conftest import PROJECT
from tests.data.small_archives import zip_of
from tests.support.refused import refused, says
from tests.support.small_runs import encoded, specification, train_run
from tests.support.specs import ROOT

__all__ = ["call"]

NAME = "stochastic_depth"
STUDY = """\
title: Fewer layers
data: {dataset: pair, subwords: {algorithm: bpe, joint: 50}}
runs:
  flat: {like: deep/static}
  skipped: {like: deep/static, method: {name: stochastic_depth, p: 0.3}}
tables:
  table1: {against: flat, columns: [params, avg], rows: {all: flat, fewer: skipped}}
"""
METRIC = "METRIC = 'exact'\n"
READER = """\
from typing import Literal

from fathom.config.schema.dataset import ParallelDataset
from fathom.data.readers import parallel


class LinesDataset(ParallelDataset):
    format: Literal["lines"]


def read(files, dataset):
    return parallel.read(files, dataset)
"""
EXACT = (ROOT / "tests" / "support" / "study" / "metrics" / "exact.py").read_text(encoding="utf-8")
OUTSIDE = ROOT / "tests" / "support" / "outside_paper"


def documented(start: str) -> str:
    """Return a code block of the page."""
    page = (ROOT / "docs" / "adding_a_method.md").read_text(encoding="utf-8")
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
    assert not any(check(card).values())
    with refused(f"the method {NAME} with plain gates"):
        require_plain_gates(card, "plain", "mine/skipped", "translate with fathom")


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
        ("kept(self.p)", "kept(self.q)", "batches", "has no attribute 'q' (stochastic_depth.py:"),
    ],
    ids=["rounded", "drawn_anywhere", "misspelt", "fails"],
)
def test_a_wrong_method_breaks_a_contract_that_says_why(mine, old, new, contract, words):
    code = mine / "methods" / f"{NAME}.py"
    text = code.read_text(encoding="utf-8")
    assert old in text
    code.write_text(text.replace(old, new), encoding="utf-8")
    broken = {name: what for name, what in check(project_with(mine).methods[NAME]).items() if what}
    assert words in " ".join(broken[contract])
    assert [*broken] == [contract] or contract == "batches"


@pytest.mark.parametrize("name", sorted({*METRICS} - {"comet"}))
def test_each_metric_of_fathom_keeps_the_contracts(name):
    for metric in named(name).variants("eng", ("moses",)):
        assert check_metric(metric) == {each: [] for each in contracts.METRIC}


COUNTED = "[hypothesis == reference, 1] for hypothesis, reference in pairs"
PLACED = COUNTED.replace(", 1]", ", 1 + at]").replace("hypothesis, ref", "at, (hypothesis, ref")
SCORE = "100 * sums[0] / sums[1]"


@pytest.mark.parametrize(
    ("contract", "words", "old", "new"),
    [
        ("whole", "`count` returned float64 (5, 2); return int64", "int)", "float)"),
        ("finite", "the score is inf", SCORE,
         "float(sums[0]) / (sums[1] - sums[0]) if sums[0] < sums[1] else float('inf')"),
        ("empty", "IndexError: list index out of range (exact.py:18)", "hypothesis == reference",
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
    assert old in EXACT
    code = EXACT.replace("    def sig", "    calls = []\n\n    def sig", 1).replace(old, new)
    write(mine, {"metrics/exact.py": code})
    project_with(mine)
    broken = {name: what for name, what in check_metric(named("exact")).items() if what}
    assert [*broken] == [contract]
    assert words in " ".join(broken[contract])


def test_a_reader_reads_the_data_sets_of_its_format(mine):
    card, source = (
        (OUTSIDE / name).read_text(encoding="utf-8")
        for name in ("datasets/harvest.yaml", "sources/harvest_text.yaml")
    )
    card = card.replace("format: parallel", "format: lines")
    write(mine, {"readers/lines.py": READER, "datasets/harvest.yaml": card})
    write(mine, {"sources/harvest_text.yaml": source})
    sizes = {"train": 240, "valid": 12, "test": 12}
    contents = {
        f"{split}.{code}": "".join(f"{split} {at}\n" for at in range(count)).encode()
        for split, count in sizes.items()
        for code in ("eo", "en")
    }
    archive = zip_of(mine.parent / "harvest.zip", contents)
    card = project_with(mine).datasets["harvest"]
    text = plugins.load("readers", "lines").read({"harvest_text": archive}, card)["epo"]
    assert {split: len(rows) for split, rows in text.splits.items()} == sizes


def test_a_metric_has_a_line_for_each_contract(mine, call, monkeypatch):
    monkeypatch.chdir(mine.parent)
    monkeypatch.setenv(PROJECT_VARIABLE, str(PROJECT))
    write(mine.parent, {"config/config.yaml": "papers: [mine]\n"})
    write(mine, {"metrics/exact.py": EXACT})
    answer = call("contracts", "exact")
    assert answer.code == 0
    assert [line.split()[:2] for line in answer.lines] == [
        ["kept", each] for each in contracts.METRIC
    ]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"methods/adapters.py": CODE, "methods/adapters.yaml": CARD},
            says("'adapters' is taken by config/methods/adapters.yaml", where="adapters.yaml"),
        ),
        ({"metrics/bleu.py": METRIC}, says("'bleu' is taken by", where="mine/metrics/bleu.py")),
        ({"readers/ted.py": READER}, says("'ted' is taken by", where="mine/readers/ted.py")),
        ({"methods/halved.py": CODE}, says("the method has no card", remedy="halved.yaml")),
        ({"methods/halved.yaml": CARD}, says("the card has no module", remedy="halved.py")),
        ({"metric/exact.py": METRIC}, says("nothing reads this file", nearest="metrics")),
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


def test_a_raised_recipe_is_another_identity_of_its_runs_alone(mine):
    before = {
        name: project_with(mine).spec(name).identity for name in ("mine/flat", "mine/skipped")
    }
    write(mine, {f"methods/{NAME}.yaml": f"{CARD}recipe: 2\n"})
    after = {name: project_with(mine).spec(name).identity for name in before}
    assert [name for name in before if after[name] != before[name]] == ["mine/skipped"]


def test_a_training_keeps_the_code_and_a_changed_one_is_noted(mine, tmp_path):
    card = project_with(mine).methods[NAME]
    spec = replace(specification(), method=card.method(name=NAME, p=0.3))
    ended = train_run(spec, encoded(tmp_path / "text"), tmp_path / "run")
    assert {name for name in ended["files"] if name.startswith("code/")} == {
        "code/shared.py",
        f"code/methods/{NAME}.py",
    }
    record = tmp_path / "run" / "training.json"
    write(mine, {"not_used.py": "x = 1\n"})
    assert changed_code(record, NAME) == ""
    write(mine, {"shared.py": "def kept(p):\n    return 1.0 - p\n"})
    assert f"the code of {NAME} has changed since; raise `recipe`" in changed_code(record, NAME)


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
        "metrics/exact.py": METRIC,
        "readers/lines.py": READER,
        "datasets/mine_pair.yaml": lines,
    }
    write(mine, files)
    project = project_with(mine)
    assert plugins.load("metrics", "exact").METRIC == "exact"
    assert type(project.datasets["mine_pair"]).__name__ == "LinesDataset"
    assert callable(plugins.load("readers", "lines").read)
    with refused("no metric 'exakt'", nearest="exact"):
        plugins.load("metrics", "exakt")
