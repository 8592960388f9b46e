"""The files of config/, read by kind."""

import pytest

from fathom.config.files import OF_RUNS, ConfigFiles
from fathom.io.errors import Findings
from tests.support.refused import refused, says
from tests.support.small_project import write_config


@pytest.fixture
def folder(tmp_path):
    """The small project, whose tables are no YAML."""
    (write_config(tmp_path) / "config/papers/sample/tables.yaml").write_text("table1: [\n")
    return tmp_path


def test_a_kind_is_read_when_it_is_asked_for(folder):
    files = ConfigFiles(folder)
    assert list(files["runs"]) == ["sample"]
    with refused("not YAML", where="config/papers/sample/tables.yaml:2", error=Findings):
        assert files["tables"]
    assert {"config", "columns", "tables"} <= {*files}
    assert len(files) == len([*files])


def test_only_the_kinds_that_are_asked_for_have_findings(folder):
    assert list(ConfigFiles(folder).findings(OF_RUNS)) == []
    files = ConfigFiles(folder)
    (finding,) = files.findings(files)
    says("not YAML", where="config/papers/sample/tables.yaml:2").check([str(finding)])
