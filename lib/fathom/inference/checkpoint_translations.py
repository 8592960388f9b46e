"""Translate a split with the weights that a training kept along its way, one update after another.

That takes long, so what is done is done once: each file of hypotheses is noted as soon as it is
whole, and a second start decodes only what is not noted or has changed since.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path

import torch

from fathom.batches import tensors
from fathom.checkpoints.average import kept, kept_path
from fathom.errors import FathomError
from fathom.inference.translate import require_decoder, split_lines, trained, without_layers
from fathom.io.files import read_json, sha256, write_json, write_lines
from fathom.models.network import Network
from fathom.provenance.code_hash import Code, stage_code
from fathom.provenance.manifest import FINISHED
from fathom.runs.spec import Spec

NOTES = "hypotheses.json"
_TRAIN_AGAIN = "delete the run's folder and train it again"


def kept_updates(spec: Spec, run: Path) -> tuple[int, ...]:
    """Return the updates whose weights a finished training kept, the oldest first.

    Args:
        spec: the run.
        run: the folder of the training.

    Raises:
        FathomError: the run translates nothing, its training is missing or did not finish, it kept
            no weights, or some in the middle are gone, so that those beside them are not
            consecutive.
    """
    require_decoder(spec)
    ending = read_json(run / "training.json")["outcome"]
    if ending["kind"] != FINISHED:
        what = f"{ending['kind'].replace('_', ' ')} ({ending['reason']})"
        raise FathomError(what, f"run {spec.run}", "choose a run that finished")
    folder, settings = run / "checkpoints", spec.training
    found = tuple(kept(folder))
    if not found:
        what = f"the training kept no weights (training.keep_weights is {settings.keep_weights})"
        remedy = "set training.keep_weights to the size of the window and train again"
        raise FathomError(what, str(folder), remedy)
    due = range(settings.validate_every, settings.updates, settings.validate_every)
    gone = [update for update in due if found[0] < update < found[-1] and update not in found]
    if gone:
        what = f"the weights after update {', '.join(map(str, gone))} are gone"
        raise FathomError(what, str(folder), _TRAIN_AGAIN)
    return found


class KeptTranslations:
    """The hypotheses of one run with one kind of gates, as files <task>.<split>.<update>.txt.

    Attributes:
        code: the code behind them.
        versions: of the packages behind them.
    """

    def __init__(
        self,
        spec: Spec,
        tensors_folder: Path,
        run: Path,
        gates: str,
        folder: Path,
        device: torch.device,
        report: Callable[[str], None],
    ):
        """Take up what an earlier start left, if it was made in the same way.

        Args:
            spec: the run.
            tensors_folder: the encoded text.
            run: the folder of the training.
            gates: "plain", "soft" or "hard".
            folder: where to write; nobody else writes there meanwhile.
            device: where the network runs.
            report: takes a line about each file.

        Raises:
            FathomError: the encoded text is missing.
        """
        self.spec, self.run, self.gates, self.folder = spec, run, gates, folder
        self.device, self.report = device, report
        self.data = tensors.load(tensors_folder)
        # Each hypothesis is of one update's weights, whatever a translation of the run averages.
        self.settings = replace(spec.evaluation.decoding, average_of=1)
        self.code: Code = stage_code("kept", spec.model.architecture, spec.method.name)
        self.versions = {"torch": torch.__version__, "fairseq": version("fairseq-fixed")}
        self._made_with = {
            "settings": asdict(self.settings),
            "tensors_sha256": sha256(tensors_folder / "tensors.json"),
            "code": {"hash": self.code.hash, "python": self.code.python},
            "versions": self.versions,
        }
        self._weights: dict[int, str] = {}
        self._notes = self._taken_up()

    def of(self, split: str, updates: Sequence[int]) -> dict[int, dict[str, Path]]:
        """Return the files of a split by update and task; those that are missing are made first.

        Args:
            split: "valid" or "test".
            updates: after which the weights were kept.

        Raises:
            FathomError: kept weights cannot be read, or leave a task without any layer.
        """
        wanted = {
            update: {task: self._path(task, split, update) for task in self.data.tasks}
            for update in updates
        }
        missing = {
            update: [task for task, path in paths.items() if not self._is_whole(path, update)]
            for update, paths in wanted.items()
        }
        amount = len(wanted) * len(self.data.tasks)
        there = amount - sum(map(len, missing.values()))
        if there:
            self.report(f"window: {split}: {there} of {amount} files were there")
        for update, tasks in missing.items():
            if tasks:
                self._translate(split, update, tasks)
        return wanted

    def _translate(self, split: str, update: int, tasks: Sequence[str]) -> None:
        """Write and note the hypotheses of some tasks with the weights after an update."""
        network = self._network(update)
        for task in tasks:
            if without_layers(network, self.data.tasks.index(task), self.device):
                raise FathomError(
                    f"{task} has no layer left with {self.gates} gates",
                    f"run {self.spec.run}, update {update}",
                    "choose other gates",
                )
        for task in tasks:
            lines = split_lines(network, self.data, task, split, self.settings, self.device)
            path = self._path(task, split, update)
            write_lines(path, lines)
            self._notes[path.name] = {
                "sha256": sha256(path),
                "weights_sha256": self._weights_of(update),
            }
            self._write_notes()
            self.report(f"window: {split}, update {update}: {task} {len(lines)} sentences")

    def _network(self, update: int) -> Network:
        try:
            return trained(self.spec, self.data, self.run, self.gates, self.device, update)
        except FathomError as error:
            # Elsewhere a training goes on from the checkpoint before; this one has ended.
            raise FathomError(error.what, error.where, _TRAIN_AGAIN) from None

    def _taken_up(self) -> dict[str, dict[str, str]]:
        """Return the notes of an earlier start, and delete what they do not speak of."""
        path = self.folder / NOTES
        said = read_json(path) if path.is_file() else {}
        alike = said.get("made_with") == self._made_with
        notes = said["files"] if alike else {}
        if said and not alike:
            self.report("window: settings, text or code have changed: all is decoded again")
        for old in (*self.folder.glob("*.txt"), *self.folder.glob(".*.part")):
            if old.name not in notes:
                old.unlink()
        return notes

    def _write_notes(self) -> None:
        write_json(self.folder / NOTES, {"made_with": self._made_with, "files": self._notes})

    def _is_whole(self, path: Path, update: int) -> bool:
        """Return whether a file is the one that was noted, and its weights are still the same."""
        now = {"weights_sha256": self._weights_of(update)}
        if path.is_file():
            now["sha256"] = sha256(path)
        return self._notes.get(path.name) == now

    def _weights_of(self, update: int) -> str:
        """Return the hash of the weights after an update; a large file is read once."""
        if update not in self._weights:
            self._weights[update] = sha256(kept_path(self.run / "checkpoints", update))
        return self._weights[update]

    def _path(self, task: str, split: str, update: int) -> Path:
        return self.folder / f"{task}.{split}.{update}.txt"
