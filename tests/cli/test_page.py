"""`fathom page`: on a finished tree, without results, and with hostile text."""

import shutil

import pytest

from fathom.io.files import read_lines
from fathom.io.integrity import read_record, write_record
from tests.cli.conftest import invoke
from tests.support.html_page import check, parsed
from tests.support.refused import says

HOSTILE = '<script>alert("&amp;")</script>'


@pytest.fixture(scope="module")
def finished(summarised, tmp_path_factory):
    """A project with the page of a paper whose two runs have its own settings."""
    folder = tmp_path_factory.mktemp("page") / "project"
    shutil.copytree(summarised, folder)
    (corpus,) = folder.glob("results/corpora/small-*/corpus.json")
    write_record(corpus, read_record(corpus) | about_corpus(corpus.parent))
    invoke(folder, ("page",))
    return folder


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


@pytest.fixture(scope="module")
def page(finished):
    """The same, taken apart."""
    return parsed((finished / "results/small/sample.html").read_text(encoding="utf-8"))


def test_the_page_is_well_formed_and_loads_nothing(page):
    check(page)


def test_every_cell_of_every_table_opens_its_details(page):
    cells = page.all("td", "cell")
    # Two rows of three printed columns and three of ours.
    assert len(cells) == 12
    for cell in cells:
        (link,) = cell.all("a")
        details = page.named(link.attributes["href"][1:])
        assert details.tag == "article"
        assert details.all("tr")


def test_a_cell_leads_to_its_run_with_hashes_settings_and_logs(page, finished):
    details = page.all("aside", "panel")[0]
    shown = details.text
    for part in ("identity", "seed 1", "unigram baseline", "corpus", "encoded text", "torch"):
        assert part in shown.replace("Validation", "validation")
    files = [link.attributes["href"] for link in details.all("a")]
    local = [address for address in files if not address.startswith("#")]
    assert any(address.endswith("train.log") for address in local)
    for address in local:
        assert (finished / "results/small" / address).exists()


def test_a_judged_cell_has_sign_word_and_colour(page):
    judged = [cell for cell in page.all("td", "cell") if cell.all("span", "verdict")]
    assert len(judged) == 6
    for cell in judged:
        (shown,) = cell.all("span", "verdict")
        words = shown.text
        assert any(word in words for word in ("reproduced", "higher", "lower", "result (paper"))
        assert shown.all("i")[0].text in "●▲▼⊘✕◆"
        assert any(name.startswith("v-") for name in cell.attributes["class"].split())
        assert words.rpartition(" ")[2] in cell.all("a")[0].attributes["aria-label"]


def test_the_head_counts_verdicts_and_runs(page):
    (head,) = page.all("header")
    assert "2 of 2 runs" in head.text
    assert "6 of 6" in head.text
    assert head.all("div", "strip")[0].attributes["aria-label"]


def test_curves_figures_data_cost_and_citation_are_there(page):
    assert len(page.named("curves").all("img")) == 2
    assert page.named("figure1").all("img")
    data = page.named("data").text
    assert "BSD-3-Clause" in data
    assert "test in training, both sides" in data
    assert "Wh (assumed)" in page.named("cost").text
    assert "@inproceedings{author2020sample" in page.named("cite").text


def test_equal_results_give_equal_bytes(finished):
    path = finished / "results/small/sample.html"
    before = path.read_bytes()
    invoke(finished, ("page", "sample"))
    assert path.read_bytes() == before


def test_without_results_every_cell_says_not_run(project, call):
    assert call("page").code == 0
    page = parsed((project / "results/small/sample.html").read_text(encoding="utf-8"))
    check(page)
    # The static run has no gates, so its effective depth is an empty cell.
    assert {cell.all("span", "ours")[0].text for cell in page.all("td", "cell")} == {"not run", "–"}
    assert "0 of 2 runs" in page.all("header")[0].text


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


def test_a_misspelled_paper_gets_the_nearest_name(project, call):
    says(nearest="sample").check(call("page", "sampel").one_line)
