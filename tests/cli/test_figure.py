"""`fathom figure` without results."""

import pytest

from fathom.cli.figure import figure
from tests.support.own_project import verbs_use_it  # noqa: F401
from tests.support.refused import prose, refused

pytestmark = pytest.mark.usefixtures("verbs_use_it")


def test_missing_measurements_are_refused_and_nothing_is_written(tmp_path):
    results = tmp_path / "results"
    command = f"`fathom figure latent_depth_figure4 --scale tiny --results {results} --partial`"
    with refused(remedy=command):
        figure("latent_depth_figure4", scale="tiny", results=results)
    assert not results.exists()


@pytest.mark.parametrize("name", ["figure4", "figure6"])
def test_partial_draws_what_exists(tmp_path, name):
    figure(f"latent_depth_{name}", scale="tiny", results=tmp_path, partial=True)
    written = sorted(path.name for path in (tmp_path / "tiny/latent_depth").iterdir())
    assert written == [f"{name}.csv", f"{name}.pdf", f"{name}.png"]


def test_a_table_is_no_figure(tmp_path):
    with refused(remedy=prose("draw it", "table")):
        figure("latent_depth_table5", scale="tiny", results=tmp_path)
