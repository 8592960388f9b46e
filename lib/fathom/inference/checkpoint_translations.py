"""Translate a split with the weights of single checkpoints of a training.

That takes long, so nothing is done twice: each file of hypotheses is recorded as soon as it is
complete, and a second start translates only what is not recorded or has changed since.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import torch

from fathom.checkpoints.average import weights_path
from fathom.errors import FathomError
from fathom.inference.trained_run import TrainedRun
from fathom.inference.translate import split_lines
from fathom.io.files import read_json, sha256, write_json, write_lines
from fathom.provenance.recipe import RECIPE

RECORDED = "hypotheses.json"
_TRAIN_AGAIN = "delete the run's folder and train it again"


def consecutive_updates(run: TrainedRun) -> tuple[int, ...]:
    """Return the updates whose weights a finished training saved, the oldest first.

    Args:
        run: the training.

    Raises:
        FathomError: the run has no decoder, its training is missing or did not finish, it saved no
            weights, or some in the middle are missing, so that the others are not consecutive.
    """
    run.require_decoder()
    run.require_finished()
    saved, settings = run.saved_updates, run.spec.training
    if not saved:
        what = f"the training saved no weights (training.keep_weights is {settings.keep_weights})"
        remedy = "set training.keep_weights to the size of the window and train again"
        raise FathomError(what, str(run.checkpoints), remedy)
    every = settings.save_every or settings.validate_every
    due = range(every, run.outcome["update"], every)
    gone = [update for update in due if saved[0] < update < saved[-1] and update not in saved]
    if gone:
        what = f"the weights after update {', '.join(map(str, gone))} are missing"
        raise FathomError(what, str(run.checkpoints), _TRAIN_AGAIN)
    return saved


class CheckpointTranslations:
    """The hypotheses of one training with one kind of gates, <task>.<split>.<update>.txt."""

    def __init__(self, run: TrainedRun, gates: str, report: Callable[[str], None]):
        """Keep what an earlier start left, if it was made in the same way.

        Args:
            run: a finished training.
            gates: "plain", "soft" or "hard".
            report: called with a line about each file.

        Raises:
            FathomError: the encoded text is missing.
        """
        self.run, self.gates, self.report = run, gates, report
        self.recipe = RECIPE["decoding"]
        self.folder = run.paths.window(run.spec, run.seed, gates)
        tensors = run.paths.tensors(run.spec.data) / "tensors.json"
        if not tensors.is_file():
            raise FathomError("no such file", str(tensors), "encode the text: fathom encode")
        # Of one update's weights, whatever number a translation of the run averages.
        settings = run.require_decoder().model_dump() | {"average_of": 1, "window": None}
        self._made_with = {
            "settings": settings,
            "tensors_sha256": sha256(tensors),
            "recipe": self.recipe,
            "versions": {"torch": torch.__version__, "fairseq-fixed": version("fairseq-fixed")},
        }
        self._weights: dict[int, str] = {}
        self._files = self._recorded()

    def of(self, split: str, updates: Sequence[int]) -> dict[int, dict[str, Path]]:
        """Return the files of a split by update and task; those that are missing are made first.

        Args:
            split: "valid" or "test".
            updates: whose weights were saved.

        Raises:
            FathomError: weights cannot be read, or leave a task without any layer.
        """
        paths = {
            update: {task: self._path(task, split, update) for task in self.run.tasks}
            for update in updates
        }
        missing = {
            update: [task for task, path in files.items() if not self._is_current(path, update)]
            for update, files in paths.items()
        }
        amount = len(paths) * len(self.run.tasks)
        there = amount - sum(map(len, missing.values()))
        if there:
            self.report(f"{split}: {there} of {amount} files are there already")
        for update, tasks in missing.items():
            if tasks:
                self._translate(split, update, tasks)
        return paths

    def _translate(self, split: str, update: int, tasks: Sequence[str]) -> None:
        """Write and record the hypotheses of some tasks with the weights after an update."""
        try:
            bare = self.run.tasks_without_layers(self.gates, update)
        except FathomError as error:
            # Its own remedy is to resume a training; this one has ended.
            raise FathomError(error.what, error.where, _TRAIN_AGAIN) from None
        if lost := [task for task in tasks if task in bare]:
            raise FathomError(
                f"{lost[0]} has no layer left with {self.gates} gates",
                f"{self.run.name}, update {update}",
                "choose other gates",
            )
        for task in tasks:
            lines = split_lines(self.run, task, split, self.gates, update)
            path = self._path(task, split, update)
            write_lines(path, lines)
            self._files[path.name] = {
                "sha256": sha256(path),
                "weights_sha256": self._weights_of(update),
            }
            write_json(self.folder / RECORDED, {"made_with": self._made_with, "files": self._files})
            self.report(f"{split}, update {update}: {task} {len(lines)} sentences")

    def _recorded(self) -> dict[str, dict[str, str]]:
        """Return what an earlier start recorded, and delete all other files of hypotheses."""
        path = self.folder / RECORDED
        content = read_json(path) if path.is_file() else {}
        same = content.get("made_with") == self._made_with
        files = content["files"] if same else {}
        if content and not same:
            self.report("settings, text or recipe have changed: everything is translated again")
        for old in (*self.folder.glob("*.txt"), *self.folder.glob(".*.part")):
            if old.name not in files:
                old.unlink()
        return files

    def _is_current(self, path: Path, update: int) -> bool:
        """Return whether a file is the one that was recorded, of the weights as they are now."""
        now = {"weights_sha256": self._weights_of(update)}
        if path.is_file():
            now["sha256"] = sha256(path)
        return self._files.get(path.name) == now

    def _weights_of(self, update: int) -> str:
        """Return the hash of the weights after an update; a large file is read once."""
        if update not in self._weights:
            self._weights[update] = sha256(weights_path(self.run.checkpoints, update))
        return self._weights[update]

    def _path(self, task: str, split: str, update: int) -> Path:
        return self.folder / f"{task}.{split}.{update}.txt"
