"""The scores of single checkpoints of one run, in every metric that all of its tasks have."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import fmean

from fathom.config.spec import Spec
from fathom.data.sides import sides
from fathom.io.errors import FathomError
from fathom.io.files import read_lines
from fathom.scoring import right_language
from fathom.scoring.score import DIGITS, measure

# Corpus scores by metric, update and task.
Scores = dict[str, dict[int, dict[str, float]]]


class CheckpointScores:
    """Scores hypotheses of a run's tasks against its corpus.

    Attributes:
        signatures: sacreBLEU's signature of each metric; its keys are the metrics.
    """

    def __init__(self, spec: Spec, corpus: Path, splits: tuple[str, ...]):
        """Read the references, so that a missing one is reported before anything is translated.

        Args:
            spec: the run.
            corpus: the corpus's folder.
            splits: what will be scored.

        Raises:
            FathomError: the corpus lacks a file or its lines.
        """
        self.data, self.corpus = spec.data, corpus
        target = sides(spec.data)[1]
        self.languages = target.languages
        self._measure = partial(measure, tokenizers=spec.scoring.tokenizers)
        self.references = {
            (split, task): target.sentences(corpus, task, split)
            for split in splits
            for task in spec.data.tasks
        }
        for (split, task), lines in self.references.items():
            if not lines:
                where = f"{corpus}: {task}, {split}"
                raise FathomError("no references", where, "prepare the corpus again")
        one = next(iter(self.references.values()))[:1]
        signatures = [
            {score.metric: score.signature for score in self._measure(one, one, language, "")}
            for language in self.languages.values()
        ]
        first = signatures[0]
        self.signatures = {
            name: first[name] for name in first if all(name in other for other in signatures)
        }

    def of(self, split: str, files: Mapping[int, Mapping[str, Path]]) -> Scores:
        """Return the corpus scores, with as many digits as scores.tsv has.

        Args:
            split: "valid" or "test".
            files: hypotheses by update and task; line i answers line i of the references.

        Raises:
            FathomError: not one hypothesis for each reference.
        """
        scores: Scores = {metric: {update: {} for update in files} for metric in self.signatures}
        for update, paths in files.items():
            for task, path in paths.items():
                references = self.references[split, task]
                lines, language = read_lines(path), self.languages[task]
                for statistics in self._measure(lines, references, language, str(path)):
                    if statistics.metric in scores:
                        value = round(statistics.value, DIGITS)
                        scores[statistics.metric][update][task] = value
        return scores

    def doubts(self, split: str, files: Mapping[int, Mapping[str, Path]]) -> dict[int, str]:
        """Return in words why the hypotheses of updates say little; empty where they are right.

        The check is that of single decodings (scoring/right_language.py). Without several target
        languages there is none.

        Args:
            split: "valid" or "test".
            files: hypotheses by update and task.

        Raises:
            FathomError: text of the corpus is missing or has changed.
        """
        decodings = (
            {task: read_lines(path) for task, path in paths.items()} for paths in files.values()
        )
        checks = right_language.check_each(self.data, self.corpus, split, decodings)
        # Not strict: there may be no checks.
        return {update: check.doubt for update, check in zip(files, checks, strict=False)}


def means(scores: Mapping[int, Mapping[str, float]]) -> dict[int, float]:
    """Return the mean over tasks of each update's scores, each task with equal weight.

    Args:
        scores: by update and task; every update has the same tasks, one at least.
    """
    return {update: round(fmean(tasks.values()), DIGITS) for update, tasks in scores.items()}
