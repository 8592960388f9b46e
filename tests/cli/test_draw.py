"""`fathom table`, `figure`, `compare`, `claims`, `page`."""

import json
import re
import shutil
import webbrowser
from collections import Counter

import pytest

from fathom.artefacts.claims.view import NONE, NOT_EVIDENCE
from fathom.cli import draw, options
from fathom.io.errors import FathomError
from fathom.io.files import read_lines, write_text
from fathom.io.records import read_record, write_record
from fathom.results.tree import rows
from tests.support.html_page import check, parsed
from tests.support.own_project import PAPERS, own_project
from tests.support.refused import says
from tests.support.small_project import RUN


@pytest.fixture
def verbs_use_it(monkeypatch):
    """Let verbs take the project's own config rather than read and check it again."""
    project = own_project()
    monkeypatch.setattr(options, "open_project", lambda check=False: project)


@pytest.mark.usefixtures("verbs_use_it")
def test_missing_measurements_are_refused_and_nothing_is_written(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    with pytest.raises(FathomError, match="train with `fathom run latent_depth_table5"):
        draw.table("latent_depth_table5", scale="tiny", results=results)
    command = f"`fathom figure latent_depth_figure4 --scale tiny --results {results} --partial`"
    with pytest.raises(FathomError, match=re.escape(command)):
        draw.figure("latent_depth_figure4", scale="tiny", results=results)
    assert [*results.iterdir()] == []


@pytest.mark.usefixtures("verbs_use_it")
def test_partial_draws_what_exists(tmp_path, capsys):
    options = {"scale": "tiny", "results": tmp_path, "partial": True}
    draw.figure("latent_depth_figure6", **options)
    draw.table("latent_depth_table5", **options)
    written = {path.name for path in (tmp_path / "tiny/latent_depth").iterdir()}
    assert {name for name in written if name.startswith("table5")} == {
        *("table5.csv", "table5_seeds.csv", "table5.html", "table5.md", "table5.tex"),
    }
    assert {"figure6.csv", "figure6.pdf", "figure6.png"} <= written
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "table5.md" in printed.err
    shutil.rmtree(tmp_path / "tiny")
    draw.table("latent_depth_table5", show=True, **options)
    printed = capsys.readouterr().out
    assert [*tmp_path.iterdir()] == []
    assert {"6/6", "12/12"} <= {line.split(" ")[0] for line in printed.split("\n")}
    assert "not run" in printed


def test_a_table_of_which_one_file_cannot_be_written_is_not_drawn(project, call):
    """Its first files counted as the table, as on a full disk."""
    path = project / "results/small/sample/table1.md"
    path.mkdir(parents=True)
    line = call("table", "sample_table1", "--partial").one_line
    says(where="results/small/sample/table1.md", remedy="move what is in the way").check(line)
    assert path.with_suffix(".csv").exists()
    assert not json.loads(call("list", "tables", "--json").out)["sample_table1"]["drawn"]
    assert "sample: 0 of 1 tables" in call("status").out


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.usefixtures("verbs_use_it")
def test_show_prints_every_row_at_any_width(tmp_path, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    draw.table("latent_depth_table5", scale="tiny", results=tmp_path, partial=True, show=True)
    printed = capsys.readouterr().out.split("\n")
    assert all(len(line) <= width for line in printed)
    for row in ("6/6", "24/24 +layer drop", "LL-E, 36/12", "LL-Both, 24/24"):
        assert any(line.startswith(row) and "not run" in line for line in printed)
    assert any("27.73" in line and "40.8" in line for line in printed)
    assert any("19.9" in line for line in printed)
    assert not any("…" in line for line in printed)
    assert [*tmp_path.iterdir()] == []


def test_a_table_of_text_alone_has_no_curves(project, edit, call):
    """It ended in a traceback."""
    text = """\
table2:
  title: Text
  section: §2
  corpus: small
  columns: [tasks]
  rows: {pairs: pairs.train}
"""
    edit("papers/sample/tables.yaml", "table1:", f"{text}table1:")
    printed = project / "config/papers/sample/reported/table2.csv"
    printed.write_text(
        "row,column,value,stderr,mark,right,note\npairs,bos,9,,,,\npairs,kor,9,,,,\n"
    )
    line = call("figure", "sample_table2", "--curves").one_line
    assert "sample_table2: the table shows no runs" in line
    assert "`fathom table sample_table2 --scale small`" in line


def test_curves_of_a_tables_rows_are_files_beside_the_table_and_print_how_each_ended(
    own, summarised, call
):
    folder = own(summarised)
    lines = call("figure", "sample_table1", "--curves").lines
    assert [line.partition(": validation NLL ")[0] for line in lines] == ["Static", "Gated"]
    drawn = folder / "results/small/sample/table1_curves"
    points = rows(drawn.with_suffix(".csv"))
    assert [*points[0]] == ["label", "run", "seed", "series", "update", "nll"]
    assert {point["series"] for point in points} == {"nll.train", "nll.valid", "unigram"}
    assert len([point for point in points if point["series"] == "nll.train"]) == 8
    text = drawn.with_suffix(".svg").read_text(encoding="utf-8")
    assert all(f">{label}</text>" in text for label in ("Static", "Gated"))


def test_a_table_none_of_whose_rows_was_started_has_no_curves(project, call):
    line = call("figure", "sample_table1", "--curves").one_line
    remedy = "train with `fathom run sample_table1 --scale small`"
    says("no training of its runs", where="sample_table1 at scale small", remedy=remedy).check(line)


@pytest.mark.usefixtures("verbs_use_it")
def test_every_reported_cell_of_every_table_has_a_line(tmp_path, capsys):
    draw.compare(scale="paper", results=tmp_path)
    lines = [line for line in rows(tmp_path / "paper/compare.csv") if line["paper"] in PAPERS]
    assert len(lines) == 806
    assert len({(line["paper"], line["table"]) for line in lines}) == 22
    runs = [line for line in lines if "/" in line["run"]]
    sizes = [line["verdict"] for line in runs if line["verdict"] != "not run"]
    assert Counter(sizes) == {"reproduced": 55, "lower": 6}
    assert {line["reproduced"] for line in runs if line["verdict"] == "not run"} == {""}
    assert "not run" in capsys.readouterr().err
    written = sorted(path.name for path in (tmp_path / "paper").iterdir())
    assert written == ["compare.csv", "deviations.md"]


@pytest.mark.usefixtures("verbs_use_it")
def test_one_table_can_be_printed_alone_and_as_json(tmp_path, capsys):
    draw.compare(scale="tiny", results=tmp_path, table="latent_depth_table9", as_json=True)
    cells = json.loads(capsys.readouterr().out)
    assert {(cell["paper"], cell["table"]) for cell in cells} == {("latent_depth", "table9")}
    first = cells[0]
    assert (first["verdict"], first["reproduced"]) == ("not run", None)
    assert first["reported"]
    assert len({line["table"] for line in rows(tmp_path / "tiny/compare.csv")}) > 1


@pytest.mark.usefixtures("verbs_use_it")
def test_every_part_of_every_claim_has_a_line(tmp_path, capsys):
    draw.claims(scale="tiny", results=tmp_path)
    lines = [line for line in rows(tmp_path / "tiny/claims.csv") if line["paper"] in PAPERS]
    assert len(lines) == 86
    assert {line["answer"] for line in lines} == {"not run"}
    assert sorted(path.name for path in (tmp_path / "tiny").iterdir()) == ["claims.csv"]
    # What was not run is a line for each paper, unless it is asked for.
    printed = capsys.readouterr()
    first, *_, last = printed.out.splitlines()
    assert first == "lamgd: 22 parts of claims not run; `fathom claims lamgd` prints them"
    assert last == NOT_EVIDENCE
    assert len(printed.out.splitlines()) < 10
    assert "claims.csv" in printed.err
    draw.claims("latent_depth", scale="tiny", results=tmp_path)
    assert "latent_depth/depth_grows_with_beta" in capsys.readouterr().out
    draw.claims("latent_depth", scale="tiny", results=tmp_path, counts=True)
    assert "depth_grows_with_beta" not in capsys.readouterr().out


def test_a_study_without_claims_is_told_where_to_write_them(project, call):
    file = project / "config" / "papers" / "mine" / "study.yaml"
    write_text(file, "title: Mine\n")
    remedy = "write `claims:` in config/papers/mine/study.yaml (docs/claims.md)"
    says("no claims", where="mine", remedy=remedy).check(call("claims", "mine").one_line)
    assert not (project / "results").exists()


@pytest.mark.usefixtures("verbs_use_it")
def test_the_claims_of_one_paper_or_of_one_table_can_be_printed(tmp_path, capsys):
    draw.claims("lamgd", scale="tiny", results=tmp_path)
    named = re.findall(r"^(\w+)/\w+\b", capsys.readouterr().out, re.MULTILINE)
    assert {*named} == {"lamgd"}
    draw.claims(scale="tiny", results=tmp_path, table="lamgd_table6")
    printed = capsys.readouterr().out
    named = re.findall(r"^lamgd/(\w+)\b", printed, re.MULTILINE)
    assert "lamgd/sharing_grows_with_k: not run (paper's cells: holds)\n" in printed
    names = ["twelve_groups_share_three_quarters", "sharing_grows_with_k", "chosen_k_is_best"]
    assert named == names
    draw.claims(scale="tiny", results=tmp_path, table="lamgd_table1")
    assert capsys.readouterr().out == f"{NONE}\n"


HOSTILE = '<script>alert("&amp;")</script>'


def about_corpus(folder):
    """Return what `fathom prepare` records of the text of a corpus."""
    source = {"name": "django", "file": "django.whl", "licence": "BSD-3-Clause", "bytes": 10**6}
    tasks = {}
    for task in ("bos", "kor"):
        splits = {}
        for split in ("train", "valid", "test"):
            lines = len(read_lines(folder / task / f"{split}.eng"))
            splits[split] = {"pairs": lines, "words": {"eng": 3 * lines}}
        tasks[task] = {"languages": [task, "eng"], "dropped": {"fuzzy": 2}, "splits": splits}
    return {"sources": [source | {"sha256": "a" * 64}], "tasks": tasks}


def test_a_cell_leads_to_its_run_with_hashes_settings_and_logs(own, summarised, call):
    folder = own(summarised)
    (corpus,) = folder.glob("results/corpora/small-*/corpus.json")
    write_record(corpus, read_record(corpus) | about_corpus(corpus.parent))
    path = folder / "results/small/sample.html"
    texts = []
    for words in (("page",), ("page", "sample")):
        assert call(*words).code == 0
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]
    page = parsed(texts[0].decode())
    check(page)
    # Two rows of three printed columns and three of ours.
    cells = [cell for grid in page.all("table", "grid") for cell in grid.all("td")]
    assert len([cell for cell in cells if cell.all("a") or cell.all("div")]) == 12
    checked = [box for box in page.all("input") if "checked" in box.attributes]
    assert [box.attributes["id"] for box in checked] in ([], ["view-numbers"])  # it is judged
    assert "What ran 2 of 2 runs" in page.all("header")[0].text
    assert "BSD-3-Clause" in page.named("data").text
    details = page.all("aside")[0]
    # What both runs have is in a panel of its own.
    shown = " ".join(panel.text for panel in page.all("aside"))
    for part in ("seed 1", "last weights", "corpus", "encoded text", "code", "torch"):
        assert part in shown
    files = [link.attributes["href"] for link in details.all("a")]
    local = [address for address in files if not address.startswith("#")]
    assert local
    for address in local:
        assert (path.parent / address).exists()


def test_without_results_a_table_is_a_line_with_its_command_and_hours(project, call, monkeypatch):
    shown = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    answer = call("page", "--open")
    assert answer.code == 0
    assert "no browser was found here" in answer.err
    assert shown == [(project / "results/small/sample.html").as_uri()]
    page = parsed((project / "results/small/sample.html").read_text(encoding="utf-8"))
    check(page)
    assert page.all("table", "grid") == []
    line = page.named("table1").all("p", "making")[0].text
    assert re.fullmatch(
        r"2 trainings left, .+ as estimated for one h200: fathom run sample_table1 --scale .+", line
    )
    assert "What ran Nothing of 2 runs" in page.all("header")[0].text


def test_hours_are_measured_only_where_each_kind_of_network_was(own, summarised, call):
    """Those of networks that nobody had trained were called measured, since others were."""
    folder = own(summarised)
    (corpus,) = folder.glob("results/corpora/small-*/corpus.json")
    write_record(corpus, read_record(corpus) | about_corpus(corpus.parent))
    for folders in folder.glob("results/runs/sample/gated_*"):
        shutil.rmtree(folders)
    assert call("page").code == 0
    page = parsed((folder / "results/small/sample.html").read_text(encoding="utf-8"))
    line = page.named("table1").all("p", "making")[0].text
    assert re.match(r"1 training left, .+ as measured here: ", line)


def test_a_table_counts_the_decodings_of_its_cells_that_are_gone(own, summarised, call):
    folder = own(summarised)
    table = ("table", "sample_table1", "--partial")
    assert "are gone" not in call(*table).err
    (decoding,) = folder.glob(f"results/runs/sample/{RUN}-*/1/decodings/test.*")
    shutil.rmtree(decoding)
    assert "decodings of these cells that are gone: 1; their scores stay" in call(*table).err


def test_what_follows_a_table_is_its_runs_until_a_cell_has_a_number(project, own, summarised, call):
    table = ("table", "sample_table1", "--partial", "--show")
    assert "next: fathom run sample_table1 --scale small" in call(*table).err
    own(summarised)
    assert "next: fathom compare --table sample_table1 --scale small" in call(*table).err


def test_text_of_config_is_no_markup(project, edit, call):
    quoted = HOSTILE.replace('"', '\\"')
    edit("papers/sample/paper.yaml", "A Sample Paper", f'"{quoted}"')
    edit("papers/sample/tables.yaml", "A sample table", f'"{quoted}"')
    edit("papers/sample/tables.yaml", "Static:", f'"{quoted}":')
    edit("papers/sample/figures.yaml", "less: Static", f'less: "{quoted}"')
    edit("datasets/small.yaml", "Invented words", f'"{quoted}"')
    edit("scales/small.yaml", "small: for tests", quoted)
    path = project / "config/papers/sample/reported/table1.csv"
    row = '"' + HOSTILE.replace('"', '""') + '"'
    path.write_text(path.read_text(encoding="utf-8").replace("Static", row), encoding="utf-8")
    answer = call("page")
    assert answer.code == 0, answer.err
    page = parsed((project / "results/small/sample.html").read_text(encoding="utf-8"))
    check(page)
    assert len(page.all("script")) == 1
    assert page.all("h1")[0].text == HOSTILE


MISTAKES = {
    "tables.yaml": "table1: {}\n",
    "claims.yaml": "- 1\n",
    "figures.yaml": "figure1: {}\n",
    "runs.yaml": "runs: {a: {model: {width: 0}}}\n",
}
CLAIM = """\
korean_wins: {sentence: Korean wins, section: §4, supports: holds,
  claim: 'table1["Static", "kor"] > table1["Static", "bos"]'}
"""
# What asks about one paper; and the files of another that what it writes needs, too.
QUESTIONS = {
    "compare --table sample_table1": ["tables.yaml"],
    "claims sample": ["claims.yaml", "figures.yaml"],
    "claims --table sample_table1": ["claims.yaml", "figures.yaml"],
    "page sample": [],
    "plan sample_table1": [],
    "plan sample": [],
    "status sample": [],
}


@pytest.mark.parametrize("file", MISTAKES)
def test_a_mistake_in_another_paper_stops_no_question_about_one(project, call, file):
    (project / "config/papers/sample/claims.yaml").write_text(CLAIM, encoding="utf-8")
    before = {words: call(*words.split()) for words in QUESTIONS}
    written = {path: path.read_bytes() for path in project.glob("results/small/*.*")}
    other = project / "config/papers/another"
    other.mkdir()
    shutil.copy(project / "config/papers/sample/paper.yaml", other)
    (other / file).write_text(MISTAKES[file], encoding="utf-8")
    for words, needed in QUESTIONS.items():
        answer = call(*words.split())
        assert (before[words].code, answer.code) == (0, 0)
        # Other programs fill the disk meanwhile.
        out, same = (re.sub(r"\S+ GB free", "", each.out) for each in (answer, before[words]))
        assert out == same
        said = f".csv stays as it is, since it has all papers: config/papers/another/{file}:1"
        assert (said in answer.err) == (file in needed), words
        if file in needed:
            assert {path: path.read_bytes() for path in written} == written
