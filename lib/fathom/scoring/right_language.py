"""Whether the hypotheses of one-to-many translation are in the languages that were asked for.

A network that knows no target language writes one sentence for all of them, and its likelihood does
not show it. A task passes if its hypotheses are in its language at least half as often as its
references are, by character models of the training text; a model of the source's language finds
copies. A decoding passes if all tasks but one do. Else its scores carry the doubt, and tables mark
them.

A language's model gives a character c the probability

    p(c | h) = (count(h c) + 2 p(c | h')) / (count(h) + 2)

after the characters h, up to three; h' is h without its first one, and where no character is left,
p(c) is 1/300. This is Witten and Bell's idea with a constant weight. Case does not count.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fathom.config.spec import DataSpec
from fathom.data.sides import sides
from fathom.results.measurements import Number, Record

# Sentences by task.
Hypotheses = Mapping[str, Sequence[str]]

# Training sentences of a language that its model counts, and sentences of a task that are judged,
# drawn evenly over the test set: a talk, or a file of messages, is one after the other.
LEARNED, JUDGED = 4000, 100
# The share of the references' that hypotheses need, and how many tasks may have less.
SHARE, MAY_FAIL = 0.5, 1
_NAMED = 3  # tasks in the words of a doubt

# Of the models: the longest context, the weight of shorter ones, and the chance of any character.
LONGEST, WEIGHT, UNIFORM = 3, 2.0, 1 / 300
LETTERS = 3  # a text with fewer letters has no language
_BEFORE = " " * LONGEST


# The language of a text


class CharacterModel:
    """The characters of one language."""

    def __init__(self, sentences: Iterable[str]):
        # Each character with those before it; shorter grams are the ends of these.
        longest = Counter(gram for sentence in sentences for gram in _grams(sentence.lower()))
        self._counts = Counter(longest)
        for gram, times in longest.items():
            for start in range(1, LONGEST + 1):
                self._counts[gram[start:]] += times
        self._of_last = cache(self._logarithm)
        self._contexts: Counter[str] = Counter()
        for gram, times in self._counts.items():
            self._contexts[gram[:-1]] += times

    def log_likelihood(self, text: str) -> float:
        """Return the logarithm of a text's probability; `text` is in lower case."""
        return math.fsum(map(self._of_last, _grams(text)))

    def _logarithm(self, gram: str) -> float:
        """Return the logarithm of the probability of a gram's last character after the others."""
        probability = UNIFORM
        for start in range(LONGEST, -1, -1):
            times = self._contexts.get(gram[start:-1])
            if not times:
                break
            weighted = self._counts.get(gram[start:], 0) + WEIGHT * probability
            probability = weighted / (times + WEIGHT)
        return math.log(probability)


def _grams(text: str) -> Iterator[str]:
    """Yield each character of a text after the ones before it."""
    text = _BEFORE + text
    return (text[start : start + LONGEST + 1] for start in range(len(text) - LONGEST))


def language_of(text: str, models: Mapping[str, CharacterModel]) -> str | None:
    """Return the likeliest language of a sentence, or None if it has too few letters to say."""
    text = text.lower()
    if sum(map(str.isalpha, text)) < LETTERS:
        return None
    return max(models, key=lambda language: models[language].log_likelihood(text))


# A decoding


@dataclass(frozen=True)
class Checked:
    """What the check of one decoding found, by task: shares of texts in the task's language.

    `n` is the number of judged texts with enough letters; without any, the share is 0.
    """

    hypotheses: dict[str, Number]
    references: dict[str, Number]

    @property
    def doubts(self) -> dict[str, str]:
        """Why tasks do not pass, in words."""
        return {
            task: f"{share.value:.0%} right, references {self.references[task].value:.0%}"
            for task, share in self.hypotheses.items()
            if share.value < SHARE * self.references[task].value
        }

    @property
    def doubt(self) -> str:
        """Why the decoding does not pass, in words; nothing where it does."""
        wrong = [f"{task} ({shares})" for task, shares in self.doubts.items()]
        if len(wrong) <= MAY_FAIL:
            return ""
        more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        return f"hypotheses in another language: {', '.join(wrong[:_NAMED])}{more}"


def check(data: DataSpec, corpus: Path, split: str, hypotheses: Hypotheses) -> Checked | None:
    """Check the hypotheses of a decoding, as `check_each` does; None where there is nothing to."""
    return next(check_each(data, corpus, split, [hypotheses] if hypotheses else []), None)


def check_each(
    data: DataSpec, corpus: Path, split: str, decodings: Iterable[Hypotheses]
) -> Iterator[Checked]:
    """Yield the check of several decodings of a split; nothing where there is one target language.

    Models of languages are made once.
    """
    _, target = sides(data)
    if len(set(target.languages.values())) < 2:
        return
    models = _models(data, corpus)

    def shares(texts: Hypotheses) -> dict[str, Number]:
        return {task: _share(texts[task], target.languages[task], models) for task in texts}

    for hypotheses in decodings:
        references = {task: target.sentences(corpus, task, split) for task in hypotheses}
        yield Checked(shares(hypotheses), shares(references))


def records_of(checked: Checked, split: str, gates: str) -> dict[str, Record]:
    """Return what the check of a decoding found, by key."""
    records = {
        "right_language": Record(tasks=checked.hypotheses, doubt=checked.doubt),
        "reference_language": Record(tasks=checked.references),
    }
    return {f"{name}.{split}.{gates}": record for name, record in records.items()}


def _share(texts: Sequence[str], language: str, models: Mapping[str, CharacterModel]) -> Number:
    """Return the share of a language among the judged texts that have one."""
    count = min(JUDGED, len(texts))
    judged = (texts[at * len(texts) // count] for at in range(count))
    languages = [found for text in judged if (found := language_of(text, models)) is not None]
    right = languages.count(language)
    return Number(value=right / len(languages) if languages else 0.0, n=len(languages))


def _models(data: DataSpec, corpus: Path) -> dict[str, CharacterModel]:
    """Return the model of each language of the training text, the source's included."""
    texts: dict[str, dict[str, None]] = {}
    for side in sides(data):
        for task, language in side.languages.items():
            lines = side.sentences(corpus, task, "train")[:LEARNED]
            texts.setdefault(language, {}).update(dict.fromkeys(lines))
    return {language: CharacterModel(list(lines)[:LEARNED]) for language, lines in texts.items()}
