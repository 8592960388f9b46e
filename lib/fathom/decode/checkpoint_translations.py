"""Translate a split with the weights of single checkpoints of a training.

That takes long, so nothing is done twice: each file of hypotheses is recorded as soon as it is
complete, and a second start translates only what is not recorded or has changed since.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import split_lines, versions
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import sha256, write_lines
from fathom.io.records import Recorded, read_record, write_record
from fathom.nn.weights import weights_path
from fathom.results.recipe import RECIPE

RECORDED = "hypotheses.json"


def consecutive_updates(run: TrainedRun) -> tuple[int, ...]:
    """Return the updates whose weights a finished training saved, the oldest first.

    Raises:
        FathomError: If the run has no decoder, its training is missing or did not finish, it saved
            no weights, or some are missing, so that the others are not consecutive.
    """
    run.require_decoder()
    run.require_finished()
    saved, settings = run.saved_updates, run.spec.training
    if not saved:
        what = f"the training saved no weights (training.keep_weights is {settings.keep_weights})"
        remedy = "set training.keep_weights to the size of the window and train again"
        raise FathomError(what, str(run.checkpoints), remedy)
    paths = {update: weights_path(run.checkpoints, update) for update in saved}
    gone = [update for update, path in paths.items() if not path.is_file()]
    if gone:
        what = f"the weights after update {', '.join(map(str, gone))} are missing"
        raise FathomError(what, str(run.checkpoints), again(paths[gone[0]]))
    return saved


class CheckpointTranslations:
    """The hypotheses of one training with one kind of gates, <task>.<split>.<update>.txt."""

    def __init__(self, run: TrainedRun, gates: str, report: Callable[[str], None]):
        """Keep what an earlier start left, if it was made in the same way.

        `report` is called with a line about each file.
        """
        self.run, self.gates, self.report = run, gates, report
        self.recipe = RECIPE["decoding"]
        self.folder = run.paths.window(run.spec, run.seed, gates)
        # Of one update's weights, whatever number a translation of the run averages.
        decoding = run.require_decoder()
        settings = decoding.identity() | {"average_of": 1, "window": None}
        self._made_with = {
            "settings": settings,
            "tensors_sha256": run.training.tensors_sha256,
            "recipe": self.recipe,
            "versions": versions(decoding),
        }
        self._files, self._weights = self._recorded()

    def of(self, split: str, updates: Sequence[int]) -> dict[int, dict[str, Path]]:
        """Return the files of a split by update and task; those that are missing are made first.

        Raises:
            FathomError: If weights cannot be read, or leave a task without any layer.
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
        bare = self.run.tasks_without_layers(self.gates, update)
        if lost := [task for task in tasks if task in bare]:
            raise FathomError(
                f"{lost[0]} has no layer left with {self.gates} gates",
                f"{self.run.name}, update {update}",
                "choose other gates",
            )
        lines = split_lines(self.run, tasks, split, self.gates, update)
        for task in tasks:
            path = self._path(task, split, update)
            write_lines(path, lines[task])
            self._files[path.name] = sha256(path)
            self._weights[path.name] = self._weights_of(update)
            content = {"made_with": self._made_with, "weights": self._weights, "files": self._files}
            write_record(self.folder / RECORDED, content)
            self.report(f"{split}, update {update}: {task} {len(lines[task])} sentences")

    def _recorded(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the hashes of files and of their weights that an earlier start recorded.

        All other files of hypotheses are deleted.
        """
        path = self.folder / RECORDED
        content = read_record(path) if path.is_file() else {}
        same = content.get("made_with") == self._made_with
        files, weights = (content["files"], content["weights"]) if same else ({}, {})
        if content and not same:
            self.report("settings, text or recipe have changed: everything is translated again")
        for old in self.folder.glob("*.txt"):
            if old.name not in files:
                old.unlink()
        return files, weights

    def _is_current(self, path: Path, update: int) -> bool:
        """Return whether a file is the one that was recorded, of the weights as they are now."""
        same_weights = self._weights.get(path.name) == self._weights_of(update)
        recorded = Recorded(self.folder / RECORDED, self._files)
        return same_weights and recorded.unfit(path.name) is None

    def _weights_of(self, update: int) -> str:
        """Return the recorded hash of the weights after an update."""
        return self.run.training.weights[weights_path(self.run.checkpoints, update).name]

    def _path(self, task: str, split: str, update: int) -> Path:
        return self.folder / f"{task}.{split}.{update}.txt"
