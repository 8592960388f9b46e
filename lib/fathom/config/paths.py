"""Where each file is under results/; rules and code take their paths from here alone.

What a hash names is shared by all scales. A scale's own folder holds what people read.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fathom.config.spec import DataSpec, Spec
from fathom.io.records import identity, short


@dataclass(frozen=True)
class Paths:
    """The places of one scale's files."""

    results: Path  # the folder of everything that is made
    scale: str

    @property
    def top(self) -> Path:
        """The scale's own folder: tables, figures, the comparison, the report."""
        return self.results / self.scale

    @property
    def retrain(self) -> Path:
        """The file whose age makes Snakemake train stale runs again."""
        return self.results / "retrain_stale"

    @property
    def cluster(self) -> Path:
        """The folder of what is known of jobs on a cluster."""
        return self.results / "cluster"

    @property
    def by_hand(self) -> Path:
        """The folder where a user may put a file that cannot be fetched."""
        return self.results / "sources" / "by_hand"

    def command(self, verb: str, name: str, seed: int | None = None) -> str:
        """Return what a user types to make a file of a run, a training or a folder of data."""
        words = [verb, name, "--scale", self.scale]
        return self.fathom(*words, *([] if seed is None else ["--seed", str(seed)]))

    def fathom(self, *words: str) -> str:
        """Return a command of fathom on these results."""
        results = [] if self.results == Path("results") else ["--results", str(self.results)]
        return shlex.join(["fathom", *words, *results])

    def run_command(self, name: str, seed: int = 1) -> str:
        """Return what a user types to make a training with its text, from what is there on."""
        return self.target(name, None if seed == 1 else f"{seed}-{seed}")

    def target(self, name: str, seeds: str | None = None) -> str:
        """Return what a user types, in a clone or elsewhere, to make a target of the workflow."""
        words = ["run", name, "--scale", self.scale]
        return self.fathom(*words, *([] if seeds is None else ["--seeds", seeds]))

    @property
    def searched(self) -> str:
        """The folder of results in full, as messages name it, and whether it exists."""
        folder = self.results.resolve()
        return str(folder) if folder.is_dir() else f"{folder}, which does not exist"

    def source(self, name: str) -> Path:
        """Return the folder of a fetched source."""
        return self.results / "sources" / name

    def corpus(self, data: DataSpec) -> Path:
        """Return the folder of the cleaned and split text."""
        return self.corpus_named(data.corpus_folder)

    def corpus_named(self, folder: str) -> Path:
        """Return the folder of a corpus by its name, `<data set>-<hash8>`."""
        return self.results / "corpora" / folder

    def pieces_corpus(self, data: DataSpec) -> Path:
        """Return the folder of the text from which the subwords are learned."""
        return self.corpus_named(data.pieces_corpus_folder)

    def statistics(self, data: DataSpec) -> Path:
        """Return the measurements of the cleaned and split text."""
        return self.corpus(data) / "statistics.json"

    def subwords(self, data: DataSpec) -> Path:
        """Return the folder of the subword models and dictionaries."""
        return self.results / "subwords" / data.subwords_folder

    def tensors(self, data: DataSpec) -> Path:
        """Return the folder of the encoded text."""
        return self.results / "tensors" / data.folder

    def run(self, spec: Spec, seed: int) -> Path:
        """Return the folder of one training."""
        return self.results / "runs" / spec.paper / spec.folder / str(seed)

    def start(self, spec: Spec, seed: int) -> Path | None:
        """Return the folder of the training whose weights a run starts from, if it does."""
        start = spec.start
        return start and self.results / "runs" / start.paper / start.folder / str(seed)

    def training(self, spec: Spec, seed: int) -> Path:
        """Return the file whose presence says that a training has ended."""
        return self.run(spec, seed) / "training.json"

    def train_log(self, spec: Spec, seed: int) -> Path:
        """Return what the workflow's last attempt at a training printed."""
        return self.results / "logs" / "train_run" / spec.paper / f"{spec.folder}.{seed}.log"

    def asked(self, spec: Spec, seed: int, decodings: Sequence[tuple[str, str]]) -> Path:
        """Return the file that is written when these decodings, as split and gates, are made."""
        identities = [[*pair, spec.decoding_identity(pair[1])] for pair in decodings]
        return self.decodings(spec, seed) / f"asked-{short(identity(identities))}.json"

    def decodings(self, spec: Spec, seed: int) -> Path:
        """Return the folder of all decodings of a training."""
        return self.run(spec, seed) / "decodings"

    def decoding(self, spec: Spec, seed: int, split: str, gates: str) -> Path:
        """Return the folder of one decoding of a split's sentences."""
        name = f"{split}.{gates}-{short(spec.decoding_identity(gates))}"
        return self.decodings(spec, seed) / name

    def window(self, spec: Spec, seed: int, gates: str) -> Path:
        """Return the folder of the translations with single saved weights."""
        name = f"{gates}-{short(spec.decoding_identity(gates))}"
        return self.run(spec, seed) / "window" / name

    def measurements(self, spec: Spec, seed: int, name: str) -> Path:
        """Return one file of measurements of a training, by its name without suffix."""
        return self.run(spec, seed) / "measurements" / f"{name}.json"

    def artefact(self, paper: str, artefact: str, suffix: str) -> Path:
        """Return one file of a table or figure."""
        return self.top / paper / f"{artefact}.{suffix}"

    def page(self, paper: str) -> Path:
        """Return the page of one paper."""
        return self.top / f"{paper}.html"

    @property
    def compare(self) -> Path:
        """The comparison of all papers' cells."""
        return self.top / "compare.csv"

    @property
    def claims(self) -> Path:
        """The answers to all papers' claims."""
        return self.top / "claims.csv"
