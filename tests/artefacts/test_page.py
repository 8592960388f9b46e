"""The page of a paper: each part of it, and the whole page of the project's own papers."""

import os
import random
import re
import shutil
from base64 import b64decode
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.judged import judged
from fathom.artefacts.figures.drawing import Pictures
from fathom.artefacts.page.data import data_of
from fathom.artefacts.page.page import bibtex, head, link, page, page_figures, software
from fathom.artefacts.page.runs import (
    PageRun,
    TrainingCost,
    costs,
    runs_of,
    shared_deviations,
    usual_facts,
)
from fathom.artefacts.page.tables import Gain, PageTable, point
from fathom.artefacts.rendering import FOLDER, environment
from fathom.artefacts.table.comparison import Against
from fathom.config.measurement_keys import file_of, made_by, words_of
from fathom.config.paths import Paths
from fathom.io.files import write_text
from fathom.io.records import hashes, read_record, write_record
from fathom.results.measurements import Measurements, Number, Record, write
from fathom.results.recipe import RECIPE
from fathom.results.training_record import TrainingRecord, restore_measured
from tests.artefacts.claim_numbers import CLAIM, FACT
from tests.support.browser import measured, needs_chromium
from tests.support.html_page import check, parsed
from tests.support.own_project import PAPERS, own_project
from tests.support.refused import refused
from tests.support.run_files import training, write_training
from tests.support.small_tables import compared, reported, scores, typical
from tests.support.specs import small_spec

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


def compare(folder, comparable=True):
    """Compare a small table, with the paper's settings or without."""
    return compared(typical(folder, comparable), printed=PRINTED, scale="paper")


def lay_out(folder, comparable=True):
    """Lay the same table out for the page."""
    nats = {"p/small": 1.5, "p/deep": None, "p/gated": -0.1, "p/control": None}
    runs = {
        name: SimpleNamespace(below_unigram=value, words="diverged", ended=(1,), spec=small_spec())
        for name, value in nats.items()
    }
    return PageTable(compare(folder, comparable), runs)


def details_of(folder, row, column, comparable=True):
    """Return the details of a cell."""
    shown = lay_out(folder, comparable)
    cells = (cell for cell in shown.cells if cell.row == row)
    return shown.details(next(cell for cell in cells if cell.column.startswith(column)))


@pytest.fixture
def artefacts(tmp_path):
    """The project's artefacts, without results."""
    return Artefacts(own_project(), Paths(tmp_path, "tiny"))


def paper_runs(artefacts, paper, *names):
    """Return the runs of some tables of a paper, and of its figures."""
    paper = own_project().papers[paper]
    tables = {name: artefacts.compared(paper, paper.tables[name]) for name in names}
    return runs_of(artefacts, paper, tables)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("12.0", ("12", ".0", "")),
        ("-1,234", ("\u22121,234", "", "")),
        ("38 (+0.3)", ("38", "", " (+0.3)")),
        ("3.37 ⇄", ("3", ".37", " ⇄")),
        ("diverged", ("", "", "diverged")),
    ],
)
def test_numbers_are_cut_at_their_decimal_point(text, parts):
    assert point(text) == parts


def test_a_score_of_a_task_has_the_share_in_the_right_language_beside_it(tmp_path):
    results = typical(tmp_path / "results")
    shares = Record(tasks={"bos": Number(value=0.25), "fra": Number(value=1.0)})
    records = {"bleu.test.plain.13a": scores(20.0, 38.0), "right_language.test.plain": shares}
    results.write("p/small", records)
    results.write("p/small", records, 2)
    shown = PageTable(compared(results, scale="paper"), {})
    row = [shown.right_language(cell) for cell in shown.cells if cell.row == "6/6"]
    assert [*filter(None, row)] == ["25%", "100%"]


def test_a_table_is_judged_only_with_the_papers_settings(tmp_path):
    assert any(cell.sign.judged for cell in lay_out(tmp_path).cells if cell.sign)
    small = lay_out(tmp_path, comparable=False)
    assert {cell.sign.words for cell in small.cells if cell.sign} == {"not judged"}
    assert not any(cell.difference for cell in small.cells)


