"""A small corpus in four scripts, made by the test: invented words, parallel in length alone."""

import random
from dataclasses import replace
from pathlib import Path

from fathom.io.files import write_json, write_lines
from fathom.runs.spec import Data, Subwords

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
    write_json(folder / "corpus.json", {"tasks": list(TASKS)})
    return folder


def small_data(**differences) -> Data:
    """Return the data set of the corpus; settings of Subwords or of Data may differ."""
    subwords = Subwords("bpe", 120, "joint", 80, "joint")
    data = Data(
        dataset="small",
        direction="many_to_one",
        tasks=TASKS,
        max_pieces=120,
        subwords=subwords,
        definition={"pivot": "eng", "tasks": [[task, LANGUAGES[task]] for task in TASKS]},
    )
    of_subwords = {k: v for k, v in differences.items() if hasattr(subwords, k)}
    of_data = {k: v for k, v in differences.items() if k not in of_subwords}
    return replace(data, subwords=replace(subwords, **of_subwords), **of_data)


def silent(line: str) -> None:
    """Take a line of progress and say nothing."""
