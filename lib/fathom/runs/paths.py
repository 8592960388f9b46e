"""Where each file stands under results/; rules and code take their paths from here alone."""

from dataclasses import dataclass
from pathlib import Path

from fathom.runs.spec import Data, Spec


@dataclass(frozen=True)
class Paths:
    """The places of one scale's files.

    Attributes:
        results: the folder of everything that is made.
        scale: the scale's name.
    """

    results: Path
    scale: str

    @property
    def top(self) -> Path:
        """The scale's own folder."""
        return self.results / self.scale

    @property
    def by_hand(self) -> Path:
        """The folder where a user may put a file that cannot be fetched."""
        return self.results / "sources" / "by_hand"

    def source(self, name: str) -> Path:
        """Return the folder of a fetched source; all scales share it."""
        return self.results / "sources" / name

    def corpus(self, data: Data) -> Path:
        """Return the folder of the cleaned and split text."""
        return self.top / "corpora" / data.corpus_folder

    def subwords(self, data: Data) -> Path:
        """Return the folder of the subword models and dictionaries."""
        return self.top / "subwords" / data.folder

    def tensors(self, data: Data) -> Path:
        """Return the folder of the encoded text."""
        return self.top / "tensors" / data.folder

    def run(self, spec: Spec, seed: int) -> Path:
        """Return the folder of one training."""
        return self.top / "runs" / spec.folder / str(seed)

    def base(self, spec: Spec, seed: int) -> Path | None:
        """Return the folder of the training whose weights a run starts from, if it does."""
        start = spec.training.start
        return start and self.top / "runs" / start.folder / str(seed)

    def training(self, spec: Spec, seed: int) -> Path:
        """Return the file whose presence says that a training has ended."""
        return self.run(spec, seed) / "training.json"

    def decoding(self, spec: Spec, seed: int, gates: str) -> Path:
        """Return the folder of one decoding of a training's test sentences."""
        return self.run(spec, seed) / "decodings" / gates

    def pruned(self, spec: Spec, seed: int, task: str) -> Path:
        """Return the folder of one task's layers of a training."""
        return self.run(spec, seed) / "pruned" / task

    def likelihood(self, spec: Spec, seed: int, gates: str, split: str) -> Path:
        """Return the file of how well a training predicts a split."""
        return self.run(spec, seed) / "likelihood" / f"{gates}.{split}.json"

    def window(self, spec: Spec, seed: int, gates: str) -> Path:
        """Return the folder of a window of a training's checkpoints."""
        return self.run(spec, seed) / "window" / gates

    def manifest(self, spec: Spec, seed: int) -> Path:
        """Return the file that says everything about one finished run."""
        return self.run(spec, seed) / "manifest.json"

    def artefact(self, paper: str, artefact: str, suffix: str) -> Path:
        """Return one file of a table or figure."""
        return self.top / paper / f"{artefact}.{suffix}"

    @property
    def compare(self) -> Path:
        """The comparison of all papers' cells."""
        return self.top / "compare.csv"