def test_where_nothing_is_judged_rows_say_how_much_they_learned_or_how_they_ended(tmp_path):
    small = lay_out(tmp_path, comparable=False)
    first, added = small.blocks
    learned = {row[0].row: small.learned(row) for row in first.cells}
    shown = {name: (parts["nats"], parts["share"]) for name, parts in learned.items()}
    assert shown["6/6"] == (["1.50"], "100")
    assert shown["LL-D, 6/12"] == (["\u22120.10"], "0")
    assert (shown["24/24"], learned["24/24"]["words"]) == (([], "0"), "diverged")
    assert small.shows_learned(first)
    assert not small.shows_learned(added)
    assert not lay_out(tmp_path).shows_learned(lay_out(tmp_path).blocks[0])


def test_details_have_digits_intervals_and_the_number_of_each_seed(tmp_path):
    facts = details_of(tmp_path, "6/6", "bos")
    assert "20.5 BLEU ±0.5 [19.5, 21.5], seeds 20, 21; paper 22 ±0.1" in facts
    assert "paper diverged" in details_of(tmp_path, "24/24", "Avg")
    assert "[ ] in details of a cell: 95 % over test sentences." in lay_out(tmp_path).notes


def test_details_say_what_a_reader_must_know_of_the_comparison(tmp_path):
    assert "0.0 to the paper's; up to " in details_of(tmp_path, "6/6", "Avg")
    assert "misprint: printed 224, must mean 66.3" in details_of(tmp_path, "6/6", "Params")
    assert "is reproduced" not in details_of(tmp_path, "6/6", "Avg", comparable=False)


def test_the_size_of_a_network_has_details_where_it_was_compared(tmp_path):
    """Of a network that is not the paper's, they would say what the cell says."""
    rows = {}
    for comparable in (True, False):
        table = lay_out(tmp_path, comparable)
        sizes = [cell for cell in table.cells if cell.column.startswith("Params")]
        rows[comparable] = [cell.row for cell in sizes if table.has_details(cell)]
    assert rows == {True: ["6/6", "24/24"], False: ["6/6"]}  # of which one is a misprint


def test_the_head_counts_runs_cells_and_claims(tmp_path):
    runs = {}
    for name, ended, nats in (("a", 1, 0.5), ("b", 2, -0.5), ("c", 1, 1.5), ("d", 0, None)):
        dates = [{"end": f"2026-01-0{day}T00:00:00+00:00"} for day in range(1, ended + 1)]
        files = [SimpleNamespace(file=SimpleNamespace(attempts=[date])) for date in dates]
        runs[name] = SimpleNamespace(ended=files, below_unigram=nats, learned=(nats or 0) > 0)
    answers = [SimpleNamespace(answer="holds")] * 3
    listed = [TrainingCost("cpu", 4, 2.0, 9)]
    top = head({"table1": compare(tmp_path)}, runs, listed, answers)
    assert [top[name] for name in ("runs", "ended", "trainings", "hours")] == [4, 3, 4, 2.0]
    assert (top["learned"], top["nats"], top["last"]) == (2, [0.5, 1.5], "2026-01-02")
    assert (top["cells"], top["judged"]) == (7, 7)
    assert (top["failed"], top["trained"]) == (2, 1)
    assert [*top["claims"].values()] == [3]


def test_a_paper_is_cited_with_all_fields_and_the_reproduction_with_its_commits():
    for paper in own_project().papers.values():
        entry = bibtex(paper.about)
        assert entry.startswith(f"@{paper.about.citation.type}{{{paper.about.citation.key},")
        assert entry.endswith("\n}")
        assert f"{{{{{paper.about.title}}}}}" in entry
        assert " and ".join(paper.about.authors) in entry
        assert entry.count("{") == entry.count("}")
    files = [
        SimpleNamespace(file=SimpleNamespace(commit_words=name)) for name in ("a" * 8, "a" * 8)
    ]
    cited = software("tiny", [SimpleNamespace(ended=files)])
    assert cited.endswith(f"scale tiny, trained by commit {'a' * 8}")
    assert "commit" not in software("tiny", [])


BARE = replace(FACT, basis="")
FULL = replace(CLAIM, comparable=True, evidence=(BARE,), reported_evidence=())


