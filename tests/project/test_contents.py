"""What papers print, read where it is asked for."""

import pytest

from fathom.config.causes import Causes
from fathom.config.contents import Contents
from fathom.config.files import ConfigFiles
from fathom.config.load import load
from fathom.io.errors import Findings
from tests.support.refused import refused, says
from tests.support.small_project import write_config


@pytest.fixture
def broken(tmp_path):
    """The small project with a misspelled key in its tables."""
    path = write_config(tmp_path) / "config/papers/sample/tables.yaml"
    path.write_text(path.read_text().replace("section:", "sektion:"))
    return tmp_path


def test_papers_have_their_tables_and_figures(tmp_path):
    write_config(tmp_path)
    contents = Contents(tmp_path, ConfigFiles(tmp_path), Causes(tmp_path, {}))
    (paper,) = contents.papers.values()
    assert (list(paper.tables), list(paper.figures)) == (["table1"], ["figure1"])
    assert (contents.claims, contents.findings) == ({}, [])


def test_a_wrong_table_is_refused_where_it_is_asked_for_and_no_earlier(broken):
    project = load(broken, check=False)
    assert project.spec("sample/static_2_2", "small")
    with refused("unknown key", "sektion", nearest="section", error=Findings):
        assert project.papers


def test_all_findings_are_returned_where_everything_is_read(broken):
    findings = Contents(broken, ConfigFiles(broken), Causes(broken, {})).read()
    says("unknown key", "sektion", nearest="section").check([str(one) for one in findings])
