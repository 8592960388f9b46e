"""Figures on the page."""

from base64 import b64decode

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.page.figures import page_figures
from fathom.artefacts.page.runs import runs_of
from fathom.config.paths import Paths
from tests.support.own_project import own_project
from tests.support.run_files import write_training

PAPER = "transparent_attention"


def figures(folder, runs):
    """Return the figures of a paper, by name."""
    artefacts = Artefacts(own_project(), Paths(folder, "tiny"))
    paper = own_project().papers[PAPER]
    known = runs_of(artefacts, paper, runs)
    return {figure.name: figure for figure in page_figures(artefacts, paper, known)}


def test_a_figure_without_trainings_names_them_and_has_no_picture(tmp_path):
    drawn = figures(tmp_path, {})
    assert all(figure.picture == "" and figure.missing for figure in drawn.values())
    assert drawn["figure1"].number == "Figure 1"
    assert all(figure.csv is None for figure in drawn.values())


def test_a_figure_with_a_training_is_a_png_inside_the_page(tmp_path):
    name = f"{PAPER}/{own_project().papers[PAPER].figures['figure1'].settings.runs[0]}"
    spec, paths = own_project().spec(name, "tiny"), Paths(tmp_path, "tiny")
    write_training(spec, paths)
    (paths.training(spec, 1).parent / "metrics.tsv").unlink()
    drawn = figures(tmp_path, {})["figure1"]
    assert b64decode(drawn.picture).startswith(b"\x89PNG")
    assert name.rpartition("/")[2] not in drawn.missing