def test_parts_of_a_claim_are_one_row_and_other_scales_are_no_evidence(artefacts):
    """Of many numbers the first are shown, and the others counted."""
    fails = replace(FULL, part="cs", answer="fails", reported_answer="holds", guard="trained(t)")
    small = replace(FULL, name="wider_is_better", part="", evidence=(BARE,) * 15, comparable=False)
    claims = [FULL, fails, replace(small, note="twice the <data>")]
    document = parsed(page(artefacts, own_project().papers["lamgd"], {}, claims))
    first, second = (document.named(f"claim-{name}") for name in (CLAIM.name, small.name))
    ours, printed = first.all("td")
    assert [chip.text for chip in ours.all("span", "chip")] == ["● 1 holds", "✕ 1 fails"]
    assert [chip.text for chip in printed.all("span", "chip")] == ["● 1 holds", "○ 1 not printed"]
    assert first.all("span", "hollow") == []
    assert [len(side.all("span", "hollow")) for side in second.all("td")] == [1, 0]
    assert ("goes against" in first.text, "goes against" in second.text) == (True, False)
    numbers = [item.text for item in first.all("li")]
    assert [text.partition(":")[0] for text in numbers] == ["Here, de, holds", "Here, cs, fails"]
    # A sentence that two claims read is there once.
    assert ("Deeper is <better>" in first.text, "Deeper" in second.text) == (True, False)
    assert "The sentence above, read in another way" in second.text
    assert ("twice" in first.text, "twice the <data>" in second.text) == (False, True)
    assert first.all("code")[1].text.endswith(", if trained(t)")
    (numbers,) = (item.text for item in second.all("li"))
    assert numbers == f"Here, holds: {'; '.join([BARE.text] * 4)}; and 11 more"


def test_only_what_a_sentence_says_is_said_to_fail_on_the_papers_own_cells(artefacts):
    part = replace(FULL, reported_answer="fails", answer="fails")
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
    parts = document.named("claims").all("p", "lede")[1].text
    assert " ".join(parts.split()).endswith("3 parts: ✕ fails our reading: ✕ 2 fails")


def test_a_reader_is_told_how_many_of_the_sure_gains_have_the_papers_sign():
    given = [(1, 2), (2, 1), (-1, -2), (1, 1), (-1, 1), (1, None)]
    gains = [(Against(ours, ours - 0.5, ours + 0.5), paper) for ours, paper in given]
    gains.append((Against(0.1, -0.4, 0.6), 1))
    table = SimpleNamespace(settings=SimpleNamespace(base_row="6/6"))
    shown = PageTable(SimpleNamespace(table=table, called=str), {})
    vars(shown)["gains"] = {str(n): Gain(*gain, "", 1, -2, 2) for n, gain in enumerate(gains)}
    assert shown.came_out.startswith("6 of 7 differences from 6/6 are significant")
    assert "For 5 of these" in shown.came_out
    assert shown.came_out.endswith("with the same sign for 4; chance alone gives 2.5")


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


def test_a_trained_run_has_nats_below_the_baseline_and_what_was_recorded(artefacts):
    paper = own_project().papers["lamgd"]
    tables = {"table3": artefacts.compared(paper, paper.tables["table3"])}
    name = next(iter(runs_of(artefacts, paper, tables)))
    spec, paths = own_project().spec(name, "tiny"), artefacts.paths
    write_training(spec, paths)
    run = runs_of(artefacts, paper, tables)[name]
    assert run.below_unigram == pytest.approx(6.06 - 4.5)
    assert run.learned
    assert (run.facts["corpus"], run.facts["device"]) == ("c" * 12, "x86_64, 1 thread")
    assert run.facts["model.width"] == "64 (512)"


def test_a_run_says_where_it_is_not_as_most_runs_on_its_text():
    spec = SimpleNamespace(data=SimpleNamespace(dataset="d"))
    facts = ({"a": "1", "b": "2"}, {"a": "1", "c": "3"}, {"a": "1", "b": "2"})
    runs = [SimpleNamespace(facts=each, spec=spec) for each in facts]
    usual = usual_facts(runs)
    assert usual == {"d": {"a": "1", "b": "2"}}
    unusual = [PageRun.unusual(run, usual["d"]) for run in runs[:2]]
    assert unusual == [{}, {"c": "3", "unchanged:": "b"}]
    assert usual_facts(runs[:1]) == {"d": {}}
    runs = [SimpleNamespace(deviations=each, spec=spec) for each in ("abc", "cb")]
    assert shared_deviations(runs) == {"d": ("b", "c")}
    assert shared_deviations(runs[:1]) == {"d": ()}


