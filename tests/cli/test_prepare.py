import pytest
import typer.testing

from fathom.cli.prepare import prepare
from fathom.errors import FathomError
from fathom.project.load import load


def test_help_shows_an_example():
    app = typer.Typer()
    app.command()(prepare)
    printed = typer.testing.CliRunner().invoke(app, ["--help"]).output
    assert "Example: fathom prepare po_wheels_diverse" in printed


@pytest.mark.parametrize("name", ["po_wheels_divers", "po_wheels_diverse-00000000"])
def test_an_unknown_data_set_gets_the_nearest_name(project, name):
    with pytest.raises(FathomError, match=f"no data set '{name}'") as caught:
        prepare(name)
    assert "po_wheels_diverse" in caught.value.remedy


def test_a_data_set_goes_by_its_name_and_by_its_folder(project):
    """Nothing is fetched in the copy, so the first source is missing in both cases."""
    own = load(project)
    folder = own.datasets["ted8_diverse"].corpus_folder(own.sources)
    for name in ("ted8_diverse", folder):
        with pytest.raises(FathomError, match="the source 'ted_talks' has not been fetched"):
            prepare(name)


def test_a_data_set_without_a_reader_is_refused_with_its_reason(project):
    with pytest.raises(FathomError, match="CzEng") as caught:
        prepare("wmt15_cs_en")
    assert caught.value.where == "config/datasets/wmt15_cs_en.yaml: not_built"
