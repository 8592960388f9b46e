"""Whether the hypotheses of one-to-many translation are in the languages that were asked for.

A network that knows no target language writes one sentence for all of them, and its likelihood does
not show it. A task passes if its hypotheses are in its language at least half as often as its
references are, by character models of the training text; a model of the source's language finds
copies. A decoding passes if all tasks but one do, and no two tasks have the same hypotheses for
more than half of the sources that both have. Else its scores carry the doubt, and tables mark them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from fathom.config.spec import DataSpec
from fathom.data.sides import sides
from fathom.results.measurements import Number, Record
from fathom.scoring.language import CharacterModel, language_of

# Sentences by task.
Hypotheses = Mapping[str, Sequence[str]]

# Training sentences of a language that its model counts, and sentences of a task that are judged.
LEARNED, JUDGED = 4000, 100
# The share of the references' that hypotheses need, and how many tasks may have less.
SHARE, MAY_FAIL = 0.5, 1
# Above this share of equal hypotheses two tasks do not pass; fewer common sources say nothing.
EQUAL, COMMON = 0.5, 10
_NAMED = 3


@dataclass(frozen=True)
class Share:
    """How many texts of a task are in its language, of those that have enough letters."""

    right: int
    of: int

    @property
    def value(self) -> float:
        """The share; 0 where no text has enough letters."""
        return self.right / self.of if self.of else 0.0


@dataclass(frozen=True)
class Checked:
    """What the check of one decoding found."""

    hypotheses: dict[str, Share]  # by task
    references: dict[str, Share]
    # Equal hypotheses among the common sources, by pair of tasks.
    equal: dict[tuple[str, str], Share]

    @property
    def doubt(self) -> str:
        """Why the decoding does not pass, in words; nothing where it does."""
        wrong = [
            f"{task} ({share.value:.0%} right, references {self.references[task].value:.0%})"
            for task, share in self.hypotheses.items()
            if share.value < SHARE * self.references[task].value
        ]
        same = [
            f"{one} and {other} ({share.value:.0%})"
            for (one, other), share in self.equal.items()
            if share.value > EQUAL
        ]
        reasons = [_named("hypotheses in another language", wrong)] if len(wrong) > MAY_FAIL else []
        reasons += [_named("equal hypotheses", same)] if same else []
        return "; ".join(reasons)


def check(data: DataSpec, corpus: Path, split: str, hypotheses: Hypotheses) -> Checked | None:
    """Check the hypotheses of a decoding; None where all tasks have one target language.

    Args:
        data: a run's data.
        corpus: the folder of its corpus.
        split: "valid" or "test".
        hypotheses: of each task that has them, one for each sentence of the split.
    """
    return next(check_each(data, corpus, split, [hypotheses] if hypotheses else []), None)


def check_each(
    data: DataSpec, corpus: Path, split: str, decodings: Iterable[Hypotheses]
) -> Iterator[Checked]:
    """Yield the check of several decodings of a split; nothing where there is one target language.

    The arguments are those of `check`; the models of the languages are made once.
    """
    if len(set(sides(data)[1].languages.values())) < 2:
        return
    models = _models(data, corpus)
    for hypotheses in decodings:
        yield _checked(data, corpus, split, hypotheses, models)


def _checked(
    data: DataSpec,
    corpus: Path,
    split: str,
    hypotheses: Hypotheses,
    models: Mapping[str, CharacterModel],
) -> Checked:
    """Return what the models of all languages say of a decoding."""
    source, target = sides(data)
    languages = target.languages

    def share(task: str, texts: Sequence[str]) -> Share:
        likeliest = [language_of(text, models) for text in texts[:JUDGED]]
        right, none = likeliest.count(languages[task]), likeliest.count(None)
        return Share(right, len(likeliest) - none)

    answers = {
        task: dict(zip(source.sentences(corpus, task, split), texts, strict=True))
        for task, texts in hypotheses.items()
    }
    pairs = {
        (one, other): _equal(answers[one], answers[other])
        for one, other in combinations(hypotheses, 2)
        if languages[one] != languages[other]
    }
    references = {task: target.sentences(corpus, task, split) for task in hypotheses}
    return Checked(
        hypotheses={task: share(task, texts) for task, texts in hypotheses.items()},
        references={task: share(task, texts) for task, texts in references.items()},
        equal={pair: equal for pair, equal in pairs.items() if equal.of >= COMMON},
    )


def records_of(checked: Checked, split: str, gates: str) -> dict[str, Record]:
    """Return what the check of a decoding found, by key."""
    pairs = [f"{one}, {other}" for one, other in checked.equal]
    equal = [share.value for share in checked.equal.values()]
    records = {
        "right_language": Record(tasks=_numbers(checked.hypotheses), doubt=checked.doubt),
        "reference_language": Record(tasks=_numbers(checked.references)),
        "equal_hypotheses": Record(axes=("tasks",), labels={"tasks": pairs}, values=equal),
    }
    return {f"{name}.{split}.{gates}": record for name, record in records.items()}


def _models(data: DataSpec, corpus: Path) -> dict[str, CharacterModel]:
    """Return the model of each language of the training text, the source's included."""
    texts: dict[str, dict[str, None]] = {}
    for side in sides(data):
        for task, language in side.languages.items():
            lines = side.sentences(corpus, task, "train")[:LEARNED]
            texts.setdefault(language, {}).update(dict.fromkeys(lines))
    return {language: CharacterModel(list(lines)[:LEARNED]) for language, lines in texts.items()}


def _numbers(shares: Mapping[str, Share]) -> dict[str, Number]:
    return {task: Number(value=share.value, n=share.of) for task, share in shares.items()}


def _equal(one: Mapping[str, str], other: Mapping[str, str]) -> Share:
    """Return how many of the sources that two tasks share have the same hypothesis."""
    common = one.keys() & other.keys()
    return Share(sum(one[source] == other[source] for source in common), len(common))


def _named(what: str, items: Sequence[str]) -> str:
    more = f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
    return f"{what}: {', '.join(items[:_NAMED])}{more}"