def timed(*devices, seconds=1800.0):
    """Return a training of half an hour on each device."""
    totals = SimpleNamespace(seconds=seconds, target_tokens=1000)
    files = (TrainingRecord.model_construct(device=of, totals=totals) for of in devices)
    return [SimpleNamespace(file=file) for file in files]


def test_trainings_of_each_device_have_hours_and_tokens():
    listed = [*costs(timed(CPU, GPU, GPU, CPU))]
    assert [cost.device for cost in listed] == [
        "x86_64, 2 threads",
        "NVIDIA H200, products in TF32",
    ]
    assert [(cost.trainings, cost.hours) for cost in listed] == [(2, 1.0)] * 2
    (cost,) = costs(timed(CPU, CPU))
    assert (cost.hours, cost.tokens, cost.pace) == (1.0, 2000, 2000 / 3600)
    # All devices that share a training count.
    (four,) = costs(timed(GPU | {"count": 4}, seconds=3600))
    assert four.hours == 4


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
    text = shown.render(data=[item, item], link=str, inside=str)
    assert "<td>2 (100.0%)</td>" in text
    assert '<th scope="row">dropped: no letter</th><td>1,200</td>' in text
    # A file that several corpora are taken from is listed once.
    assert text.count("a" * 64) == 1
    (prepared / "deu/train.eng").unlink()
    without_text = data(tmp_path)
    assert (without_text["tasks"][0]["counts"]["test"], without_text["sides"]) == (2, [])
    os.mkfifo(prepared / "deu/train.eng")
    with refused("not a file", where="train.eng", remedy="fathom prepare"):
        data(tmp_path)


def test_tasks_of_several_languages_have_one_row_for_theirs(tmp_path, prepared):
    """Each language had a row, with a number in one column."""
    (prepared / "fra").mkdir()
    for path in (prepared / "deu").iterdir():
        shutil.copy(path, prepared / "fra" / path.name.replace(".deu", ".fra"))
    content = read_record(prepared / "corpus.json")
    french = content["tasks"]["deu"] | {"languages": ["fra", "eng"]}
    content |= {"files": hashes(prepared, "*/*.*"), "tasks": content["tasks"] | {"fra": french}}
    write_record(prepared / "corpus.json", content)
    item = data(tmp_path)
    assert item["sides"] == ["language of the task", "eng", "both sides"]
    assert [[*task["shared"].values()] for task in item["tasks"]] == [[2, 1, 1]] * 2


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


def test_a_figure_without_a_number_is_not_drawn_and_names_what_was_not_trained(artefacts):
    assert all(
        figure["picture"] is None and figure["missing"] for figure in figures(artefacts).values()
    )
    name = f"{TRANSPARENT}/{own_project().papers[TRANSPARENT].figures['figure1'].settings.runs[0]}"
    spec, paths = own_project().spec(name, "tiny"), artefacts.paths
    write_training(spec, paths)
    (paths.training(spec, 1).parent / "metrics.tsv").unlink()
    drawn = figures(artefacts)["figure1"]
    assert (drawn["csv"], drawn["picture"]) == (None, None)
    assert name.rpartition("/")[2] not in drawn["missing"]


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


def test_what_did_not_run_is_a_line_with_its_command_and_the_papers_numbers_folded(made):
    paper, tables, document = made
    assert not document.all("table", "grid")
    for name, table in tables.items():
        part = document.named(name)
        assert part.all("code")[0].text.startswith(f"fathom run {paper.name}_{name} --scale")
        printed = [item for item in table.cells if item.reported and item.reported.value]
        texts = [cell.text for folded in part.all("details") for cell in folded.all("td")]
        assert len([*filter(None, texts)]) >= len(printed)


