"""The project's own config with a data set that no reader makes yet."""

from fathom.config.project import Project
from fathom.config.schema.dataset import Dataset, PlannedDataset

DATASET, REASON = "wmt16_en_de", "the archive is gone"
NOT_BUILT = "latent_depth_table1"


def planned(project: Project) -> Project:
    """Return a project in which the text of `NOT_BUILT` cannot be made."""
    card = project.datasets[DATASET]
    values = {name: getattr(card, name) for name in Dataset.model_fields}
    without = PlannedDataset.model_validate(values | {"not_built": REASON})
    other = Project(project.root, project.files, project.switches)
    other.datasets = {**project.datasets, DATASET: without}
    return other
