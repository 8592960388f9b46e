"""Score the hypotheses of one decoding with every metric; each score has an interval.

All numbers come from one decoding. What each metric counts in a sentence is written next to the
scores, so that another interval or a paired test needs no second look at the text.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version

from fathom.config import tokenizers
from fathom.config.measurement_keys import ALWAYS_SCORED, SCORES
from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.data import vocabulary
from fathom.data.indexed import dictionary_path
from fathom.data.sides import part_lines, sides
from fathom.io.files import write_lines
from fathom.io.records import Recorded, hashes, write_record
from fathom.results import decoding_record, training_record
from fathom.results.measurements import NO_LAYER, Number, Record
from fathom.results.recipe import RECIPE
from fathom.results.training_record import MeasurementFile
from fathom.scoring import right_language, sentences
from fathom.scoring.bootstrap import SEED, draws, interval
from fathom.scoring.metrics import HeldOut, Metric, Statistics, measure, metrics_of, named
from fathom.scoring.sentences import OF_REFERENCES

DIGITS = 6


@dataclass(frozen=True)
class Score:
    """One line of scores.tsv, as text."""

    task: str
    metric: str  # its label: a tokenizer of BLEU, chrF or another metric
    value: str  # of all sentences
    low: str  # ends of the 95 % bootstrap interval
    high: str
    stderr: str  # standard deviation of the bootstrap's scores
    sentences: str  # their number
    signature: str  # sacreBLEU's


COLUMNS = tuple(field.name for field in fields(Score))


def score(
    spec: Spec,
    seed: int,
    split: str,
    gates: str,
    paths: Paths,
    report: Callable[[str], None],
    rule: str = SCORES,
) -> None:
    """Score one decoding of a run by the metrics that every run has, or by another one.

    Writes sentences.<task>.tsv.gz, scores.tsv and scoring.json into the decoding's folder, and the
    measurement file last. A run without a result has scores without lines. Hypotheses in several
    languages are checked: in the wrong one, scores carry a doubt. If `rule` names a metric, its
    files are in a folder of its name inside the decoding's.
    """
    training = training_record.read(paths.training(spec, seed))
    folder, corpus = paths.decoding(spec, seed, split, gates), paths.corpus(spec.data)
    decoded = decoding_record.read(folder, spec, gates, training.outcome)
    measured = MeasurementFile(spec, seed, paths, rule, split, gates)
    names, place, up = ALWAYS_SCORED, folder, ""
    if rule != SCORES:
        names, place, up = (rule,), folder / rule, "../"
    for old in (*place.glob("sentences.*.tsv.gz"), *place.glob("scor*.*"), measured.path):
        old.unlink(missing_ok=True)
    files = Recorded(folder / "decoding.json", decoded.files)
    tasks = [task for task in spec.data.tasks if task in decoded.tasks]
    hypotheses = {task: files.lines(f"{task}.txt") for task in tasks}
    asked = tokenizers.counted(spec, split)
    scores: list[Score] = []
    for task, texts in hypotheses.items():
        text = held_out(spec, paths, split, task)
        statistics = measure(texts, text, metrics_of(text.language, asked, names), task)
        counted = []
        if rule != SCORES:
            counted = [named(OF_REFERENCES).statistics(texts, text.references)]
        sentences.write(sentences.path_of(place, task), [*statistics, *counted])
        lines = list(scores_of(task, statistics, spec.scoring.bootstrap_samples))
        scores += lines
        first = lines[0]
        report(f"{task}: {first.metric} {float(first.value):.2f} ({first.sentences} sentences)")
    rows = ("\t".join(asdict(line).values()) for line in scores)
    write_lines(place / "scores.tsv", ["\t".join(COLUMNS), *rows])
    described = {
        "recipe": RECIPE["scoring"],
        "interval": {"samples": spec.scoring.bootstrap_samples, "seed": SEED},
        "versions": {name: version(name) for name in ("numpy", "sacrebleu")},
        "files": hashes(place, f"{up}decoding.json", "scores.tsv", "sentences.*.tsv.gz"),
    }
    write_record(place / "scoring.json", described)
    checked = right_language.check(spec.data, corpus, split, hypotheses)
    doubt = checked.doubt if checked else ""
    # Where no task has a layer, the metrics of every language say so.
    languages = (*(spec.data.target_languages[task] for task in tasks), "")
    metrics = [m for language in languages for m in metrics_of(language, asked, names)]
    doubts = checked.doubts if checked else None
    records = records_of(scores, metrics, split, gates, decoded.no_layer, doubt, doubts)
    if checked and rule == SCORES:
        records |= right_language.records_of(checked, split, gates)
        report(f"languages: {doubt or 'right'}")
    measured.write(records, decoding_recipe=decoded.recipe)


def held_out(spec: Spec, paths: Paths, split: str, task: str) -> HeldOut:
    """Return the text that hypotheses of a task are measured against."""
    corpus, (source, target) = paths.corpus(spec.data), sides(spec.data)
    parts = spec.data.test_parts if split == "test" else ()
    return HeldOut(
        target.languages[task],
        target.sentences(corpus, task, split),
        source.sentences(corpus, task, split),
        _printed(spec, paths, split, task) if tokenizers.needs_pieces(spec) else (),
        {part: part_lines(corpus, task, part) for part in parts},
    )


def _printed(spec: Spec, paths: Paths, split: str, task: str) -> list[str]:
    """Return the references of a task as fairseq prints them."""
    # Imported where it is used: SentencePiece scores nothing else.
    from fathom.data.subwords import Encoder

    target, subwords = sides(spec.data)[1], paths.subwords(spec.data)
    entries = vocabulary.read(dictionary_path(subwords, target.name))
    lines = target.lines(paths.corpus(spec.data), task, split)
    return [*Encoder.of(subwords, target).printed(task, lines, entries)]


def decoded_texts(
    spec: Spec, seed: int, split: str, gates: str, paths: Paths, tasks: Iterable[str]
) -> Iterator[tuple[str, ...]]:
    """Yield task, source, reference and hypothesis of each sentence; some tasks may have none."""
    folder = paths.decoding(spec, seed, split, gates)
    ended = training_record.read(paths.training(spec, seed)).outcome
    decoded = decoding_record.read(folder, spec, gates, ended)
    files, corpus = Recorded(folder / "decoding.json", decoded.files), paths.corpus(spec.data)
    for task in filter(decoded.tasks.__contains__, tasks):
        texts = [side.sentences(corpus, task, split) for side in sides(spec.data)]
        for row in zip(*texts, files.lines(f"{task}.txt"), strict=True):
            yield task, *row


def scores_of(task: str, statistics: list[Statistics], samples: int) -> Iterator[Score]:
    """Yield the score of each metric; all intervals are of the same draws."""
    drawn = {}
    for each in statistics:
        counted, metric = each.of_part, each.metric
        count = len(counted.counts)
        drawn.setdefault(count, draws(count, samples))
        spread = interval(counted, drawn[count])
        numbers = (counted.value, spread.low, spread.high, spread.stderr)
        value, low, high, stderr = (f"{number:.{DIGITS}f}" for number in numbers)
        yield Score(task, metric.label, value, low, high, stderr, str(count), metric.how)


def records_of(
    scores: list[Score],
    metrics: Iterable[Metric],
    split: str,
    gates: str,
    no_layer: tuple[str, ...],
    doubt: str = "",
    doubts: dict[str, str] | None = None,
) -> dict[str, Record]:
    """Return the records of a decoding's scores by key.

    Tasks without any layer have no score; `doubt` and by task `doubts` say why scores say little.
    """
    missing = {task: NO_LAYER.format(gates) for task in no_layer}
    by_label = {metric.label: metric for metric in metrics}
    records: dict[str, Record] = {}
    for label, metric in by_label.items() if scores or missing else ():
        lines = [line for line in scores if line.metric == label]
        records[metric.key(split, gates)] = Record(
            unit=metric.unit,
            tasks={line.task: _number(line) for line in lines},
            missing=missing,
            how=lines[0].signature if lines else "",
            doubt=doubt,
            doubts=doubts,
        )
    return records


def _number(line: Score) -> Number:
    """Return a line of scores.tsv as a measurement."""
    spread = {name: float(getattr(line, name)) for name in ("value", "low", "high", "stderr")}
    return Number(**spread, n=int(line.sentences))
