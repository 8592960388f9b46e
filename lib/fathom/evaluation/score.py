"""Score the hypotheses of one decoding: every metric, its signature, and the compared one's spread.

All numbers come from one decoding. What each metric keeps of a sentence is written beside the
scores, so that another interval or a paired test needs no second look at the text.
"""

import gzip
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from fathom.errors import FathomError, nearest
from fathom.evaluation import bleu, chrf
from fathom.evaluation.bootstrap import SEED, Statistics, interval
from fathom.io.files import read_json, read_lines, replacing, sha256, write_json, write_lines
from fathom.provenance.code_hash import stage_code
from fathom.provenance.manifest import DECODED
from fathom.runs.spec import Scoring, Spec
from fathom.subwords.sides import sides

METRICS = dict.fromkeys((*bleu.EVERYWHERE, *chain(*bleu.BY_LANGUAGE.values()), chrf.NAME))
DIGITS = 6


@dataclass(frozen=True)
class Score:
    """One line of scores.tsv, as text; the interval is empty but for the compared metric.

    Attributes:
        task: the task.
        metric: the metric's name.
        value: the score of the whole test set, from 0 to 100.
        low: lower end of the 95 % bootstrap interval.
        high: upper end.
        stderr: standard deviation of the bootstrap's scores.
        sentences: number of test sentences.
        signature: sacreBLEU's signature.
    """

    task: str
    metric: str
    value: str
    low: str
    high: str
    stderr: str
    sentences: str
    signature: str


COLUMNS = tuple(field.name for field in fields(Score))


def score(spec: Spec, corpus: Path, decoding: Path, report: Callable[[str], None]) -> None:
    """Score one decoding of a run.

    Writes sentences.<task>.tsv.gz, scoring.json and, last, scores.tsv into the decoding's folder.
    A decoding without hypotheses gives a table without lines.

    Args:
        spec: the run.
        corpus: the corpus's folder, for the references.
        decoding: the folder that `fathom translate` wrote.
        report: takes a line about each task.

    Raises:
        FathomError: the compared metric is unknown, or hypotheses are missing, altered, or do not
            answer the references line by line.
    """
    compared = spec.evaluation.scoring.compared_metric
    if compared not in METRICS:
        where = "evaluation.scoring.compared_metric"
        raise FathomError(f"no metric '{compared}'", where, nearest(compared, METRICS))
    decoded = read_json(decoding / "decoding.json")
    for old in (*decoding.glob("sentences.*.tsv.gz"), *decoding.glob("scor*.*")):
        old.unlink()
    tasks = decoded["tasks"] if decoded["outcome"] == DECODED else {}
    target = sides(spec.data)[1]
    lines: list[str] = []
    packed: dict[str, str] = {}
    for task in (task for task in spec.data.tasks if task in tasks):
        split = tasks[task]["split"]
        hypotheses = _hypotheses(decoding / f"{task}.{split}.txt", tasks[task]["sha256"])
        references = target.lines(corpus, task, split)
        kept = measure(hypotheses, references, target.languages[task], task)
        path = decoding / f"sentences.{task}.tsv.gz"
        write_sentences(path, kept)
        packed[path.name] = sha256(path)
        scores = [_score(task, each, spec.evaluation.scoring) for each in kept]
        lines += ["\t".join(asdict(each).values()) for each in scores]
        shown = next((each for each in scores if each.metric == compared), scores[0])
        value, sentences = float(shown.value), shown.sentences
        report(f"score: {task} {shown.metric} {value:.2f} ({sentences} sentences)")
    described = {
        "code": asdict(stage_code("scoring")),
        "decoding_sha256": sha256(decoding / "decoding.json"),
        "interval": drawn_with(spec.evaluation.scoring),
        "sentences": packed,
        "versions": {name: version(name) for name in ("numpy", "sacrebleu")},
    }
    write_json(decoding / "scoring.json", described)
    write_lines(decoding / "scores.tsv", ["\t".join(COLUMNS), *lines])


def measure(
    hypotheses: list[str], references: list[str], language: str, where: str
) -> list[Statistics]:
    """Return the statistics of every metric that a target language is scored with.

    Args:
        hypotheses: line i answers line i of the references.
        references: the test sentences in the target language.
        language: the target language.
        where: what an error names.

    Raises:
        FathomError: there is no sentence, or not one hypothesis for each reference.
    """
    if len(hypotheses) != len(references) or not references:
        raise FathomError(
            f"{len(hypotheses)} hypotheses for {len(references)} references",
            where,
            "translate again; every test sentence has one hypothesis",
        )
    found = [bleu.statistics(hypotheses, references, each) for each in bleu.variants(language)]
    return [*found, chrf.statistics(hypotheses, references)]


def read_scores(path: Path) -> list[Score]:
    """Read a scores.tsv.

    Raises:
        FathomError: the file is missing, or its columns are others.
    """
    if not path.is_file():
        raise FathomError("no such file", str(path), "make it: fathom score")
    header, *lines = (tuple(line.split("\t")) for line in read_lines(path))
    if header != COLUMNS:
        raise FathomError("other columns than those of scores", str(path), "score again")
    return [Score(*line) for line in lines]


def write_sentences(path: Path, kept: list[Statistics]) -> None:
    """Write what each metric counts in each sentence, one line a sentence, numbered from 1.

    Args:
        path: a gzip file; equal counts give equal bytes.
        kept: the metrics of one task.
    """
    names = [f"{each.metric}.{column}" for each in kept for column in each.columns]
    with (
        replacing(path, "wb") as stream,
        gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed,
    ):
        packed.write(("\t".join(["sentence", *names]) + "\n").encode())
        rows = zip(*(each.counts.tolist() for each in kept), strict=True)
        for number, row in enumerate(rows, start=1):
            counts = (str(count) for metric in row for count in metric)
            packed.write(("\t".join([str(number), *counts]) + "\n").encode())


def drawn_with(settings: Scoring) -> dict[str, str | int]:
    """Return what decides an interval: the metric, the number of draws and their seed."""
    return {
        "metric": settings.compared_metric,
        "samples": settings.bootstrap_samples,
        "seed": SEED,
    }


def _hypotheses(path: Path, expected: str) -> list[str]:
    """Read the hypotheses that a decoding's JSON names, if they are still the same."""
    if not path.is_file() or sha256(path) != expected:
        raise FathomError(
            "the hypotheses are missing or are not those that were decoded",
            str(path),
            "translate again",
        )
    return read_lines(path)


def _score(task: str, statistics: Statistics, settings: Scoring) -> Score:
    """Return a metric's score; the interval is drawn for the compared metric alone."""
    spread = ("", "", "")
    if statistics.metric == settings.compared_metric:
        drawn = interval(statistics, settings.bootstrap_samples)
        spread = tuple(f"{each:.{DIGITS}f}" for each in (drawn.low, drawn.high, drawn.stderr))
    return Score(
        task,
        statistics.metric,
        f"{statistics.value:.{DIGITS}f}",
        *spread,
        str(len(statistics.counts)),
        statistics.signature,
    )
