"""The page of a paper: each part of it, and the whole page of the project's own papers."""

import hashlib
import os
from base64 import b64decode, b64encode
from dataclasses import replace
from types import SimpleNamespace

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.claims.truths import Evidence
from fathom.artefacts.page.data import data_of
from fathom.artefacts.page.page import (
    bibtex,
    head,
    link,
    page,
    page_figures,
    software,
    table_curves,
)
from fathom.artefacts.page.runs import ASSUMPTION, TrainingCost, costs, runs_of
from fathom.artefacts.page.tables import PageTable, details, minus, spoken
from fathom.artefacts.page.trains import trainability
from fathom.artefacts.rendering import FOLDER, environment
from fathom.artefacts.table.comparison import compare_table
from fathom.config.paths import Paths
from fathom.io.records import hashes, read_record, write_record
from fathom.results.measurements import Number, Record
from fathom.results.training_record import TrainingRecord, restore_measured
from tests.support.html_page import check, parsed
from tests.support.own_project import PAPERS, own_project
from tests.support.refused import refused
from tests.support.run_files import training, write_training
from tests.support.small_tables import KNOWN, reported, scores, table, typical

PRINTED = (
    reported("6/6", "avg", "29.5"),
    reported("6/6", "bos", "22", stderr="0.1"),
    reported("6/6", "fra", "38.0", mark="bold"),
    reported("6/6", "params", "224", right="66.3"),
    reported("24/24", "avg", note="diverged"),
    reported("24/24", "params", "90"),
    reported("LL-D, 6/12", "bos", note="diverged"),
)
CPU = {"type": "cpu", "name": "x86_64", "threads": 2}
GPU = {
    "type": "cuda", "name": "NVIDIA H200", "threads": None, "products": {"precision": "high"},
}  # fmt: skip


@pytest.fixture
def compare(tmp_path):
    """A function that compares a small table, with the paper's settings or without."""

    def compared(comparable=True):
        spec = table(tmp_path)
        sources = typical(tmp_path / "results", comparable).sources
        return compare_table(spec, KNOWN.cells(spec), PRINTED, sources, "paper")

    return compared


@pytest.fixture
def lay_out(compare):
    """A function that lays the same table out for the page."""

    def laid_out(comparable=True):
        nats = {"p/small": 1.5, "p/deep": None, "p/gated": -0.1, "p/control": None}
        runs = {
            name: SimpleNamespace(below_unigram=value, words="diverged")
            for name, value in nats.items()
        }
        return PageTable(compare(comparable), runs)

    return laid_out


@pytest.fixture
def lines_of(lay_out):
    """A function that returns the details of a cell by name."""

    def lines(row, column, comparable=True):
        shown = lay_out(comparable)
        cell = next(
            cell for cell in shown.cells if cell.row == row and cell.column.startswith(column)
        )
        return {line.name: line for line in details(cell, shown.compared, "small: half of all")}

    return lines


@pytest.fixture
def artefacts(tmp_path):
    """The project's artefacts, without results."""
    return Artefacts(own_project(), Paths(tmp_path, "tiny"))


def paper_runs(artefacts, paper, *names):
    """Return the runs of some tables of a paper, and of its figures."""
    paper = own_project().papers[paper]
    tables = {name: artefacts.compared(paper, paper.tables[name]) for name in names}
    return runs_of(artefacts, paper, tables)


def test_a_cell_can_be_read_aloud(lay_out):
    shown = {(cell.row, cell.column): cell for cell in lay_out().cells}
    assert (minus("-1.5"), minus("-residuals")) == ("\u22121.5", "-residuals")
    text = spoken(shown["6/6", "Avg."])
    assert text == "6/6, Avg.: ours 29.5 ±0.5, reported 29.5, reproduced"


def test_a_score_of_a_task_has_the_share_in_the_right_language_beside_it(tmp_path):
    results, spec = typical(tmp_path / "results"), table(tmp_path)
    shares = Record(tasks={"bos": Number(value=0.25), "fra": Number(value=1.0)})
    records = {"bleu.test.plain.13a": scores(20.0, 38.0), "right_language.test.plain": shares}
    results.write("p/small", records)
    results.write("p/small", records, 2)
    shown = PageTable(compare_table(spec, KNOWN.cells(spec), (), results.sources, "paper"), {})
    row = [shown.right_language(cell) for cell in shown.cells if cell.row == "6/6"]
    assert [*filter(None, row)] == ["25%", "100%"]


