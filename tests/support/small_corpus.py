"""A small corpus in four scripts, made by the test: invented words, parallel in length alone."""

import random
from pathlib import Path

from fathom.config.schema.run import DataSettings, Subwords
from fathom.config.spec import DataSpec
from fathom.io.files import write_lines
from fathom.io.records import hashes, write_record

SYLLABLES = {
    "eng": ("ta", "lo", "mi", "ne", "sur", "ket", "pra", "shi"),
    "bos": ("ča", "lo", "ži", "na", "đu", "ket", "šta", "mi"),
    "bel": ("та", "ло", "ў", "не", "жур", "кет", "ша", "мі"),
    "kor": ("한", "국", "어", "문", "장", "을", "만", "든"),
}
TASKS = ("bos", "bel", "kor")
# One task is not called like its language, as where two tasks share one.
LANGUAGES = {"bos": "bos", "bel": "bel", "kor": "hangul"}
PAIRS = {"bos": 60, "bel": 150, "kor": 300}
SPLITS = {"train": 1, "valid": 5, "test": 5}
ODD = "one\u2028two\u0085three"
INVISIBLE = "\u200b"


def words(language: str, amount: int, dice: random.Random) -> str:
    """Return some words of a language."""
    syllables = SYLLABLES[language]
    return " ".join("".join(dice.choices(syllables, k=dice.randint(1, 3))) for _ in range(amount))


def write_corpus(folder: Path) -> Path:
    """Write the corpus; bos also has a blank line, a line of odd blanks, and a long one."""
    dice = random.Random(7)
    for task in TASKS:
        for split, share in SPLITS.items():
            amounts = [min(40, 1 + int(dice.expovariate(0.2))) for _ in range(PAIRS[task] // share)]
            other = [words(task, amount, dice) for amount in amounts]
            pivot = [words("eng", amount, dice) for amount in amounts]
            if task == "bos":
                other[3], other[4], other[5] = ODD, INVISIBLE, words(task, 90, dice)
            write_lines(folder / task / f"{split}.{LANGUAGES[task]}", other)
            write_lines(folder / task / f"{split}.eng", pivot)
    record_corpus(folder)
    return folder


def record_corpus(folder: Path) -> None:
    """Write the record of a corpus whose text is there."""
    write_record(folder / "corpus.json", {"files": hashes(folder, "*/*.*")})


DEFINITION = {"tasks": [[task, LANGUAGES[task]] for task in TASKS], "pivot": "eng"}
# What the models that are named take the place of; published pieces have no models.
_REPLACED = {"joint": ("foreign", "english"), "per_task": ("foreign",)}


def small_data(definition: dict = DEFINITION, pieces: dict | None = None, **changes) -> DataSpec:
    """Return the data of the corpus, many-to-one with `foreign: 120, english: 80`.

    `definition` has tasks and pivot, `pieces` those of the data set whose pieces are used, and
    `changes` are of `data` or `data.subwords`.
    """
    subwords = {"algorithm": "bpe", "foreign": 120, "english": 80}
    if changes.get("algorithm") == "published":
        subwords = {}
    for key in changes:
        for name in _REPLACED.get(key, ()):
            del subwords[name]
    tree = {"dataset": "small", "direction": "many_to_one", "max_pieces": 120}
    for key, value in changes.items():
        (subwords if key in Subwords.model_fields else tree)[key] = value
    if pieces:
        tree["pieces_of"] = "other"
    checked = DataSettings.model_validate(tree | {"subwords": subwords})
    tasks = tuple(task for task, _ in definition["tasks"])
    return DataSpec(checked, tasks, definition, pieces)


def silent(line: str) -> None:
    """Take a line of progress and print nothing."""
