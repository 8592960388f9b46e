"""`fathom list`, `show`, `validate`, `where`, `params`."""

import json
import os
import re
import shutil

import pytest

from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.io.files import write_text
from fathom.workflow.targets import Targets
from tests.support.html_page import parsed
from tests.support.own_project import NOT_BUILT, PAPERS, REASON, own_project, planned
from tests.support.refused import refused
from tests.support.small_project import GATED, RUN
from tests.support.specs import ROOT


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("papers", "sample"),
        ("runs", "sample/gated_2_2"),
        ("artefacts", "sample_table1"),
        ("tables", "sample_table1"),
        ("figures", "sample_figure1"),
        ("methods", "layerdrop"),
        ("datasets", "small"),
        ("sources", "django"),
        ("scales", "small"),
    ],
)
def test_each_kind_has_its_names_also_as_json(project, call, kind, name):
    heading, *lines = call("list", kind).lines
    names = [line.split()[0] for line in lines]
    assert heading.split()[:2] == ["name", "seeds" if kind == "runs" else "title"]
    assert name in names
    assert list(json.loads(call("list", kind, "--json").out)) == names
    assert (call("list").lines == call("list", kind).lines) == (kind == "artefacts")


@pytest.mark.slow
def test_what_is_trained_and_drawn_is_said(own, summarised, call, edit):
    folder = own(summarised)
    runs = json.loads(call("list", "runs", "--json").out)
    assert runs == {name: {"states": {"1": "finished"}, "not_built": None} for name in runs}
    assert call("list", "runs").out.count("  1      finished\n") == len(runs)
    assert "  2 of 2 trained\n" in call("list", "tables").out
    assert call("table", "sample_table1").code == 0
    assert "  drawn\n" in call("list", "tables").out
    assert json.loads(call("list", "tables", "--json").out)["sample_table1"] == {
        "title": "A sample table",
        "drawn": True,
        "trainings": 2,
        "ended": 2,
        "not_built": None,
    }
    (folder / "elsewhere").mkdir()
    elsewhere = call("list", "tables", "--results", str(folder / "elsewhere")).out
    assert elsewhere.split("\n")[1].endswith("  0 of 2 trained")
    # A table of runs whose settings or text have changed since is not drawn.
    edit("papers/sample/runs.yaml", "updates: 4", "updates: 5")
    assert call("list", "tables").out.split("\n")[1].endswith("  0 of 2 trained")
    assert "sample: 0 of 1 tables" in call("status").out


def test_a_table_is_drawn_where_its_text_is_there_and_what_it_shows_is_older(tmp_path):
    targets = Targets(own_project(), "tiny", Paths(tmp_path, "tiny"))
    table = targets.artefact("latent_depth_table12")
    files, shown = targets.artefact_files(table), targets.measured(table)
    for path in files:
        write_text(path, "")
    assert not targets.is_drawn(table)
    for counted in shown:
        write_text(counted, "")
        os.utime(counted, (1, 1))
    assert targets.is_drawn(table)
    os.utime(files[0], (0, 0))
    assert not targets.is_drawn(table)
    assert [error.where for error in targets.outdated()] == [str(files[0])]
    os.utime(files[0])
    files[-1].unlink()
    assert not targets.is_drawn(table)
    # The text has changed: its counts have another folder.
    write_text(files[-1], "")
    assert targets.is_drawn(table)
    shown[0].parent.rename(f"{str(shown[0].parent)[:-8]}00000000")
    assert not targets.is_drawn(table)


@pytest.mark.slow
def test_what_is_not_built_has_its_reason(monkeypatch, call):
    project = planned(own_project())
    monkeypatch.setattr("fathom.config.load.open_project", lambda *_, **given: project)
    monkeypatch.chdir(ROOT)
    paper = ("--json", "--scale", "paper")
    runs = json.loads(call("list", "runs", *paper).out)
    assert REASON in runs["latent_depth/en_de_dlcl_36_36"]["not_built"]
    assert runs["latent_depth/o2m_diverse_12_12"]["not_built"] is None
    artefacts = json.loads(call("list", "artefacts", *paper).out)
    assert re.match(rf"(\d+) of \1 runs: data set \w+: {REASON}", artefacts[NOT_BUILT]["not_built"])
    assert artefacts["latent_depth_table4"]["not_built"] is None
    line = next(line for line in call("list", *paper[1:]).lines if line.startswith(f"{NOT_BUILT} "))
    assert line.endswith(f"  not built: {artefacts[NOT_BUILT]['not_built']}")


