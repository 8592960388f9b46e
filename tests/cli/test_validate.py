"""`fathom validate`: config/ is checked."""

import json
import re
import shutil

from tests.support.refused import prose, says


def test_what_is_valid_is_counted(project, call):
    answer = call("validate")
    assert (answer.code, answer.err) == (0, "next: fathom list\n")
    counts = "1 papers, 1 tables, 1 figures, 2 runs, 9 methods, 1 data sets, 1 sources, 1 scales"
    assert answer.out == prose("valid config", counts) + "\n"


def test_findings_of_several_files_are_printed_together(project, edit, call):
    edit("papers/sample/runs.yaml", "dataset: small", "dataset: smal")
    edit("papers/sample/reported/table1.csv", "Static,bos,20.0", "Static,bos,2O.0")
    (first, *_) = json.loads(call("validate", "--json").out)["findings"]
    assert {*first} == {"where", "what", "remedy"}
    answer = call("validate")
    assert (answer.code, answer.out) == (1, "")
    place = re.compile(r"config/papers/sample/runs\.yaml:5.*")
    says("unknown", "data set", "smal", where=place, nearest="small").check(answer.err)


def test_faults_of_form_names_and_numbers_come_in_one_round_with_short_paths(project, edit, call):
    edit("papers/sample/runs.yaml", "target_depth: 1}", "target_depht: 1}")
    edit("papers/sample/runs.yaml", "dataset: small", "dataset: smal")
    edit("papers/sample/reported/table1.csv", "Static,bos,20.0", "Static,bos,2O.0")
    printed = call("validate").err
    for name in ("'target_depht'", "'smal'", "'2O.0'"):
        assert name in printed
    assert str(project) not in printed


def test_a_wrong_reported_number_is_found_before_anything_is_compared(project, edit, call):
    """It was found only when a table had been trained and was to be compared."""
    edit("papers/sample/reported/table1.csv", "Static,bos,20.0", "Static,bos,2O.0")
    expected = says("no number", "'2O.0'", where="table1.csv:3", remedy=prose("write the digits"))
    expected.check(call("validate").one_line)


def test_a_missing_file_of_switches_is_one_line(project, call):
    (project / "config" / "config.yaml").unlink()
    says("cannot be read", where="config/config.yaml").check(call("validate").one_line)


def test_a_missing_folder_of_scales_is_one_line(project, call):
    shutil.rmtree(project / "config" / "scales")
    expected = says("unknown", "scale", "small", remedy=prose("valid names", "none"))
    expected.check(call("validate").one_line)


def test_a_paper_without_tables_and_figures_is_one_line(project, call):
    for name in ("tables", "figures"):
        (project / f"config/papers/sample/{name}.yaml").unlink()
    expected = says("empty paper", remedy="tables.yaml or figures.yaml")
    expected.check(call("validate").one_line)
