"""The data sets and sources of config, each read alone."""

from pathlib import Path

from fathom.config.dataset_cards import read_dataset

from fathom.config.schema.dataset import Dataset
from fathom.config.schema.source import read_sources
from fathom.config.yaml_values import YamlFile, read

ROOT = Path(__file__).parents[2]
DATASETS = {path.stem: path for path in sorted((ROOT / "config" / "datasets").glob("*.yaml"))}
SOURCES = {
    name: source
    for path in sorted((ROOT / "config" / "sources").glob("*.yaml"))
    for name, source in (read_sources(path.stem, read(path, ROOT))[0] or {}).items()
}


def file_of(name: str) -> YamlFile:
    """Return a data set's card as a file."""
    return read(DATASETS[name], ROOT)


def dataset_of(name: str) -> Dataset:
    """Return a data set in which nothing is wrong."""
    dataset, findings = read_dataset(name, file_of(name), SOURCES)
    assert findings == []
    assert dataset is not None
    return dataset