def test_a_table_is_judged_only_with_the_papers_settings(lay_out):
    assert any(cell.sign.judged for cell in lay_out().cells if cell.sign)
    small = lay_out(comparable=False)
    assert {cell.sign.words for cell in small.cells if cell.sign} == {"not judged"}
    assert not any(cell.difference for cell in small.cells)


def test_where_nothing_is_judged_rows_say_how_much_they_learned_or_how_they_ended(lay_out):
    small = lay_out(comparable=False)
    first, added = small.blocks
    learned = {row[0].row: small.learned(row) for row in first.cells}
    shown = {name: (parts["nats"], parts["share"]) for name, parts in learned.items()}
    assert shown["6/6"] == (["1.50"], "100")
    assert shown["LL-D, 6/12"] == (["\u22120.10"], "0")
    assert (shown["24/24"], learned["24/24"]["words"]) == (([], "0"), "diverged")
    assert small.shows_learned(first)
    assert not small.shows_learned(added)
    assert not lay_out().shows_learned(lay_out().blocks[0])


def test_numbers_intervals_and_seeds_are_given_with_their_files(lines_of):
    lines = lines_of("6/6", "bos")
    assert lines["Value"].text == "20.5, BLEU, mean of 2 seeds"
    assert lines["95 % interval"].text.startswith("19.5 to 21.5")
    assert lines["Standard error"].text == "0.5 over seeds"
    assert lines["Seed 1"].text == "20"
    assert lines["Seed 2"].file.is_file()
    assert lines["Computed"].text.startswith("nrefs:1")
    assert lines["Measurement"].text == "bleu.test.plain.13a"


def test_details_say_what_a_reader_must_know_of_the_comparison(lines_of):
    assert lines_of("6/6", "Avg")["Difference"].text.startswith("0.0; up to ")
    assert lines_of("6/6", "Params")["Misprint"].text == "printed 224, must mean 66.3"
    assert "small: half of all" in lines_of("6/6", "Avg", comparable=False)["Why"].text
    assert lines_of("Control *", "Avg")["Reported"].text == "not in the paper"


def test_the_head_counts_runs_cells_and_claims(compare):
    runs = {}
    for name, ended, nats in (("a", 1, 0.5), ("b", 2, -0.5), ("c", 1, 1.5), ("d", 0, None)):
        dates = [{"end": f"2026-01-0{day}T00:00:00+00:00"} for day in range(1, ended + 1)]
        files = [SimpleNamespace(file=SimpleNamespace(attempts=[date])) for date in dates]
        runs[name] = SimpleNamespace(ended=files, below_unigram=nats, learned=(nats or 0) > 0)
    answers = [SimpleNamespace(answer="holds", reported_answer="fails", reading="printed")] * 2
    answers.append(SimpleNamespace(answer="holds", reported_answer="not printed", reading="ours"))
    listed = [TrainingCost("x", "cpu", 4, 2.0, 9, 1.0)]
    top = head({"table1": compare()}, runs, listed, answers)
    assert [top[name] for name in ("runs", "ended", "trainings", "hours")] == [4, 3, 4, 2.0]
    assert (top["learned"], top["nats"], top["last"]) == (2, [-0.5, 1.5], "2026-01-02")
    assert (top["cells"], top["judged"]) == (7, 7)
    assert [*top["claims"].values()] == [3]
    counts = [(sign.words, count) for sign, count in top["printed_claims"].items()]
    assert counts == [("fails", 2)]
    assert [sign.words for sign in top["our_readings"]] == ["not printed"]


def test_a_paper_is_cited_with_all_fields_and_the_reproduction_with_its_commits():
    for paper in own_project().papers.values():
        entry = bibtex(paper.about)
        assert entry.startswith(f"@{paper.about.citation.type}{{{paper.about.citation.key},")
        assert entry.endswith("\n}")
        assert f"{{{{{paper.about.title}}}}}" in entry
        assert " and ".join(paper.about.authors) in entry
        assert entry.count("{") == entry.count("}")
    files = [SimpleNamespace(file=SimpleNamespace(commit=name)) for name in ("a" * 40, "a" * 40)]
    cited = software("tiny", [SimpleNamespace(ended=files)])
    assert cited.endswith(f"scale tiny, trained by commit {'a' * 12}")
    assert "commit" not in software("tiny", [])