@pytest.mark.parametrize(("scale", "first"), [("tiny", "latent_depth_table5"), ("paper", "lamgd_")])
def test_the_table_of_the_run_that_a_scale_watches_is_proposed_first(
    own_project, monkeypatch, call, scale, first
):
    monkeypatch.setattr("fathom.config.load.open_project", lambda *_, **given: own_project)
    monkeypatch.chdir(ROOT)
    assert f"next: fathom plan {first}" in call("list", "--scale", scale).err


# show


def test_a_row_in_the_papers_words_names_its_run(own_project, project, call):
    assert call("show", "sample_table1: Gated").out == call("show", GATED).out
    # A run's folder ends in a dash and its hash; a row may have a dash, too.
    row = "latent_depth_table5: LL-D, 12/24"
    assert own_project.run_named(row, "tiny").name == "latent_depth/m2o_diverse_ll_d_12_24"
    with refused("row 'transparent' has several runs", remedy="name one: transparent_attention/"):
        own_project.run_name("transparent_attention_table1: transparent")


@pytest.fixture
def half(project):
    """The project with a scale of half the width."""
    (project / "config/scales/half.yaml").write_text(
        "title: half\ntimes: {width: 1/2}\nrules:\n  - set: {training.updates: 2}\n"
    )
    return project


@pytest.fixture
def lines(half, call):
    """The lines of a run with gates, by setting."""
    title, headings, *rest = call("show", GATED, "--scale", "half").lines
    assert re.split("  +", headings)[1:4] == ["value here", "where", "the paper's value"]
    assert title.startswith(f"sample/{GATED} at scale half: results/runs/sample/{GATED}-")
    return {line.split()[0]: line for line in rest}


def test_a_setting_has_the_line_and_the_source_of_its_value(half, lines):
    value, place, source = lines["model.norm"].split()[1:4]
    file, number = place.split(":")
    written = (half / file).read_text(encoding="utf-8").split("\n")[int(number) - 1]
    assert file == "config/papers/sample/runs.yaml"
    assert "norm: pre" in written
    assert (value, source) == ("pre", "§3")
    value, place = lines["method.tau"].split()[1:3]
    assert value == "1.0"
    assert place.startswith("config/methods/latent_layers.yaml:")
    assert re.split("  +", lines["decoding.length_penalty"])[2:] == ["default", "fairseq's default"]
    assert lines["method.tau_end"].split()[1] == "null"
    assert lines["method.target_depth_stacks"].split()[1] == '["decoder"]'


def test_what_the_scale_changes_is_next_to_the_papers_value(half, call, lines):
    assert lines["model.width"].split()[1:] == ["8", "config/scales/half.yaml:2", "16", "§3"]
    assert lines["training.updates"].split()[3] == "4"
    shown = call("show", GATED, "--scale", "half", "--changed").lines[2:]
    assert {line.split()[0] for line in shown} >= {"model.width", "model.ffn", "training.updates"}
    assert {line.split()[2].partition(":")[0] for line in shown} == {"config/scales/half.yaml"}


def test_a_run_has_its_full_name_its_short_name_and_its_folder(project, edit, call):
    folder = load(project).spec(f"sample/{RUN}", "small").folder
    assert call("show", folder).out == call("show", RUN).out == call("show", f"sample/{RUN}").out
    edit("papers/sample/runs.yaml", "updates: 4", "updates: 5")
    assert f"{RUN}-" in call("show", folder).one_line.rpartition("; ")[2]


# validate


def test_what_is_valid_is_counted(project, call):
    answer = call("validate")
    assert (answer.code, answer.err) == (0, "next: fathom list\n")
    methods = len([*(project / "config" / "methods").iterdir()])
    counts = f"1 papers, 1 tables, 1 figures, 2 runs, {methods} methods, 1 data sets"
    assert answer.out == f"config/ is valid: {counts}, 1 sources, 1 scales\n"


def test_findings_of_several_files_are_printed_together_with_short_paths(project, edit, call):
    edit("papers/sample/runs.yaml", "dataset: small", "dataset: smal")
    edit("papers/sample/runs.yaml", "target_depth: 1}", "target_depht: 1}")
    answer = call("validate")
    assert (answer.code, answer.out) == (1, "")
    assert re.search(r"config/papers/sample/runs\.yaml:5.*'smal'.*'small'", answer.err)
    assert "'target_depht'" in answer.err
    assert str(project) not in answer.err


