"""The page of a paper of the project, without results: every part of it, and its links."""

import pytest

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.page.page import link, page
from fathom.config.paths import Paths
from tests.support.html_page import check, parsed
from tests.support.own_project import own_project
from tests.support.papers import PAPERS


@pytest.fixture(scope="module", params=PAPERS)
def made(request, tmp_path_factory):
    """The paper, its compared tables and its page."""
    artefacts = Artefacts(own_project(), Paths(tmp_path_factory.mktemp("results"), "tiny"))
    paper = own_project().papers[request.param]
    tables = {name: artefacts.compared(paper, table) for name, table in paper.tables.items()}
    return paper, tables, parsed(page(artefacts, paper, tables, ()))


def test_the_page_is_well_formed_and_loads_nothing(made):
    check(made[2])


def test_every_table_and_figure_has_its_section_in_the_papers_order(made):
    paper, _, drawn = made
    names = [part.attributes.get("id") for part in drawn.all("section", "artefact")]
    named = [name for name in names if name]
    assert named == [*paper.tables, *paper.figures]


def test_every_cell_of_every_table_has_its_details(made):
    _, tables, drawn = made
    own = [
        link.attributes["href"][1:] for cell in drawn.all("td", "cell") for link in cell.all("a")
    ]
    articles = {part.attributes["id"]: part for part in drawn.all("article")}
    assert sorted(own) == sorted(articles)
    printed = [item for table in tables.values() for item in table.cells if item.reported]
    assert len(own) >= len(printed)
    assert all(article.all("tr") for article in articles.values())


def test_what_was_easy_and_hard_deviations_and_citation_are_there(made):
    paper, _, drawn = made
    summary = drawn.named("summary").text
    for text in (*paper.about.summary.easy, *paper.about.summary.hard):
        assert " ".join(text.split()) in summary
    assert paper.about.summary.easy
    assert paper.about.summary.hard
    assert len(drawn.named("deviations").all("details")) == len(paper.deviations)
    assert paper.about.citation.key in drawn.named("cite").text


def test_links_lead_from_the_page_to_the_results(tmp_path):
    home, file = tmp_path / "results/tiny", tmp_path / "results/runs/p/a run-1234/train.log"
    assert link(file, home) == "../runs/p/a%20run-1234/train.log"
