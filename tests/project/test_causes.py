"""One round has every cause, and no finding that follows from another one."""

import shutil

import pytest
from fathom.config.causes import Causes

from fathom.io.errors import Dependent, FathomError, Findings
from tests.support.checked import checked
from tests.support.papers import PAPERS
from tests.support.refused import says
from tests.support.small_project import write_config
from tests.support.specs import ROOT

PAPER = "papers/sample"
# Every file that something else names.
FILES = [
    "config.yaml",
    "columns.yaml",
    "scales/small.yaml",
    "datasets/small.yaml",
    "sources/django.yaml",
    "methods/static.yaml",
    "methods/latent_layers.yaml",
    *(f"{PAPER}/{kind}.yaml" for kind in ("paper", "runs", "tables", "figures")),
    *(f"{PAPER}/{kind}.yaml" for kind in ("deviations", "claims", "parameters")),
]
MORE = {
    "deviations.yaml": """\
own:
  title: Own
  paper: Silent.
  ours: One.
  why: It is enough.
  applies: [base, latent_layers, table1, figure1]
  settings: [training.clip]
""",
    "claims.yaml": """\
better:
  sentence: Gated is better.
  section: §6
  claim: 'table1["Gated", "avg"] > table1["Static", "avg"]'
  supports: fails
drawn:
  sentence: Gated is drawn.
  section: §6
  claim: 'end(figure2["gated"]) > 0'
  supports: not printed
""",
    "parameters.yaml": """\
vocabularies:
  - {like: base, source: 120, target: 80, origin: The tests say so.}
unexplained:
  - {tables: [table1], reason: It is invented.}
""",
}
CURVES = """
figure2:
  kind: lines
  title: Curves
  section: §6
  series: nll.valid
  x: update
  lines: {gated: gated_2_2}
"""


@pytest.fixture
def small(tmp_path):
    """A project whose paper has every file that a paper may have."""
    config = write_config(tmp_path) / "config"
    for name, text in MORE.items():
        (config / PAPER / name).write_text(text, encoding="utf-8")
    runs = config / PAPER / "runs.yaml"
    runs.write_text(runs.read_text().replace("clip: 1.0  # §4", "clip: 1.0  # the paper is silent"))
    with (config / "scales/small.yaml").open("a") as scale:
        scale.write(
            "updates: {sample: {main: 3}}\n"
            "rules:\n  - {when: {like: base}, set: {training.validate_every: 3}}\n"
            "  - {when: {method.name: latent_layers}, set: {method.target_depth: 2}}\n"
        )
    with (config / PAPER / "figures.yaml").open("a", encoding="utf-8") as figures:
        figures.write(CURVES)
    checked(tmp_path)
    return tmp_path


def findings(folder):
    """Return the places of what is wrong."""
    with pytest.raises(Findings) as caught:
        checked(folder)
    return [str(finding) for finding in caught.value.findings]


def change(folder, file, old, new):
    path = folder / "config" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_cannot_be_read_is_one_finding_and_hides_no_other(small, file):
    (small / "config" / file).write_text("a: [\n")
    (line,) = findings(small)
    assert line.startswith(f"config/{file}:")
    other = "scales/other.yaml"
    (small / "config" / other).write_text("title: other\nseeds: 1.5\n")
    assert sorted(findings(small)) == sorted([line, *findings_of(other, findings(small))])
    assert len(findings(small)) == 2


def test_unreadable_columns_hide_nothing_that_is_wrong_between_a_papers_files(small):
    (small / "config/columns.yaml").write_text("a: [\n")
    change(small, f"{PAPER}/deviations.yaml", "[training.clip]", "[training.clpi]")
    change(small, f"{PAPER}/figures.yaml", "kind: grouped_bars", "kind: grouped_barz")
    change(small, f"{PAPER}/runs.yaml", "clip: 1.0  # the paper is silent", "clip: 1.0  # §4")
    lines = findings(small)
    says("unknown", "setting", "training.clpi").check(lines)
    says("unknown", "kind of figure", "grouped_barz", nearest="grouped_bars").check(lines)
    assert len(lines) == 3


