"""config/ read: what is missing or broken is one finding each."""

import pytest

from fathom.config.load import load
from fathom.io.errors import FathomError, Findings
from tests.support.refused import says
from tests.support.small_project import write_config


@pytest.fixture
def small(tmp_path):
    return write_config(tmp_path)


def findings(folder):
    with pytest.raises(Findings) as caught:
        load(folder)
    return [str(finding) for finding in caught.value.findings]


def test_a_name_with_other_signs_is_refused(small):
    (small / "config/scales/small.yaml").rename(small / "config/scales/Small-1.yaml")
    says("name rule", where="config/scales/Small-1.yaml").check(findings(small))


def test_a_papers_name_with_other_signs_is_one_finding(small):
    (small / "config/papers/sample").rename(small / "config/papers/my-paper")
    (line,) = says("name rule").check(findings(small))
    assert line.startswith("config/papers/my-paper: ")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("figure.yaml", "figures.yaml"),
        ("tables.yml", "tables.yaml"),
        ("report", "reported"),
        ("reported/table2.csv", "table1.csv"),
    ],
)
def test_a_file_that_nothing_reads_is_refused(small, name, nearest):
    (small / "config/papers/sample" / name).write_text("x: 1\n")
    (line,) = says("unread file", nearest=nearest).check(findings(small))
    assert line.startswith(f"config/papers/sample/{name}: ")


@pytest.mark.parametrize("name", [".hidden", "notes.md", "reported/.hidden"])
def test_hidden_files_and_notes_may_be_in_a_papers_folder(small, name):
    (small / "config/papers/sample" / name).write_text("Text.\n")
    assert load(small)


def test_a_file_that_is_no_yaml_hides_nothing_behind_consequences(small):
    (small / "config/papers/sample/runs.yaml").write_text("families: [\n")
    (line,) = findings(small)
    assert line.startswith("config/papers/sample/runs.yaml:")


def test_broken_files_are_reported_together(small):
    (small / "config/papers/sample/runs.yaml").write_text("families: [\n")
    (small / "config/datasets/small.yaml").write_text("title: [\n")
    assert len(findings(small)) == 2


def test_runs_are_checked_unless_a_start_has_checked_them(small):
    path = small / "config/papers/sample/runs.yaml"
    path.write_text(path.read_text().replace("heads: 4", "heads: 3"))
    says("heads", 16, 3).check(findings(small))
    assert load(small, check=False).entries


def test_no_config_is_refused(tmp_path):
    with pytest.raises(FathomError):
        load(tmp_path)