FACT = Evidence("table “a” 3 > 2", "holds")
CLAIM = Judged(
    paper="p",
    name="deeper_is_better",
    part="de",
    sentence="Deeper is <better>",
    section="§4",
    expression='t["a", "x"] > t["b", "x"]',
    guard="",
    scale="tiny",
    answer="holds",
    evidence=(FACT,),
    comparable=True,
    reported_answer="not printed",
    reported_evidence=(),
    artefacts=("t",),
)


def test_parts_of_a_claim_are_one_row_and_other_scales_are_no_evidence(artefacts):
    """Of many numbers the first are shown, and the others counted."""
    fails = replace(CLAIM, part="cs", answer="fails", reported_answer="holds", guard="trained(t)")
    small = replace(CLAIM, name="wider_is_better", part="", evidence=(FACT,) * 15)
    small = replace(small, note="twice the <data>")
    claims = [CLAIM, fails, replace(small, comparable=False)]
    document = parsed(page(artefacts, own_project().papers["lamgd"], {}, claims))
    first, second = (document.named(f"claim-{name}") for name in (CLAIM.name, small.name))
    ours, printed = first.all("td")
    assert [chip.text for chip in ours.all("span", "chip")] == ["● 1 holds", "✕ 1 fails"]
    assert [chip.text for chip in printed.all("span", "chip")] == ["● 1 holds", "○ 1 not printed"]
    assert first.all("span", "hollow") == []
    assert [len(side.all("span", "hollow")) for side in second.all("td")] == [1, 0]
    assert ("goes against" in first.text, "goes against" in second.text) == (True, False)
    assert [part.text for part in ours.all("b")] == ["de", "cs"]
    assert "Deeper is <better>" in first.text
    assert ("twice" in first.text, "twice the <data>" in second.text) == (False, True)
    assert first.all("code")[1].text.endswith(", if trained(t)")
    numbers = [item.text for item in second.all("td")[0].all("ul")[1].all("li")]
    assert (len(numbers), numbers[0], numbers[-1]) == (13, FACT.text, "and 3 more")


def test_only_what_a_sentence_says_is_said_to_fail_on_the_papers_own_cells(artefacts):
    part = replace(CLAIM, reported_answer="fails", answer="fails")
    whole = "Deeper is better, and wider too."
    read = replace(part, part="cs", reading="ours")
    alone = replace(read, name="wider", part="", context=whole)
    document = parsed(page(artefacts, own_project().papers["lamgd"], {}, [part, read, alone]))
    both, one = (document.named(f"claim-{name}") for name in (CLAIM.name, "wider"))
    chips = "✕ fails our reading: ✕ fails"
    assert " ".join(both.all("td")[1].text.split()).startswith(chips)
    assert [text in both.text for text in ("against the sentence", "against our reading")] == [1, 1]
    assert " ".join(one.all("td")[1].text.split()).startswith("our reading: ✕ fails")
    assert [text in one.text for text in ("against the sentence", "against our reading")] == [0, 1]
    assert (whole in one.text, "In full" in both.text) == (True, False)
    assert "our readings of them" in document.all("header")[0].text


