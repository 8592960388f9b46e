"""The index of equations, on a small library with one paper."""

import textwrap
from types import SimpleNamespace

import pytest

from fathom.artefacts.equations import TaggedPlace, entries, line, markdown
from fathom.config.schema.paper import PaperSettings
from tests.support.own_project import own_project
from tests.support.refused import refused

PAPER = {
    "title": "A deep paper",
    "authors": ["A. Author"],
    "url": "https://example.org",
    "citation": {"type": "misc", "key": "author2020", "year": "2020"},
    "equations": {
        "Eq. 1": {"title": "Sum"},
        "Eq. 2": {"title": "Bound", "reason": "intractable"},
        "Eq. 12": {"title": "Product"},
        "Alg. 1": {"title": "Training"},
        "L_K": {"title": "Depth"},
    },
}
GATES = '''
    """Gates; the module's own docstring has a tag as well [deep Eq. 1]."""


    def total():
        """Add [deep Eq. 1], as [deeper Eq. 12] does."""


    class Trainer:
        """Train.

        [deep Alg. 1 l. 3]
        """

        def update(self):
            """Multiply [deep Eq. 12]."""


    def depth():
        """Measure [deep L_K], and not [deep L_Kx]."""
'''
TESTS = '''
    def test_first():
        """[deep Eq. 1]"""


    # [deep Eq. 12] holds for both.
    @pytest.mark.parametrize("value", [1, 2])
    def test_second(value):
        """Also [deep Eq. 1]."""
        assert value  # [deep Eq. 12]
'''


@pytest.fixture
def project(tmp_path):
    files = {"lib/fathom/methods/gates.py": GATES, "tests/methods/test_gates.py": TESTS}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    about = PaperSettings.model_validate(PAPER, strict=False)
    paper = SimpleNamespace(name="deep", about=about)
    return SimpleNamespace(root=tmp_path, papers={"deep": paper})


def places(project, number):
    (entry,) = entries(project, "deep", number)
    return entry.functions, entry.tests


@pytest.mark.parametrize(
    ("numbers", "line", "name"),
    [
        (("1", "Eq. 1", "Eq.1", "eq 1", "(1)", "Equation 1"), 4, "total"),
        (("12",), 14, "update"),
        (("Alg. 1",), 8, "Trainer"),
        (("L_K",), 18, "depth"),
    ],
    ids=["function", "method", "class", "symbol"],
)
def test_what_computes_an_equation_is_found_by_the_tag_in_its_docstring(
    project, numbers, line, name
):
    place = TaggedPlace("lib/fathom/methods/gates.py", line, name)
    assert [places(project, number)[0] for number in numbers] == [(place,)] * len(numbers)


def test_a_test_is_found_by_its_docstring_or_the_comment_before_it_once(project):
    assert [place.name for place in places(project, "1")[1]] == ["test_first", "test_second"]
    assert [place.name for place in places(project, "12")[1]] == ["test_second"]
    assert places(project, "Alg. 1")[1] == ()


@pytest.mark.parametrize("number", ["3", "Eq. 3", "0", "one"])
def test_an_unknown_equation_or_paper_is_refused(project, number):
    with refused(f"no equation '{number}'", where="deep"):
        entries(project, "deep", number)
    with refused("no paper 'deap'", nearest="deep"):
        entries(project, "deap")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (
            "12",
            "[deep Eq. 12] Product: lib/fathom/methods/gates.py:14 update;"
            " tested at tests/methods/test_gates.py:7",
        ),
        ("2", "[deep Eq. 2] Bound: not computed: intractable"),
    ],
)
def test_an_entry_is_one_line(project, number, text):
    (entry,) = entries(project, "deep", number)
    assert line(entry) == text


def test_an_equation_whose_tag_is_nowhere_says_so(project):
    (project.root / "lib/fathom/methods/gates.py").unlink()
    (entry,) = entries(project, "deep", "1")
    assert "not computed: no function has its tag" in line(entry)


def test_the_page_links_files_from_docs_without_lines_that_move(project):
    rows = markdown(project).split("\n")
    assert rows[0] == "# Equations"
    assert "## A deep paper" in rows
    product = "[update](../lib/fathom/methods/gates.py)"
    proof = "[test_second](../tests/methods/test_gates.py)"
    assert f"| Eq. 12 | Product | {product} | {proof} |" in rows
    assert "| Eq. 2 | Bound | *intractable* |  |" in rows
    assert [row.split(" | ")[0] for row in rows if row.startswith("| ")][1:] == [
        f"| {name}" for name in PAPER["equations"]
    ]


def test_the_projects_own_page_has_every_equation_of_every_paper():
    project = own_project()
    rows = [row for row in markdown(project).split("\n") if row.startswith("| ")]
    amount = sum(len(paper.about.equations) for paper in project.papers.values())
    assert len(rows) == amount + len(project.papers)
    assert all(row.count(" | ") == 3 for row in rows)
