"""Look-ups of text: from a folder's name to the data set, and to the files it is made of."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fathom.artefacts.needs import Needs
from fathom.config.paths import Paths
from fathom.config.schema.dataset import BuiltDataset, Dataset
from fathom.config.schema.text_rules import HeldOut
from fathom.config.spec import DataSpec
from fathom.io.errors import FathomError, nearest
from fathom.io.hashes import identity, short
from fathom.workflow.memory import stream_memory, text_memory

# Processors for the pages of a dump. Fewer where the machine or the job has fewer.
_PARSERS = 8


@dataclass(frozen=True)
class Corpora:
    """The text of one scale's runs and tables.

    Attributes:
        demands: the tables and figures, with the corpora that they show.
        paths: the places of the files.
    """

    demands: Needs
    paths: Paths

    def folder(self, dataset: str) -> str:
        """Return the name of a data set's folder of clean text."""
        project = self.demands.project
        definition = project.datasets[dataset].definition(project.sources)
        return f"{dataset}-{short(identity(definition))}"

    @cached_property
    def _datasets(self) -> dict[str, str]:
        return {self.folder(name): name for name in self.demands.project.datasets}

    @cached_property
    def _data(self) -> dict[str, DataSpec]:
        return self.demands.project.data_folders(self.demands.scale)

    def data(self, folder: str) -> DataSpec:
        """Return the data of a folder of subwords or tensors.

        Raises:
            FathomError: no run of the scale has such data.
        """
        if folder not in self._data:
            what = f"no data of scale {self.demands.scale} has this folder"
            raise FathomError(what, folder, nearest(folder, self._data))
        return self._data[folder]

    def dataset(self, folder: str) -> Dataset:
        """Return the data set of a folder of clean text.

        Raises:
            FathomError: no data set has the folder.
        """
        if folder not in self._datasets:
            raise FathomError(
                "no data set has this folder", folder, nearest(folder, self._datasets)
            )
        return self.demands.project.datasets[self._datasets[folder]]

    def preparing_memory(self, folder: str, records: list[str]) -> int:
        """Return the memory of preparing a corpus from its sources, in MB."""
        return stream_memory(records) if self._streamed(folder) else text_memory(records)

    def preparing_threads(self, folder: str) -> int:
        """Return how many processors preparing a corpus asks for, at most."""
        return _PARSERS if self._streamed(folder) else 1

    def _streamed(self, folder: str) -> bool:
        """Return whether sources are read as a stream, by one process for each processor."""
        return isinstance(getattr(self.dataset(folder), "split", None), HeldOut)

    def learning_memory(self, folder: str, records: list[str]) -> int:
        """Return the memory of training subword models on a corpus, in MB."""
        return text_memory(records, self.data(folder).subwords.sentences)

    def sources(self, folder: str) -> list[Path]:
        """Return the sources of a corpus.

        Raises:
            FathomError: no data set has the folder, or it cannot be made yet.
        """
        dataset = self.dataset(folder)
        if dataset.not_built:
            what = f"cannot be made yet: {dataset.not_built}"
            raise FathomError(what, f"data set {dataset.name}", "choose another data set")
        sources = dataset.sources if isinstance(dataset, BuiltDataset) else ()
        return [self.paths.source(source) / "source.json" for source in sources]

    def corpus(self, folder: str) -> Path:
        """Return the corpus that a folder's subword models are trained on."""
        data = self.data(folder)
        name = data.settings.pieces_of
        return self._corpus_file(self.folder(name) if name else data.corpus_folder)

    def subwords(self, folder: str) -> Path:
        """Return the subword models of a folder of tensors."""
        return self.paths.subwords(self.data(folder)) / "subwords.json"

    def text(self, folder: str) -> Path:
        """Return the corpus that a folder of tensors encodes."""
        return self._corpus_file(self.data(folder).corpus_folder)

    def _corpus_file(self, folder: str) -> Path:
        return self.paths.results / "corpora" / folder / "corpus.json"

    def statistics(self, dataset: str) -> Path:
        """Return the statistics of a data set, or of the one that replaces it at this scale."""
        folder = self.folder(self.demands.dataset(dataset))
        return self.paths.results / "corpora" / folder / "statistics.json"
