import pytest
import typer.testing

from fathom.cli.prepare import prepare
from fathom.config.load import load
from tests.support.refused import refused

PLANNED = """\
title: Invented
citation: Nowhere.
licence: CC0-1.0
pivot: eng
tasks: [deu]
translates: [eng, deu]
not_built: the archive is gone
"""


def test_help_shows_an_example():
    app = typer.Typer()
    app.command()(prepare)
    printed = typer.testing.CliRunner().invoke(app, ["--help"]).output
    assert "Example: fathom prepare po_wheels_diverse" in printed


@pytest.mark.parametrize("name", ["smal", "small-00000000"])
def test_an_unknown_data_set_gets_the_nearest_name(project, name):
    with refused("unknown", "data set", name, nearest="small"):
        prepare(name)


def test_a_data_set_goes_by_its_name_and_by_its_folder(project):
    """Nothing is fetched, so the first source is missing in both cases."""
    own = load(project)
    folder = own.datasets["small"].corpus_folder(own.sources)
    for name in ("small", folder):
        with refused("not fetched", "django"):
            prepare(name)


def test_a_data_set_without_a_reader_is_refused_with_its_reason(project):
    (project / "config" / "datasets" / "planned.yaml").write_text(PLANNED, encoding="utf-8")
    with refused("data set not built", ..., "the archive is gone") as caught:
        prepare("planned")
    assert caught.value.where == "config/datasets/planned.yaml: not_built"
