"""The project's own config, read once for all tests that do not change it, and its targets."""

from functools import cache
from pathlib import Path

from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schema.dataset import Dataset
from fathom.config.switches import Switches

ROOT = Path(__file__).parents[2]
# Those of the project's papers whose cells and runs tests count; another paper changes no count.
PAPERS = ("latent_depth", "transparent_attention", "lamgd")
TABLE = "latent_depth_table5"
# A table whose text `planned` cannot make, and why.
NOT_BUILT, DATASET, REASON = "latent_depth_table1", "wmt16_en_de", "the archive is gone"


@cache
def own_project() -> Project:
    """Return the project, read without the checks that `fathom validate` makes."""
    return load(ROOT, check=False)


def targets(results: Path, scale: str = "tiny", project: Project | None = None, **switches: object):
    """Return the targets of a scale with the user's switches, such as seeds and row."""
    from fathom.workflow.targets import Targets

    project = (project or own_project()).with_switches(Switches(scale=scale, **switches))
    return Targets(project, scale, Paths(results, scale))


def put_talks(results: Path) -> None:
    """Put the text of TED, which most tables need at scale paper, where a user puts it by hand."""
    put = Paths(results, "paper").by_hand / "ted_orig.zip"
    put.parent.mkdir(parents=True, exist_ok=True)
    put.touch()


def planned(project: Project) -> Project:
    """Return a project in which the text of `NOT_BUILT` cannot be made."""
    card = project.datasets[DATASET]
    values = {name: getattr(card, name) for name in Dataset.model_fields}
    without = Dataset.model_validate(values | {"not_built": REASON})
    changed = Project(project.root, project.files, project.switches)
    changed.datasets = {**project.datasets, DATASET: without}
    return changed
