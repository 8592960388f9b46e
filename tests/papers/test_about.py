"""paper.yaml says what a paper is and how it scores."""

import pytest

from fathom.config.schema.paper import PaperSettings
from tests.support.refused import prose, says


def test_a_reference_names_authors_title_and_year(papers):
    assert papers["lamgd"].reference == (
        "Minh-Quang Pham, François Yvon, Josep Crego: Latent Group Dropout for Multilingual and "
        "Multidomain Machine Translation. 2022"
    )


@pytest.mark.parametrize("end", ["?", "!"])
def test_a_title_that_ends_a_sentence_gets_no_full_stop(papers, end):
    about = papers["lamgd"].about.model_copy(update={"title": f"Deep{end}"})
    assert about.reference.endswith(f": Deep{end} 2022")


def test_a_paper_may_have_no_equations(papers):
    about = papers["lamgd"].about.model_dump(by_alias=True, exclude={"equations"})
    assert PaperSettings.model_validate(about).equations == {}


def test_an_equation_without_a_reason_is_computed(papers):
    equations = papers["latent_depth"].about.equations
    assert equations["Eq. 2"].computed
    assert not equations["Eq. 3"].computed


def test_a_citation_has_the_fields_that_are_given(papers):
    fields = papers["latent_depth"].about.citation.fields()
    assert fields["eprint"] == "2009.13102"
    assert "pages" not in fields


def test_every_paper_says_why_its_metric_is_the_papers(papers):
    assert {name: paper.about.metric.tokenize for name, paper in papers.items()} == {
        "latent_depth": "13a",
        "transparent_attention": "moses",
        "lamgd": "13a",
    }
    assert all(paper.about.metric.note for paper in papers.values())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "authors:",
            "author:",
            says("unknown key", "author", where="paper.yaml:4: author", nearest="authors"),
        ),
        (
            "  key: pham",
            "  kye: pham",
            says("unknown key", "kye", where="citation.kye", nearest="key"),
        ),
        (
            'year: "2022"',
            "year: 2022",
            says("YAML number", 2022, where="citation.year", remedy=prose("put it in quotes")),
        ),
        (
            "  Eq. 2: {title: H",
            "  Eq 2: {title: H",
            says("pattern", "Eq 2", where="equations.Eq 2"),
        ),
        (
            "means: difference,",
            "means: diference,",
            says("not possible", "diference", where="marks.added.means", nearest="difference"),
        ),
    ],
)
def test_a_fault_is_found_with_its_line(faults, old, new, message):
    message.check(faults("lamgd/paper.yaml", old, new))


def test_settings_have_a_metric_even_where_paper_yaml_has_none():
    assert PaperSettings.model_fields["metric"].default.tokenize is None
