"""Dictionaries of text that comes cut into pieces, as `fairseq-preprocess` makes them.

No model is learned: the pieces are those of the training text.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fathom.config.spec import DataSpec
from fathom.data.subwords import marks, vocabulary
from fathom.data.subwords.sides import Side, sides_of_pieces
from fathom.io.files import sha256
from fathom.io.integrity import write_record


def collect(data: DataSpec, corpus: Path, out: Path, report: Callable[[str], None]) -> None:
    """Write the dictionaries of both sides, which may be one, and subwords.json.

    Args:
        data: the data set; `threshold` (null is 1) and `dictionary` of its subwords.
        corpus: the folder of its corpus, which is finished.
        out: the folder to write; its subwords.json comes last.
        report: takes one line of progress at a time.

    Raises:
        FathomError: text of the corpus is missing or has changed, or has a symbol of fairseq's.
    """
    both, threshold = sides_of_pieces(data), data.subwords.threshold or 1
    counts = {side.name: _counts(side, corpus) for side in both}
    if data.subwords.dictionary == "joint":
        counts = dict.fromkeys(counts, sum(counts.values(), Counter[str]()))
    summary: dict = {
        "algorithm": data.subwords.algorithm,
        "threshold": threshold,
        "multiple": vocabulary.MULTIPLE,
        "models": {},
        "dictionaries": {},
        "unknown_rates": {},
        "files": {},
    }
    for side in both:
        dictionary = vocabulary.frequent(counts[side.name], threshold)
        path = out / f"dictionary.{side.name}.txt"
        vocabulary.write(path, dictionary)
        report(f"subwords: {side.name}, published, {len(dictionary)} pieces")
        summary["files"][path.name] = sha256(path)
        summary["dictionaries"][side.name] = len(dictionary)
        summary["unknown_rates"][side.name] = {
            task: vocabulary.unknown_rate(
                dictionary, map(marks.cut, side.lines(corpus, task, "valid"))
            )
            for task in side.languages
        }
    write_record(out / "subwords.json", summary)


def _counts(side: Side, corpus: Path) -> Counter[str]:
    """Count the pieces of a side's training text."""
    counts: Counter[str] = Counter()
    for task in side.languages:
        counts += vocabulary.count(map(marks.cut, side.lines(corpus, task, "train")))
    return counts