@pytest.mark.parametrize("name", ["config.yaml", "scales", "papers/sample/tables.yaml"])
def test_a_file_or_folder_that_is_missing_is_named(project, call, name):
    path = project / "config" / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    if name.endswith("tables.yaml"):
        (project / "config/papers/sample/figures.yaml").unlink()
    answer = call("validate")
    assert answer.code == 1
    assert "Traceback" not in answer.err
    assert {"config.yaml": "config/config.yaml", "scales": "'small'"}.get(name, name[14:]) in (
        answer.err
    )


def test_an_equation_is_found_by_its_number_and_without_a_paper_all_are_listed(call, monkeypatch):
    monkeypatch.chdir(ROOT)
    answer = call("where", "latent_depth", "5")
    assert answer.code == 0
    (line,) = answer.lines
    assert line.startswith("[latent_depth Eq. 5] Gumbel-softmax sample of a layer's gate: lib/")
    assert "lib/fathom/methods/latent_layers/" in line
    assert "tested at tests/" in line
    assert call("where", "latent_depth", "Alg. 2").out.startswith("[latent_depth Alg. 2] ")
    assert "not computed: intractable for many layers" in call("where", "latent_depth", "3").out
    file, number, name = re.search(r": (lib/\S+):(\d+) (\w+)", line).groups()
    text = (ROOT / file).read_text(encoding="utf-8").split("\n")
    assert text[int(number) - 1].startswith(f"def {name}(")
    lines = call("where").lines
    assert {*call("where", "latent_depth").lines} <= {*lines}
    assert {line.split()[0][1:] for line in lines} == {*PAPERS}


# params

# Two tables, 2 + 2 layers of width 16 and 32 inside, two final norms: by hand.
COUNT = 200 * 16 + 2 * 2224 + 2 * 3344 + 64


@pytest.fixture
def printed(project, edit):
    """The small project, whose table prints parameter counts."""
    paper = project / "config/papers/sample"
    edit("papers/sample/tables.yaml", "columns: [params, avg_hard", "columns: [avg_hard")
    edit("papers/sample/tables.yaml", "columns: [avg, tasks]", "columns: [params, avg, tasks]")
    with open(paper / "reported/table1.csv", "a", encoding="utf-8") as stream:
        stream.write("Static,params,0.0144,,,,\nGated,params,0.02,,,,\n")
    (paper / "parameters.yaml").write_text(
        "vocabularies: [{like: base, source: 120, target: 80, origin: chosen}]\n"
    )
    return paper


def test_a_printed_count_is_next_to_ours(printed, call):
    answer = call("params", "sample")
    headings, static, gated = (re.split("  +", line) for line in answer.lines)
    assert headings[:3] == ["paper", "table", "cell"]
    assert static[2:5] == ["Static, params", "0.0144 M", f"{COUNT / 1e6:.3f} M"]
    assert (static[6], gated[3], gated[6]) == ("agrees", "0.02 M", "differs")
    assert answer.err == "2 printed counts: 1 agree, 1 differ\n"
    assert call("params", "--table", "sample_table1").out == answer.out
    assert "'sample_table1'" in call("params", "--table", "sample_tabel1").one_line


def test_the_page_begins_with_the_counts_that_need_no_training(printed, project, call):
    assert call("page").code == 0
    page = parsed((project / "results/small/sample.html").read_text(encoding="utf-8"))
    agree = "Judged without training: 1 of 2 printed parameter counts agree"
    assert f"{agree}; 1 is 28.0 % below the printed size (Table 1)." in page.all("header")[0].text


def test_a_count_without_sizes_is_skipped_and_a_finding_of_validate(printed, call):
    """One cell without sizes ended `fathom params` of every paper."""
    sizes = printed / "parameters.yaml"
    sizes.write_text(sizes.read_text().replace("base", "static_2_2"))
    where = "config/papers/sample/parameters.yaml:1: vocabularies"
    answer = call("params")
    assert len(answer.lines) == 2
    assert f"{where}: no sizes of dictionaries for sample/gated_2_2; add an entry" in answer.err
    assert where in call("validate").one_line
    sizes.unlink()
    assert "config/papers/sample/parameters.yaml: no sizes" in call("validate").err
