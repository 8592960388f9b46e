"""`fathom figure` on a project without results."""

import pytest

from fathom.cli.figure import figure
from fathom.errors import FathomError


def test_missing_manifests_are_refused_and_nothing_is_written(project):
    with pytest.raises(FathomError, match="`fathom figure latent_depth_figure4 --scale tiny --pa"):
        figure("latent_depth_figure4", scale="tiny")
    assert not (project / "results").exists()


def test_partial_draws_what_is_there(project):
    figure("latent_depth_figure4", scale="tiny", partial=True)
    written = sorted(path.name for path in (project / "results/tiny/latent_depth").iterdir())
    assert written == ["figure4.csv", "figure4.pdf", "figure4.png"]


def test_a_table_is_no_figure(project):
    with pytest.raises(FathomError, match="a table, not a figure; draw it with `fathom table`"):
        figure("latent_depth_table5", scale="tiny")