def test_what_trained_says_at_which_size_and_what_must_not_be_concluded(artefacts):
    paper, paths = own_project().papers["latent_depth"], artefacts.paths
    for run, kind in (("24_12", "finished"), ("24_24", "diverged")):
        spec = own_project().spec(f"latent_depth/m2o_diverse_{run}", "tiny")
        folder = paths.run(spec, 1)
        content = training(kind, spec.data.tasks, files={})
        write_record(folder / "training.json", content)
        restore_measured(folder / "training.json", spec, 1)
    rows = 'trained(table5["24/12"]) and failed(table5["24/24"]) and trained(table5["LL-D, 24/24"])'
    claims = [CLAIM, replace(CLAIM, name="static_diverges", expression=rows, comparable=False)]
    compared = {"table5": artefacts.compared(paper, paper.tables["table5"])}
    document = parsed(page(artefacts, paper, compared, claims))
    check(document)
    assert [part.attributes["id"] for part in document.named("trains").all("section")] == [
        "trains-static_diverges"
    ]
    shown = document.named("trains-static_diverges")
    lines = [[cell.text for cell in row.all("td")] for row in shown.all("tr")[1:]]
    labels = [cell.text for row in shown.all("tr")[1:] for cell in row.all("th")]
    assert labels == [
        f"Table 5: {name}"
        for name in ("24/12 (here 6/3)", "24/24 (here 6/6)", "LL-D, 24/24 (here 6/6)")
    ]
    assert lines[0] == ["trained", "1 trained of 1", "1.56", "6/3", "64", "5", "0.00025", "fp32"]
    assert lines[1][:2] == ["diverged", "1 diverged of 1"]
    assert lines[2][1] == "not run"
    for words in (
        "that a cell of the paper is reproduced or refuted",
        "beyond depth 6/3, width 64, updates 5, learning rate 0.00025, precision fp32",
        "anything from one seed (Table 5: 24/12 (here 6/3); Table 5: 24/24 (here 6/6))",
    ):
        assert words in shown.text


def test_a_claim_whose_runs_have_not_ended_says_so_alone(artefacts):
    paper = own_project().papers["latent_depth"]
    tables = {"table5": artefacts.compared(paper, paper.tables["table5"])}
    runs = runs_of(artefacts, paper, tables)
    claim = replace(CLAIM, expression='failed(table5[["24/24", "24/12"]])')
    shown = [PageTable(table, runs) for table in tables.values()]
    (asked,) = trainability([CLAIM, claim], shown)
    assert [run.short_name for run in asked.runs.values()] == [
        "m2o_diverse_24_12",
        "m2o_diverse_24_24",
    ]
    assert (asked.ended, [*asked.not_concluded]) == ((), [])
    check(document := parsed(page(artefacts, paper, tables, [claim])))
    assert "0 of 2 runs have ended here." in document.named("trains").text


def test_a_run_has_what_a_scale_changes_and_its_deviations_also_in_a_figure_alone(artefacts):
    runs = paper_runs(artefacts, "lamgd", "table3")
    for run in runs.values():
        assert (run.ended, run.below_unigram, run.learned) == ((), None, False)
        assert run.words == "not run"
        changed = {setting.path for setting in run.differing}
        assert {"model.width", "data.dataset", "training.updates"} <= changed
        assert run.deviations
    of_figures = paper_runs(artefacts, "lamgd")
    assert set(of_figures) < set(paper_runs(artefacts, *("lamgd", "table3", "table4")))


def test_a_trained_run_has_nats_below_the_baseline_and_its_logs(artefacts):
    paper = own_project().papers["lamgd"]
    tables = {"table3": artefacts.compared(paper, paper.tables["table3"])}
    name = next(iter(runs_of(artefacts, paper, tables)))
    spec, paths = own_project().spec(name, "tiny"), artefacts.paths
    write_training(spec, paths)
    log = paths.training(spec, 1).with_name("train.log")
    jobs = paths.results / "logs" / "train_run" / spec.paper
    jobs.mkdir(parents=True)
    log.touch()
    for seed in (1, 11):
        (jobs / f"{spec.folder}.{seed}.log").touch()
    run = runs_of(artefacts, paper, tables)[name]
    assert run.below_unigram == pytest.approx(6.06 - 4.5)
    assert run.learned
    assert run.trainings[0].logs == (log, jobs / f"{spec.folder}.1.log")


def timed(*devices, seconds=1800.0):
    """Return a training of half an hour on each device."""
    totals = SimpleNamespace(seconds=seconds, target_tokens=1000)
    files = (TrainingRecord.model_construct(device=of, totals=totals) for of in devices)
    return [SimpleNamespace(file=file) for file in files]


def test_trainings_of_each_device_have_hours_tokens_and_energy():
    sums = {
        cost.device: (cost.name, cost.trainings, cost.hours)
        for cost in costs(timed(CPU, GPU, GPU, CPU))
    }
    assert sums == {
        "x86_64, 2 threads": ("x86_64, 2 threads", 2, 1.0),
        "NVIDIA H200, TF32": ("NVIDIA H200, TF32", 2, 1.0),
    }
    (cost,) = costs(timed(CPU, CPU), "a")
    assert (cost.name, cost.device, cost.trainings) == ("a", "x86_64, 2 threads", 2)
    assert (cost.hours, cost.tokens, cost.pace) == (1.0, 2000, 2000 / 3600)
    assert cost.watt_hours == pytest.approx(2 * 8 * 1.2)


