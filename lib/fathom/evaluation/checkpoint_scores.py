"""The scores of several checkpoints of one run, in the metric that is compared."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from fathom.errors import FathomError, nearest
from fathom.evaluation import bleu, chrf
from fathom.evaluation.bootstrap import Statistics
from fathom.evaluation.score import DIGITS
from fathom.io.files import read_lines
from fathom.runs.spec import Spec
from fathom.subwords.sides import sides

Scores = dict[int, dict[str, float]]


class CheckpointScores:
    """What scores hypotheses of a run's tasks against its corpus.

    Attributes:
        metric: the compared metric.
        signature: sacreBLEU's signature of it.
    """

    def __init__(self, spec: Spec, corpus: Path, splits: tuple[str, ...]):
        """Read the references, so that what is missing is told before anything is translated.

        Args:
            spec: the run.
            corpus: the corpus's folder.
            splits: what will be scored.

        Raises:
            FathomError: a task is not scored with the compared metric, or the corpus lacks a file
                or its lines.
        """
        self.metric = spec.evaluation.scoring.compared_metric
        target = sides(spec.data)[1]
        for task in spec.data.tasks:
            valid = (*bleu.variants(target.languages[task]), chrf.NAME)
            if self.metric not in valid:
                raise FathomError(
                    f"{task} is not scored with '{self.metric}'",
                    "evaluation.scoring.compared_metric",
                    nearest(self.metric, valid),
                )
        self.references = {
            (split, task): target.lines(corpus, task, split)
            for split in splits
            for task in spec.data.tasks
        }
        for (split, task), lines in self.references.items():
            if not lines:
                raise FathomError(
                    "no references", f"{corpus}: {task}, {split}", "prepare the corpus again"
                )
        one = next(iter(self.references.values()))[:1]
        self.signature = self._statistics(one, one).signature

    def of(self, split: str, files: Mapping[int, Mapping[str, Path]]) -> Scores:
        """Return the corpus score of each task by update, with as many digits as scores.tsv has.

        Args:
            split: "valid" or "test".
            files: hypotheses by update and task; line i answers line i of the references.

        Raises:
            FathomError: not one hypothesis for each reference.
        """
        return {
            update: {task: self._score(split, task, path) for task, path in paths.items()}
            for update, paths in files.items()
        }

    def _score(self, split: str, task: str, path: Path) -> float:
        hypotheses, references = read_lines(path), self.references[split, task]
        if len(hypotheses) != len(references):
            raise FathomError(
                f"{len(hypotheses)} hypotheses for {len(references)} references",
                str(path),
                "encode the text again; every sentence has one hypothesis",
            )
        return round(self._statistics(hypotheses, references).value, DIGITS)

    def _statistics(self, hypotheses: list[str], references: list[str]) -> Statistics:
        if self.metric == chrf.NAME:
            return chrf.statistics(hypotheses, references)
        return bleu.statistics(hypotheses, references, self.metric)


def means(scores: Scores) -> dict[int, float]:
    """Return the mean over tasks of each update's scores, each task with equal weight.

    Args:
        scores: by update and task; every update has the same tasks, one at least.
    """
    return {update: round(fmean(each.values()), DIGITS) for update, each in scores.items()}