def findings_of(file, lines):
    return [line for line in lines if line.startswith(f"config/{file}:")]


@pytest.mark.parametrize("file", FILES)
def test_a_wrong_key_is_one_finding(small, file):
    path = small / "config" / file
    path.write_text(path.read_text(encoding="utf-8") + "\nanother_key: {a: 1}\n", encoding="utf-8")
    lines = findings(small)
    assert len(lines) == len(findings_of(file, lines)) > 0


@pytest.mark.parametrize("kind", ["paper", "runs", "tables", "figures", "deviations"])
def test_a_file_that_is_gone_is_one_finding(small, kind):
    (small / "config" / PAPER / f"{kind}.yaml").unlink()
    (line,) = findings(small)
    assert line.startswith(f"config/{PAPER}/{kind}.yaml: ")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["runs", "tables", "figures", "deviations"])
@pytest.mark.parametrize("paper", PAPERS)
def test_a_file_of_a_real_paper_that_is_gone_is_one_finding(tmp_path, paper, kind):
    """A deleted tables.yaml was 95 findings: runs without use, unread numbers, unknown names."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / f"config/papers/{paper}/{kind}.yaml").unlink()
    (line,) = findings(tmp_path)
    says("file missing", where=f"config/papers/{paper}/{kind}.yaml").check(line)


def test_an_unknown_name_in_like_hides_no_other_finding(small):
    change(small, f"{PAPER}/runs.yaml", "gated_2_2: {like: base", "gated_2_2: {like: bsae")
    change(small, f"{PAPER}/tables.yaml", "Static: static_2_2", "Static: static_2_3")
    change(small, f"{PAPER}/reported/table1.csv", "Static,bos,20.0", "Static,bos,2O.0")
    change(small, "datasets/small.yaml", "pivot: eng", "pivot: eng\nextra: 1")
    lines = findings(small)
    for name, nearest in (("bsae", "base"), ("static_2_3", "static_2_2")):
        assert [line for line in lines if f"'{name}'" in line and f"'{nearest}'" in line]
    assert [line for line in lines if "'2O.0'" in line]
    assert [line for line in lines if "'extra'" in line]
    assert len(lines) == 4


def test_a_wrong_run_is_one_finding_and_names_of_rows_and_figures_come_next(small):
    change(small, f"{PAPER}/runs.yaml", "target_depth: 1}", "target_depht: 1}")
    change(small, f"{PAPER}/figures.yaml", "less: Static", "less: Statc")
    change(small, f"{PAPER}/claims.yaml", 'figure2["gated"]', 'figure3["gated"]')
    (line,) = findings(small)
    assert "runs.yaml" in line
    change(small, f"{PAPER}/runs.yaml", "target_depht: 1}", "target_depth: 1}")
    row, figure = findings(small)
    assert "'Statc'" in row
    assert "'figure3'" in figure


def test_a_misspelled_name_is_a_misspelled_name_where_a_file_need_not_be_there(small):
    """No figures.yaml is missing where a claim misspells a table."""
    (small / "config" / PAPER / "figures.yaml").unlink()
    change(small, f"{PAPER}/claims.yaml", 'end(figure2["gated"])', 'tabel1["Gated", "avg"]')
    change(small, f"{PAPER}/deviations.yaml", ", figure1", "")
    (line,) = findings(small)
    assert "'tabel1'" in line
    assert "'table1'" in line


def test_what_depends_on_nothing_wrong_stays_and_each_finding_comes_once(tmp_path):
    causes = Causes(tmp_path, {})
    causes.add("run", "p/static_*")
    own = FathomError("x", "a.yaml:1", "y")
    stays = Dependent("x", "a.yaml:2", "y", [("run", "p/gated")])
    goes = Dependent("x", "a.yaml:3", "y", [("run", "p/static_2_2")])
    any_run = Dependent("x", "a.yaml:4", "y", [("run", "p/*")])
    assert causes.among([own, stays, goes, own, any_run]) == [own, stays]