def fill(artefacts: Artefacts, paper: str, *tables: str, leave: str = "") -> None:
    """Write what is measured of all runs of tables with all seeds, but for the run `leave`."""
    project, dice = artefacts.project, random.Random(1)
    keys: dict[str, dict[str, dict[str | None, None]]] = defaultdict(lambda: defaultdict(dict))
    for table in tables:
        for cell in artefacts.cells(project.papers[paper].tables[table]):
            if cell.kind == "run" and cell.source != leave:
                keys[cell.source][cell.key][cell.task] = None
    for run, asked in keys.items():
        spec, level = project.spec(run, artefacts.scale), dice.uniform(4, 5)
        for seed in project.seeds(run, artefacts.scale):
            folder = artefacts.paths.run(spec, seed)
            folder.mkdir(parents=True)
            rows = [(at, level + 200 / at, level + 100 / at) for at in range(50, 1201, 50)]
            lines = ["\t".join(map(str, row)) for row in (("update", "nll", "valid_nll"), *rows)]
            (folder / "metrics.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            record = training(tasks=spec.data.tasks, files=hashes(folder, "metrics.tsv"))
            write_record(folder / "training.json", record)
            restore_measured(folder / "training.json", spec, seed)
            files: dict[str, dict[str, Record]] = defaultdict(dict)
            for key, tasks in asked.items():
                value, named = dice.gauss(10 * level, 0.4), [*filter(None, tasks)]
                values = {task: value + dice.gauss(0, 0.3) for task in named}
                numbers = {
                    task: Number(value=each, n=300, stderr=0.51, low=each - 1.0, high=each + 1.0)
                    for task, each in values.items()
                }
                whole = None if numbers else Number(value=value)
                if words_of(key)[0] != "parameters":
                    shown = Record(tasks=numbers, all=whole, how="version:2.6")
                    files[file_of(key, spec)][key] = shown
            for stem, records in files.items():
                rule = made_by(words_of(next(iter(records)))[0])
                about = {"run": run, "identity": spec.identity, "seed": seed, "outcome": "finished"}
                file = Measurements(rule=rule, recipe=dict(RECIPE), measurements=records, **about)
                write(folder / "measurements" / f"{stem}.json", file)


LEFT = "latent_depth/m2o_diverse_24_12"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A page, of which all of Table 5 but one row was run with five seeds; it is not judged."""
    artefacts = Artefacts(own_project(), Paths(tmp_path_factory.mktemp("results"), "tiny_long"))
    fill(artefacts, "latent_depth", "table5", leave=LEFT)
    paper = own_project().papers["latent_depth"]
    tables = {name: artefacts.compared(paper, table) for name, table in paper.tables.items()}
    making = {"table1": "40 trainings left, 3 h"}
    path = artefacts.paths.page(paper.name)
    claims = judged(artefacts, paper)
    write_text(path, page(artefacts, paper, tables, claims, making=making))
    return path


@pytest.fixture(scope="module")
def shown(ran):
    """The elements of that page."""
    return parsed(ran.read_text(encoding="utf-8"))


def cell_details(page):
    """Return the details of each cell by its id; they follow the line that has it."""
    pairs = pairwise(page.all())
    lines = ((line.attributes.get("id"), line.tag, after.text) for line, after in pairs)
    return {name: text for name, tag, text in lines if name and tag == "dt"}


def test_what_ran_comes_first_and_the_menu_says_what_did(shown):
    check(shown)
    names = [part.attributes.get("id") for part in shown.named("tables").all("section")]
    assert names[0] == "table5"
    assert shown.named("table1") in shown.named("not-run").all("section")
    assert shown.named("table1").all("p", "making")[0].text.startswith("40 trainings left, 3 h: ")
    menu = [link.text for link in shown.all("nav")[0].all("a")]
    assert menu[0] == "◐ Table 5 , ran in part"
    assert "○ Table 1 , not run" in menu


def test_a_cell_with_a_result_is_a_link_to_its_line_and_no_other_is(shown):
    cells = shown.named("table5").all("td")
    links = {link.attributes["href"][1:] for cell in cells for link in cell.all("a")}
    lines = cell_details(shown)
    assert links < {*lines}
    assert all(", seeds " in lines[name] for name in links if name.startswith("table5-0"))
    assert [cell for cell in cells if "not run" in cell.text and cell.all("a")] == []


def test_gains_are_drawn_with_interval_and_paper_and_said_in_words(shown):
    """Of the base row there are none; of a row that the paper does not have, ours alone."""
    rows = {row.all("th")[0].text: row for row in shown.named("table5").all("tbody")[0].all("tr")}
    links = {
        name: row.all("a")[0].attributes["href"][1:] for name, row in rows.items() if row.all("a")
    }
    details = cell_details(shown)
    words = {name: details[line] for name, line in links.items()}
    deep = "LL-D, 12/24 here 3/6, width 64"
    assert [name for name, row in rows.items() if not row.all("u")] == [
        "12/12 here 3/3, width 64",
        "24/12 here 6/3, width 64",
    ]
    number = r"[+\u2212]?[\d.]+"
    gain = rf"minus 12/12: {number} \[{number}, {number}\]"
    assert re.search(rf"; {gain}$", words[deep])
    assert rows[deep].all("u")[0].all("em")[0].text == "\u22120 .10"
    assert re.search(rf"; {gain}$", words["Gates at ½, 24/24 * here 6/6, width 64"])
    assert "⇄ diverged" in rows["24/24 here 6/6, width 64"].text
    places = dict(each.split(":") for each in rows[deep].all("u")[0].attributes["style"].split(";"))
    assert {*places} == {f"--{each}" for each in "olhp"}
    assert all(0 <= int(place) <= 100 for place in places.values())
    checked = [box for box in shown.all("input") if "checked" in box.attributes]
    assert [box.attributes["id"] for box in checked] == ["view-gains"]
    out = shown.all("header")[0].text
    assert re.search(r"Table 5 : \d+ of 81 differences from 12/12 are significant \(95 %", out)
    assert "Of 1 run that failed in the paper, 1 trains here." in out
    notes = [note.text for note in shown.named("table5").all("li")]
    assert notes[0] == "Differences: 95 % interval of the differences of equal seeds, Student's t."
    assert "±: standard error over the seeds." in notes


def test_where_the_papers_base_failed_its_number_stands_with_that(artefacts):
    """The paper's main result was not in the view that comes first."""
    fill(artefacts, "transparent_attention", "table1")
    paper = own_project().papers["transparent_attention"]
    tables = {"table1": artefacts.compared(paper, paper.tables["table1"])}
    runs = runs_of(artefacts, paper, tables)
    shown = PageTable(tables["table1"], runs)
    bases = {(cell.row, cell.column): shown.gains.get(cell.id) for cell in shown.cells}
    assert [bases["transparent", layers].base for layers in ("6", "12")] == ["", "failed"]
    document = parsed(page(artefacts, paper, tables, ()))
    assert "27.79, base failed" in document.named("table1").text


def svg_of(address):
    """Return the text of a picture that a page contains."""
    return b64decode(address.removeprefix("data:image/svg+xml;base64,")).decode("utf-8")


def test_figures_and_curves_are_pictures_for_light_and_dark_pages_with_each_run_once(shown):
    assert [part.text for part in shown.named("curves").all("h3")] == ["Table 5"]
    (curves,), (bars,) = (shown.named(name).all("picture") for name in ("curves", "figure4"))
    words = curves.all("img")[0].attributes["alt"]
    assert words.startswith("6/6: validation NLL ")
    for picture in (curves, bars):
        (dark,), (light,) = picture.all("source"), picture.all("img")
        assert dark.attributes["media"] == "screen and (prefers-color-scheme: dark)"
        texts = [svg_of(light.attributes["src"]), svg_of(dark.attributes["srcset"])]
        assert ["#171614" in text for text in texts] == [False, True]
    rows = [label.partition(": validation")[0] for label in words.split("; ")]
    assert len(rows) == len({*rows}) == 10
    assert all(f"<!-- {row} -->" in svg_of(curves.all("img")[0].attributes["src"]) for row in rows)
    links = [link.attributes["href"] for link in shown.named("figure4").all("li")[1].all("a")]
    assert len(links) == 10


def test_pages_are_small(ran, artefacts):
    """The second has all runs of the paper with one seed."""
    paper = own_project().papers["latent_depth"]
    fill(artefacts, paper.name, *paper.tables)
    tables = {name: artefacts.compared(paper, table) for name, table in paper.tables.items()}
    whole = page(artefacts, paper, tables, judged(artefacts, paper))
    assert ran.stat().st_size < 800_000
    assert len(whole.encode()) < 2_800_000


LOOK = """
const links = [...page.querySelectorAll('a[href^="#"]')]
const names = links.map(link => link.getAttribute('href').slice(1))
const found = {
  width: window.innerWidth,
  dark: window.matchMedia('(prefers-color-scheme: dark)').matches,
  overflow: page.documentElement.scrollWidth - window.innerWidth,
  missing: names.filter(name => name !== 'closed' && !page.getElementById(name)),
  points: [],
  pictures: [...page.images].map(image => [image.naturalWidth > 0, image.currentSrc !== image.src]),
}
for (const view of ['gains', 'numbers']) {
  page.getElementById(`view-${view}`).checked = true
  for (const grid of page.querySelectorAll('table.grid')) {
    const columns = {}
    grid.querySelectorAll('td s').forEach(tail => {
      const {left, width} = tail.getBoundingClientRect()
      if (width && !tail.closest('em')) (columns[tail.closest('td').cellIndex] ??= []).push(left)
    })
    for (const lefts of Object.values(columns)) {
      found.points.push(Math.max(...lefts) - Math.min(...lefts))
    }
  }
}
page.getElementById('view-gains').checked = true
found.first = page.querySelector('.grid u').getBoundingClientRect().top
return found
"""


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [380, 768, 1400])
def test_a_browser_shows_the_page_without_overflow_and_numbers_by_their_points(
    ran, tmp_path, width, dark
):
    (found,), console = measured(tmp_path, [ran], [width], LOOK, dark)
    assert (found["width"], found["dark"], console) == (width, dark, [])
    assert found["overflow"] <= 0
    assert found["missing"] == []
    assert found["pictures"] == [[True, dark]] * 2
    assert found["first"] < (1200 if width == 1400 else 2000)
    assert len(found["points"]) > 20
    assert max(found["points"]) <= 1