def test_a_gpu_takes_the_power_of_its_data_sheet_and_all_that_share_a_training_count():
    (listed,) = costs(timed(GPU, seconds=3600))
    (unlisted,) = costs(timed(GPU | {"name": "Other"}, seconds=3600))
    assert listed.watt_hours == pytest.approx(700 * 1.2)
    assert unlisted.watt_hours == pytest.approx(400 * 1.2)
    (four,) = costs(timed(GPU | {"count": 4}, seconds=3600))
    assert (four.hours, four.watt_hours) == (4, pytest.approx(4 * listed.watt_hours))
    assert all(number in ASSUMPTION for number in ("8 W", "H200 700 W", "400 W", "1.2"))


TRANSPARENT = "transparent_attention"


def data(results):
    """Return the data of one run at tiny scale."""
    artefacts = Artefacts(own_project(), Paths(results, "tiny"))
    runs = dict.fromkeys([f"{TRANSPARENT}/en_de_transformer_plain_6"])
    (item,) = data_of(artefacts, own_project().papers[TRANSPARENT], runs)
    return item


@pytest.fixture
def prepared(tmp_path):
    """A corpus of four lines in the place of the run's."""
    folder = data(tmp_path)["folder"]
    text = {
        "train": (["eins", "zwei", "drei"], ["one", "two", "three"]),
        "valid": (["vier"], ["four"]),
        "test": (["eins", "zwei"], ["one", "another"]),
    }
    for split, sides in text.items():
        for language, lines in zip(("deu", "eng"), sides, strict=True):
            path = folder / "deu" / f"{split}.{language}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    splits = {split: {"pairs": len(sides[0]), "words": {}} for split, sides in text.items()}
    task = {"languages": ["deu", "eng"], "dropped": {"no_letter": 1200}, "splits": splits}
    source = {"name": "a", "file": "a.gz", "licence": "MIT", "bytes": 9, "sha256": "a" * 64}
    content = {"files": hashes(folder, "*/*.*"), "sources": [source], "tasks": {"deu": task}}
    write_record(folder / "corpus.json", content)
    return folder


def test_data_that_is_not_prepared_says_what_it_replaces(tmp_path):
    item = data(tmp_path)
    assert item["dataset"].name != item["replaces"] != ""
    assert (item["tasks"], item["sides"]) == ([], [])


def test_test_lines_that_training_has_are_counted_by_side_and_as_pairs(tmp_path, prepared):
    item = data(tmp_path)
    (task,) = item["tasks"]
    assert task["counts"] == {"train": 3, "valid": 1, "test": 2}
    assert task["shared"] == {"deu": 2, "eng": 1, "both sides": 1}
    assert item["sides"] == ["deu", "eng", "both sides"]
    shown = environment(autoescape=True).get_template("data.html")
    text = shown.render(data=[item], link=str, inside=str)
    assert "<td>2 (100.0%)</td>" in text
    assert '<abbr title="no letter 1,200">1,200</abbr>' in text
    (prepared / "deu/train.eng").unlink()
    without_text = data(tmp_path)
    assert (without_text["tasks"][0]["counts"]["test"], without_text["sides"]) == (2, [])
    os.mkfifo(prepared / "deu/train.eng")
    with refused("not a file", where="train.eng", remedy="fathom prepare"):
        data(tmp_path)


@pytest.mark.parametrize(
    ("section", "key"), [((), "sources"), (("tasks", "deu"), "dropped"), (("sources", 0), "bytes")]
)
def test_a_corpus_that_lacks_a_key_is_refused_with_file_and_key(tmp_path, prepared, section, key):
    """It was a traceback."""
    path = prepared / "corpus.json"
    content = read_record(path)
    part = content
    for name in section:
        part = part[name]
    del part[key]
    write_record(path, content)
    with refused(f"no key '{key}'", where="corpus.json", remedy="fathom prepare"):
        data(tmp_path)


def figures(artefacts):
    paper = own_project().papers[TRANSPARENT]
    runs = runs_of(artefacts, paper, {})
    return {figure["spec"].name: figure for figure in page_figures(artefacts, paper, runs)}


