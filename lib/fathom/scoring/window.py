"""The mean score of a window of checkpoints, which validation text chooses.

A run is then judged by a stretch of its training and not by one lucky checkpoint. The spread inside
the window is that of neighbouring checkpoints of one training: no standard error over seeds.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import fmean, stdev

from fathom.config import tokenizers
from fathom.config.measurement_keys import ALWAYS_SCORED
from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.io.errors import FathomError
from fathom.io.files import read_lines, write_lines
from fathom.io.locks import only_writer
from fathom.results.measurements import Number, Record
from fathom.results.recipe import RECIPE
from fathom.results.training_record import MeasurementFile
from fathom.scoring import right_language
from fathom.scoring.metrics import HeldOut, Metric, measure, metrics_of
from fathom.scoring.score import DIGITS, held_out

CHOOSES, JUDGES = "valid", "test"

Texts = Mapping[str, HeldOut]  # by task
# Files of hypotheses by update and task; corpus scores by label of a metric, update and task.
HypothesisFiles = Mapping[int, Mapping[str, Path]]
Scores = dict[str, dict[int, dict[str, float]]]


def best_window(
    spec: Spec,
    seed: int,
    gates: str,
    paths: Paths,
    updates: tuple[int, ...],
    translated: Callable[[str, Sequence[int]], HypothesisFiles],
    report: Callable[[str], None],
    further: Sequence[str] = (),
) -> Path:
    """Translate, choose a window for each metric, and write its scores; return the file.

    A window has decoding.window checkpoints; all, where there are fewer. Validation text is
    translated with all checkpoints, test text only with those of a window. Its languages are
    checked as those of a single decoding. scores.tsv next to the hypotheses has every single score.

    `updates` of the checkpoints begin with the oldest. `translated` returns the hypotheses of a
    split and updates; it is called while no other process writes them. `further` are metrics beside
    those that every run has.
    """
    size = spec.decoding.window if spec.decoding else None
    if size is None:
        what = "the run has no window of checkpoints"
        raise FathomError(what, spec.name, "give --size, or set decoding.window")
    corpus, names = paths.corpus(spec.data), (*ALWAYS_SCORED, *further)
    metrics = common_metrics(spec, JUDGES, names)
    # Read first, so that a missing text is reported before anything is translated.
    texts = {split: texts_of(spec, paths, split) for split in (CHOOSES, JUDGES)}
    folder = paths.window(spec, seed, gates)
    with only_writer(folder, report):
        file = MeasurementFile(spec, seed, paths, "window", gates=gates)
        file.path.unlink(missing_ok=True)
        files = translated(CHOOSES, updates)
        curve = checkpoint_scores(spec, CHOOSES, texts[CHOOSES], files, names)
        windows = {
            metric.label: best_updates(means(curve[metric.whole]), size, metric.better == "lower")
            for metric in metrics
        }
        inside = sorted({update for window in windows.values() for update in window})
        files = translated(JUDGES, inside)
        tested = checkpoint_scores(spec, JUDGES, texts[JUDGES], files, names)
        doubts = doubts_of(spec, corpus, JUDGES, files)
        write_lines(folder / "scores.tsv", _lines({CHOOSES: curve, JUDGES: tested}))
        records = {
            metric.key(JUDGES, gates, "window"): _record(
                tested[metric.label], windows[metric.label], metric, doubts
            )
            for metric in metrics
        }
        file.write(records, {"size": size, "updates": windows}, RECIPE["decoding"])
    if doubts:
        wrong = ", ".join(str(update) for update, doubt in doubts.items() if doubt)
        report(f"languages: {f'wrong after update {wrong}' if wrong else 'right'}")
    for record, (label, window) in zip(records.values(), windows.items(), strict=True):
        if record.all:
            report(f"{label}: {_words(record.all)}, updates {window[0]} to {window[-1]}")
    if len(updates) < size:
        report(f"{len(updates)} checkpoints were saved, fewer than {size}: all are taken")
    return file.path


# Scores of single checkpoints


def common_metrics(spec: Spec, split: str, names: Sequence[str] = ALWAYS_SCORED) -> list[Metric]:
    """Return the variants of metrics that the target languages of all tasks have."""
    languages = dict.fromkeys(spec.data.target_languages.values())
    asked = tokenizers.counted(spec, split)
    first, *others = [metrics_of(language, asked, names) for language in languages]
    labels = [{metric.label for metric in of_language} for of_language in others]
    return [metric for metric in first if all(metric.label in these for these in labels)]


def texts_of(spec: Spec, paths: Paths, split: str) -> Texts:
    """Return what hypotheses of a split are measured against by task."""
    return {task: held_out(spec, paths, split, task) for task in spec.data.tasks}


def checkpoint_scores(
    spec: Spec,
    split: str,
    texts: Texts,
    files: HypothesisFiles,
    names: Sequence[str] = ALWAYS_SCORED,
) -> Scores:
    """Return the corpus scores of the common metrics, with as many digits as scores.tsv has.

    Line i of a file of hypotheses answers line i of the references.
    """
    metrics = common_metrics(spec, split, names)
    scores: Scores = {metric.label: {update: {} for update in files} for metric in metrics}
    for update, paths in files.items():
        for task, path in paths.items():
            for counted in measure(read_lines(path), texts[task], metrics, str(path)):
                scores[counted.metric.label][update][task] = round(counted.value, DIGITS)
    return scores


def doubts_of(spec: Spec, corpus: Path, split: str, files: HypothesisFiles) -> dict[int, str]:
    """Return why the hypotheses of updates say little; empty where they are right, or unchecked."""
    decodings = ({task: read_lines(path) for task, path in of.items()} for of in files.values())
    checks = right_language.check_each(spec.data, corpus, split, decodings)
    # Not strict: there may be no checks.
    return {update: check.doubt for update, check in zip(files, checks, strict=False)}


def means(scores: Mapping[int, Mapping[str, float]]) -> dict[int, float]:
    """Return the mean over tasks of each update's scores, each task with equal weight."""
    return {update: round(fmean(tasks.values()), DIGITS) for update, tasks in scores.items()}