COPY = """
let copied = ''
const writeText = text => { copied = text }
Object.defineProperty(window.navigator, 'clipboard', {value: {writeText}})
const cell = page.querySelector('#table5 .grid a')
window.location.hash = cell.hash
window.dispatchEvent(new window.Event('hashchange'))
const line = page.getElementById(cell.hash.slice(1))
const details = line.nextElementSibling
details.querySelector('button').click()
return {label: cell.getAttribute('aria-label'), words: details.querySelector('cite').textContent,
  copied, hash: cell.hash}
"""


@pytest.mark.slow
@needs_chromium
def test_an_open_cell_has_a_link_to_copy_and_a_citation(ran, tmp_path):
    (found,), _ = measured(tmp_path, [ran], [1400], COPY)
    assert found["copied"] == ran.resolve().as_uri() + found["hash"]
    assert re.match(r"Table 5 6/6 \(here 2/2\), Avg\.: \d+\.\d+ BLEU ±", found["label"])
    assert found["words"].startswith(found["label"].partition("; ")[0])
    assert "Deep Transformers with Latent Depth” by fathom " in found["words"]


def test_links_lead_from_the_page_to_the_results(tmp_path):
    home, file = tmp_path / "results/tiny", tmp_path / "results/runs/p/a run-1234/train.log"
    assert link(file, home) == "../runs/p/a%20run-1234/train.log"


@pytest.mark.parametrize("name", ["page.html", "table.html"])
def test_a_browser_loads_nothing_from_elsewhere_for_a_page_or_a_table(name):
    source = (FOLDER / name).read_text(encoding="utf-8")
    (policy,) = [line for line in source.split("\n") if "Content-Security-Policy" in line]
    assert "default-src 'none'" in policy
    assert "http" not in policy.partition("content=")[2]


def test_what_config_and_results_say_is_text_and_no_html(artefacts):
    hostile = '"><script>alert(1)</script>'
    claim = replace(CLAIM, sentence=hostile, section=hostile, part=hostile, note=hostile)
    text = page(artefacts, own_project().papers["lamgd"], {}, [claim], today=hostile)
    made = environment(autoescape=True).from_string(
        "{% from 'picture.html' import picture %}{{ picture(drawn, words) }}"
    )
    text += made.render(drawn=Pictures("data:", "data:"), words=hostile)
    assert hostile not in text
    assert len(parsed(text).all("script")) == 1
    assert parsed(text).all("img")[-1].attributes["alt"] == hostile
