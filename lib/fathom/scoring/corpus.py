"""The statistics of a corpus as measurements: pairs or sentences, tokens and types.

Tokens are those of sacreBLEU's tokenizer 13a, case kept; a type is a distinct token of a task's
split. Text of Chinese, Japanese and Burmese has few blanks, so its tokens are not words. Text from
which articles are drawn is too long to be cut into tokens: of it sentences alone are counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fathom.config.measurement_keys import short_code
from fathom.config.schema.dataset import SPLITS, Dataset, HeldOut
from fathom.config.schema.source import Source
from fathom.io.records import Recorded, identity
from fathom.results.measurements import Measurements, Number, Record, write
from fathom.results.recipe import RECIPE

TOKENS = "sacreBLEU's tokenizer 13a, case kept"


def measure(
    dataset: Dataset, sources: Mapping[str, Source], corpus: Path, report: Callable[[str], None]
) -> None:
    """Write statistics.json into the folder of a corpus; `sources` has all by name."""
    built = dataset.built()
    text = Recorded.of(corpus / "corpus.json")
    records: dict[str, Record] = {}
    drawn = isinstance(built.split, HeldOut)
    # Each language once: in the order of the tasks, the pivot last.
    pairs = [built.languages_of(task) for task in built.tasks]
    languages = dict.fromkeys(pair[place] for place in (0, -1) for pair in pairs)
    for split in SPLITS:
        report(f"{built.name}: counting {split}")
        records |= _sizes(built, text, split)
        for language in () if drawn else languages:
            counts = {
                task: _tokens(text.stream(f"{task}/{split}.{language}"))
                for task in built.tasks
                if language in built.languages_of(task)
            }
            records |= _vocabulary(counts, f"{split}.{short_code(language)}")
    file = Measurements(
        rule="statistics",
        recipe={"scoring": RECIPE["scoring"]},
        corpus=built.name,
        identity=identity(built.definition(sources)),
        measurements=records,
    )
    path = corpus / "statistics.json"
    write(path, file)
    report(f"{built.name}: {path}")


def _sizes(dataset: Dataset, text: Recorded, split: str) -> dict[str, Record]:
    """Return how many pairs or sentences each task has, and each task's share of them."""
    name = "pairs" if dataset.pivot else "sentences"
    counts = {
        task: sum(1 for _ in text.stream(f"{task}/{split}.{dataset.language(task)}"))
        for task in dataset.tasks
    }
    total = sum(counts.values())
    shares = {task: count / total for task, count in counts.items()}
    return {
        f"{name}.{split}": Record(unit=name, tasks=_numbers(counts), all=Number(value=total)),
        f"share.{split}": Record(tasks=_numbers(shares), how=f"of all {name}"),
    }


def _tokens(lines: Iterable[str]) -> Counter[str]:
    """Return how often each token occurs in a text."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenize = Tokenizer13a()
    return Counter(token for line in lines for token in tokenize(line).split())


def _vocabulary(counts: Mapping[str, Counter[str]], place: str) -> dict[str, Record]:
    """Return tokens, types and types in no other task of one language and split.

    `counts` says by task how often each token occurs; `place` is `<split>.<language>`, the end of
    the keys.
    """
    tasks_of = Counter(token for of_task in counts.values() for token in of_task)
    tokens = {task: of_task.total() for task, of_task in counts.items()}
    types = {task: len(of_task) for task, of_task in counts.items()}
    unshared = {task: sum(tasks_of[token] == 1 for token in counts[task]) for task in counts}
    total, every = Number(value=sum(tokens.values())), Number(value=len(tasks_of))
    alone = f"{TOKENS}; types that no other task has"
    return {
        f"tokens.{place}": Record(unit="tokens", tasks=_numbers(tokens), all=total, how=TOKENS),
        f"types.{place}": Record(unit="types", tasks=_numbers(types), all=every, how=TOKENS),
        f"own_types.{place}": Record(unit="types", tasks=_numbers(unshared), how=alone),
    }


def _numbers(values: Mapping[str, float]) -> dict[str, Number]:
    return {task: Number(value=value) for task, value in values.items()}