# Windows


def best_updates(development: Mapping[int, float], size: int, lower: bool = False) -> list[int]:
    """Return the consecutive checkpoints with the highest mean score, or the lowest.

    Of equal means the latest is taken; where there are fewer checkpoints than `size`, all are.
    `development` has the score of each on the development set, by update.
    """
    updates = sorted(development)
    size = min(size, len(updates))
    # As written, not as stored: 25.1 + 25.3 and 25.2 + 25.2 are a tie.
    scores = [Fraction(str(development[update])) * (-1 if lower else 1) for update in updates]
    starts = range(len(updates) - size + 1)
    best = max(starts, key=lambda start: (sum(scores[start : start + size]), start))
    return updates[best : best + size]


def mean_of(scores: Sequence[float]) -> Number:
    """Return the mean of a window's scores, with their number and standard deviation (n − 1)."""
    spread = stdev(scores) if len(scores) > 1 else None
    return Number(value=fmean(scores), spread=spread, n=len(scores))


def _record(
    tested: Mapping[int, Mapping[str, float]],
    window: Sequence[int],
    metric: Metric,
    doubts: Mapping[int, str],
) -> Record:
    """Return the record of one metric: the window's mean by task and over tasks.

    A mean of which one checkpoint is in doubt is in doubt.
    """
    over_tasks, inside = means(tested), [tested[update] for update in window]
    reasons = (f"update {update}: {doubts[update]}" for update in window if doubts.get(update))
    return Record(
        unit=metric.unit,
        tasks={task: mean_of([scores[task] for scores in inside]) for task in inside[0]},
        all=mean_of([over_tasks[update] for update in window]),
        how=metric.how,
        doubt=next(reasons, ""),
    )


def _lines(scores: Mapping[str, Scores]) -> list[str]:
    """Return the lines of scores.tsv: one for each split, metric, update and task."""
    lines = (
        f"{split}\t{metric}\t{update}\t{task}\t{score:.6f}"
        for split, by_metric in scores.items()
        for metric, by_update in by_metric.items()
        for update, by_task in by_update.items()
        for task, score in by_task.items()
    )
    return ["split\tmetric\tupdate\ttask\tscore", *lines]


def _words(number: Number) -> str:
    """Return a window's mean as a line reports it."""
    spread = f" ± {number.spread:.2f}" if number.spread is not None else ""
    return f"{number.value:.2f}{spread} (mean of {number.n})"
