"""Score the hypotheses of one decoding with every metric; each score has an interval.

All numbers come from one decoding. What each metric counts in a sentence is written next to the
scores, so that another interval or a paired test needs no second look at the text.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path

from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.data.subwords.sides import sides
from fathom.io.errors import FathomError
from fathom.io.files import write_lines
from fathom.io.integrity import Recorded, hashes, write_record
from fathom.results import decoding_record, training_record
from fathom.results.decoding_record import DecodingRecord
from fathom.results.measured import MeasurementFile
from fathom.results.measurements import Number, Record
from fathom.results.recipe import RECIPE
from fathom.scoring import bleu, chrf, right_language, sentences
from fathom.scoring.bootstrap import SEED, Statistics, draws, interval

DIGITS = 6
NO_LAYER = "no layer is left with {} gates"


@dataclass(frozen=True)
class Score:
    """One line of scores.tsv, as text.

    Attributes:
        task: the task.
        metric: a tokenizer of BLEU, or chrF.
        value: the score of all sentences, from 0 to 100.
        low: lower end of the 95 % bootstrap interval.
        high: upper end.
        stderr: standard deviation of the bootstrap's scores.
        sentences: number of sentences.
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


def score(
    spec: Spec, seed: int, split: str, gates: str, paths: Paths, report: Callable[[str], None]
) -> None:
    """Score one decoding of a run.

    Writes sentences.<task>.tsv.gz, scores.tsv and scoring.json into the decoding's folder, and the
    measurement file last. A run without a result has scores without lines. Hypotheses in several
    languages are checked: in the wrong one, scores carry a doubt.

    Args:
        spec: the run.
        seed: of the training.
        split: "valid" or "test".
        gates: "plain", "soft" or "hard".
        paths: where all files are.
        report: called with a line about each task.

    Raises:
        FathomError: hypotheses or references are missing or have changed, or hypotheses are of
            other settings or do not answer the references line by line.
    """
    training = training_record.read(paths.training(spec, seed))
    folder = paths.decoding(spec, seed, split, gates)
    decoded = decoding_record.read(folder, spec, gates, training.outcome)
    measured = MeasurementFile(spec, seed, paths, "scores", split, gates)
    for old in (*folder.glob("sentences.*.tsv.gz"), *folder.glob("scor*.*"), measured.path):
        old.unlink(missing_ok=True)
    scores: list[Score] = []
    corpus = paths.corpus(spec.data)
    hypotheses = _hypotheses(spec, folder, decoded)
    for task, texts in hypotheses.items():
        statistics = _statistics(spec, task, split, texts, corpus)
        sentences.write(sentences.path_of(folder, task), statistics)
        lines = list(_scores(task, statistics, spec.scoring.bootstrap_samples))
        scores += lines
        first = lines[0]
        report(f"{task}: {first.metric} {float(first.value):.2f} ({first.sentences} sentences)")
    write_lines(
        folder / "scores.tsv",
        ["\t".join(COLUMNS), *("\t".join(asdict(line).values()) for line in scores)],
    )
    described = {
        "recipe": RECIPE["scoring"],
        "interval": {"samples": spec.scoring.bootstrap_samples, "seed": SEED},
        "versions": {name: version(name) for name in ("numpy", "sacrebleu")},
        "files": hashes(folder, "decoding.json", "scores.tsv", "sentences.*.tsv.gz"),
    }
    write_record(folder / "scoring.json", described)
    checked = right_language.check(spec.data, corpus, split, hypotheses)
    doubt = checked.doubt if checked else ""
    records = records_of(scores, split, gates, decoded.no_layer, doubt)
    if checked:
        records |= right_language.records_of(checked, split, gates)
        report(f"languages: {doubt or 'right'}")
    measured.write(records, decoding_recipe=decoded.recipe)


