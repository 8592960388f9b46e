"""Look-ups of runs: from a folder's name to the run, and to the files of each of its stages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fathom.artefacts.needs import Needs
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.spec import Spec
from fathom.io.errors import FathomError, nearest
from fathom.io.hashes import identity, short
from fathom.io.integrity import read_record
from fathom.results.measurements import file_name, file_of
from fathom.results.recipe import RECIPE
from fathom.workflow.memory import memory

TRAINING = "training"


@dataclass(frozen=True)
class Runs:
    """The runs at one scale.

    Attributes:
        demands: what tables and figures ask of each run.
        paths: the places of the files.
    """

    demands: Needs
    paths: Paths

    @property
    def project(self) -> Project:
        """Everything in config/."""
        return self.demands.project

    @property
    def scale(self) -> str:
        """The scale's name."""
        return self.demands.scale

    @cached_property
    def not_built(self) -> dict[str, str]:
        """Why a run cannot be trained yet, by its full name; what is built is left out."""
        reasons = {name: self.project.not_built(name, self.scale) for name in self.project.entries}
        return {name: reason for name, reason in reasons.items() if reason}

    @cached_property
    def built(self) -> tuple[str, ...]:
        """The full names of the runs that can be trained."""
        return tuple(name for name in self.project.entries if name not in self.not_built)

    def require_built(self, name: str) -> None:
        """Refuse a run that cannot be trained yet.

        Raises:
            FathomError: with the reason.
        """
        if name in self.not_built:
            what = f"cannot be trained yet: {self.not_built[name]}"
            raise FathomError(what, f"run {name}", "choose another run")

    def spec(self, name: str) -> Spec:
        """Return a run's spec by its full name."""
        return self.project.spec(name, self.scale)

    def seeds(self, name: str) -> tuple[int, ...]:
        """Return the seeds with which a run is trained."""
        return self.project.seeds(name, self.scale)

    @cached_property
    def _by_folder(self) -> dict[str, str]:
        specs = {name: self.spec(name) for name in self.project.entries}
        return {f"{spec.paper}/{spec.folder}": name for name, spec in specs.items()}

    def name(self, folder: str) -> str:
        """Return the full name of a run by its folder `<paper>/<run>-<hash8>`.

        Raises:
            FathomError: no run of the scale has the folder, or it cannot be trained yet.
        """
        if folder not in self._by_folder:
            what = f"no run of scale {self.scale} has this folder"
            raise FathomError(what, folder, nearest(folder, self._by_folder))
        name = self._by_folder[folder]
        self.require_built(name)
        return name

    def tensors(self, folder: str) -> Path:
        """Return the encoded text that a run is trained on."""
        return self.paths.tensors(self.spec(self.name(folder)).data) / "tensors.json"

    def corpus(self, folder: str) -> Path:
        """Return the text that a run is tested on."""
        return self.paths.corpus(self.spec(self.name(folder)).data) / "corpus.json"

    def memory(self, folder: str) -> int:
        """Return the memory that jobs of a run ask for, in MB."""
        return memory(self.spec(self.name(folder)))

    def start(self, folder: str, seed: str) -> list[Path]:
        """Return the training that a run starts from, if it starts from one."""
        start = self.paths.start(self.spec(self.name(folder)), int(seed))
        return [start / "training.json"] if start else []

    def asked(self, folder: str, seed: str) -> Path:
        """Return the file that is written when every decoding that config asks for is made."""
        name = self.name(folder)
        return self.paths.asked(self.spec(name), int(seed), self.demands.decodings(name))

    def recipe(self, folder: str, seed: str) -> int:
        """Return the recipe of a training: the recorded one, unless the user retrains stale runs.

        A recipe is a param of the rule, and another param trains again: a finished run of an older
        recipe stays until `--config retrain=stale`.

        Raises:
            FathomError: the training's record is damaged.
        """
        path = self.paths.training(self.spec(self.name(folder)), int(seed))
        if self.project.switches.retrain == "stale" or not path.is_file():
            return RECIPE[TRAINING]
        return int(read_record(path)["recipe"])

    def retrain(self, folder: str, seed: str) -> list[Path]:
        """Return a file that is newer than a stale training, if the user retrains those.

        The recipe as a param is not enough: Snakemake knows the params of its own jobs alone, and
        not those of results that were copied.
        """
        again = self.project.switches.retrain == "stale" and self.stale(
            self.name(folder), int(seed)
        )
        return [self.paths.retrain] if again else []

    def scoring(self, folder: str) -> str:
        """Return the hash of a run's settings of scoring."""
        return short(identity(self.spec(self.name(folder)).scoring.identity()))

    def window(self, folder: str) -> int | None:
        """Return how many checkpoints a run's best window has."""
        decoding = self.spec(self.name(folder)).decoding
        return decoding and decoding.window

    def stale(self, name: str, seed: int) -> bool:
        """Return whether a finished training has an older recipe than today's.

        Raises:
            FathomError: its record is damaged.
        """
        path = self.paths.training(self.spec(name), seed)
        if not path.is_file():
            return False
        return read_record(path)["recipe"] != RECIPE[TRAINING]

    def measured(
        self, name: str, seed: int, keys: Iterable[str], series: bool = False
    ) -> Iterator[Path]:
        """Yield the files that hold measurements of a run, each once.

        A training measures some things by itself: training.json, its only output, is their file.

        Args:
            name: the run's full name.
            seed: of the training.
            keys: the measurements.
            series: whether what the training recorded at its updates is needed, too.
        """
        spec = self.spec(name)
        stems = [TRAINING] if series else []
        for stem in dict.fromkeys([*stems, *(file_of(key, spec) for key in keys if key)]):
            if stem == TRAINING:
                yield self.paths.training(spec, seed)
            else:
                yield self.paths.measurements(spec, seed, stem)

    def results(self, name: str, seed: int) -> list[Path]:
        """Return the last files of a training: its record, and all measurements asked for."""
        spec = self.spec(name)
        scores = [
            self.paths.measurements(spec, seed, file_name("scores", spec, split, gates))
            for split, gates in self.demands.decodings(name)
        ]
        keys = self.demands.keys.get(name, ())
        measured = self.measured(name, seed, keys, series=True)
        return list(dict.fromkeys([*measured, *scores]))

    def files(self, name: str) -> list[Path]:
        """Return the last files of a run, all seeds."""
        return [path for seed in self.seeds(name) for path in self.results(name, seed)]