def test_a_figure_is_a_png_inside_the_page_and_names_what_was_not_trained(artefacts):
    assert all(
        figure["picture"] == "" and figure["missing"] for figure in figures(artefacts).values()
    )
    name = f"{TRANSPARENT}/{own_project().papers[TRANSPARENT].figures['figure1'].settings.runs[0]}"
    spec, paths = own_project().spec(name, "tiny"), artefacts.paths
    write_training(spec, paths)
    (paths.training(spec, 1).parent / "metrics.tsv").unlink()
    drawn = figures(artefacts)["figure1"]
    assert drawn["csv"] is None
    assert b64decode(drawn["picture"]).startswith(b"\x89PNG")
    assert name.rpartition("/")[2] not in drawn["missing"]


def test_a_run_has_its_curves_in_the_first_table_that_shows_it(lay_out, compare):
    sources = compare().sources
    runs = {name: SimpleNamespace(source=source) for name, source in sources.items()}
    first, second = table_curves([lay_out(), lay_out()], runs)
    assert first["elsewhere"] == []
    assert second["elsewhere"] == ["6/6", "24/24", "LL-D, 6/12", "Control"]
    assert second["pictures"] == []


@pytest.fixture(scope="module", params=PAPERS)
def made(request, tmp_path_factory):
    """The paper, its compared tables and its page."""
    artefacts = Artefacts(own_project(), Paths(tmp_path_factory.mktemp("results"), "tiny"))
    paper = own_project().papers[request.param]
    tables = {name: artefacts.compared(paper, table) for name, table in paper.tables.items()}
    return paper, tables, parsed(page(artefacts, paper, tables, ()))


def test_the_page_loads_nothing_and_has_all_parts_of_the_paper_in_its_order(made):
    paper, _, document = made
    check(document)
    names = [part.attributes.get("id") for part in document.all("section", "artefact")]
    assert [name for name in names if name] == [*paper.tables, *paper.figures]
    summary = document.named("summary").text
    assert paper.about.summary.easy
    assert paper.about.summary.hard
    for text in (*paper.about.summary.easy, *paper.about.summary.hard):
        assert " ".join(text.split()) in summary
    assert len(document.named("deviations").all("details")) == len(paper.deviations)
    assert paper.about.citation.key in document.named("cite").text


def test_tables_of_which_nothing_is_judged_are_folded_below_a_line(made):
    _, tables, document = made
    for name, compared in tables.items():
        (folded,) = document.named(name).all("details", "folded")
        line = folded.all("summary")[0].text
        assert line.startswith("Nothing is judged at scale tiny: ")
        printed = sum(item.verdict is not None for item in compared.cells)
        assert f"printed cells: {printed or 'none'}" in line
        assert folded.all("table", "grid")


def test_every_cell_of_every_table_is_a_link_to_its_details(made):
    _, tables, document = made
    cells = [anchor for cell in document.all("td", "cell") for anchor in cell.all("a")]
    links = [anchor.attributes["href"][1:] for anchor in cells]
    articles = {part.attributes["id"]: part for part in document.all("article")}
    assert sorted(links) == sorted(articles)
    printed = [item for table in tables.values() for item in table.cells if item.reported]
    assert len(links) >= len(printed)
    assert all(article.all("tr") for article in articles.values())


def test_links_lead_from_the_page_to_the_results(tmp_path):
    home, file = tmp_path / "results/tiny", tmp_path / "results/runs/p/a run-1234/train.log"
    assert link(file, home) == "../runs/p/a%20run-1234/train.log"


def test_a_page_lets_in_its_own_script_and_nothing_else():
    for name, text in (
        ("page.html", "{% set script %}{% include 'page.js' %}{% endset %}"),
        ("plain_page.html", ""),
    ):
        source = (FOLDER / name).read_text(encoding="utf-8")
        (line,) = [line for line in source.split("\n") if "Content-Security-Policy" in line]
        policy = environment(autoescape=True).from_string(text + line).render()
        assert "default-src 'none'" in policy
        script = (FOLDER / "page.js").read_text(encoding="utf-8")
        digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert (f"script-src 'sha256-{digest}'" in policy) == (name == "page.html")
        assert ("<script>{{ script }}</script>" in source) == (name == "page.html")