def records_of(
    scores: list[Score], split: str, gates: str, no_layer: tuple[str, ...], doubt: str = ""
) -> dict[str, Record]:
    """Return the records of a decoding's scores by key.

    Args:
        scores: of all tasks.
        split: "valid" or "test".
        gates: "plain", "soft" or "hard".
        no_layer: the tasks without any layer, which have no score.
        doubt: why the scores say little.
    """
    missing = {task: NO_LAYER.format(gates) for task in no_layer}
    metrics = (*bleu.EVERYWHERE, *(line.metric for line in scores), chrf.NAME)
    records: dict[str, Record] = {}
    for metric in dict.fromkeys(metrics) if scores or missing else ():
        lines = [line for line in scores if line.metric == metric]
        records[key_of(metric, split, gates)] = Record(
            unit=unit_of(metric),
            tasks={line.task: _number(line) for line in lines},
            missing=missing,
            how=lines[0].signature if lines else "",
            doubt=doubt,
        )
    return records


def key_of(metric: str, split: str, gates: str, *window: str) -> str:
    """Return a metric's measurement key.

    Args:
        metric: a tokenizer of BLEU, or chrF.
        split: "valid" or "test".
        gates: "plain", "soft" or "hard".
        *window: "window" for the mean of a window of checkpoints.
    """
    words = (split, gates, *window)
    return ".".join(("chrf", *words) if metric == chrf.NAME else ("bleu", *words, metric))


def unit_of(metric: str) -> str:
    """Return the unit of a metric's scores."""
    return "chrF" if metric == chrf.NAME else "BLEU"


def measure(
    hypotheses: list[str],
    references: list[str],
    language: str,
    where: str,
    tokenizers: Sequence[str] = (),
) -> list[Statistics]:
    """Return the statistics of every metric that a target language is scored with.

    Args:
        hypotheses: line i answers line i of the references.
        references: the sentences in the target language.
        language: the target language.
        where: what an error names.
        tokenizers: further ones of BLEU that the run asks for.

    Raises:
        FathomError: there is no sentence, or not one hypothesis for each reference.
    """
    if len(hypotheses) != len(references) or not references:
        raise FathomError(
            f"{len(hypotheses)} hypotheses for {len(references)} references",
            where,
            "translate again; every sentence has one hypothesis",
        )
    variants = bleu.variants(language, tokenizers)
    return [
        *(bleu.statistics(hypotheses, references, variant, language) for variant in variants),
        chrf.statistics(hypotheses, references),
    ]


def _hypotheses(spec: Spec, folder: Path, decoded: DecodingRecord) -> dict[str, list[str]]:
    """Return the hypotheses of each task that has them, if they are still those of the decoding."""
    files = Recorded(folder / "decoding.json", decoded.files)
    return {task: files.lines(f"{task}.txt") for task in spec.data.tasks if task in decoded.tasks}


def _statistics(
    spec: Spec, task: str, split: str, hypotheses: list[str], corpus: Path
) -> list[Statistics]:
    """Return the statistics of a task's hypotheses."""
    target = sides(spec.data)[1]
    references = target.sentences(corpus, task, split)
    return measure(hypotheses, references, target.languages[task], task, spec.scoring.tokenizers)


def _scores(task: str, statistics: list[Statistics], samples: int) -> Iterator[Score]:
    """Yield the score of each metric; all intervals are of the same draws."""
    drawn = draws(len(statistics[0].counts), samples)
    for metric in statistics:
        spread = interval(metric, drawn)
        numbers = (metric.value, spread.low, spread.high, spread.stderr)
        value, low, high, stderr = (f"{number:.{DIGITS}f}" for number in numbers)
        sentences = str(len(metric.counts))
        yield Score(task, metric.metric, value, low, high, stderr, sentences, metric.signature)


def _number(line: Score) -> Number:
    """Return a line of scores.tsv as a measurement."""
    spread = {name: float(getattr(line, name)) for name in ("value", "low", "high", "stderr")}
    return Number(**spread, n=int(line.sentences))
