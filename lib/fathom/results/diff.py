"""Two folders of results, A and B, compared: their CSV files, and their trainings that ended.

A value is found by four words: a folder (a scale, or runs), a file in it (a table, a figure,
claims, compare, or a training), a place in that (a cell, a claim, a measurement), and a name. What
A or B has alone is one difference, however many values are below it.
"""

import re
from collections import Counter, defaultdict
from os.path import commonprefix
from pathlib import Path

from fathom.io.errors import FathomError, unknown
from fathom.results.tree import SEEDS, RunResults, artefacts, read_run, rows, run_folders

Values = dict[tuple[str, str, str, str], str]  # texts by folder, file, place and name

_RUNS = "runs"
# The columns that find a line of a CSV file, where it has them.
_KEYS = ("paper", "claim", "part", "table", "block", "row", "column", "seed")
_KEY_WORDS = {"row": "“{}”", "seed": "seed {}"}
# Columns that repeat other columns, config, or the name of the folder.
_REPEATED = ("note", "sentence", "section", "scale")
_ANSWERS = ("answer", "verdict")  # named first
_BY_SEED = SEEDS.removesuffix(".csv")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?")
_SHOWN = 3  # values that a line names
_LONG = 60  # characters of a value for which a line has room


def compare(
    first: Path, second: Path, tolerance: float = 0.0, *, table: str = "", scale: str = ""
) -> dict[str, list[str]]:
    """Return what differs: a line for each place, by the file that it is in; nothing if equal.

    Args:
        tolerance: how far two numbers, also of a text, may be apart, in their unit.
        table: a table or figure that is compared alone, `<paper>_<name>`; all if empty.
        scale: whose CSV files are compared alone; all if empty.
    """
    names = _chosen(first, second, table, scale)
    a, b = _of_artefacts(first, names), _of_artefacts(second, names)
    if not (table or scale):
        runs_of_a, runs_of_b = _of_runs(first, second)
        a |= runs_of_a
        b |= runs_of_b
    in_a, in_b = ({key[:words] for key in values for words in (1, 2, 3)} for values in (a, b))
    in_one = in_a ^ in_b
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)  # words by heading and place
    for key in a | b:
        folder, file, place, name = key
        title = f"{folder}/{file}"
        only = f"only in {'A' if key in a else 'B'}"
        texts = a.get(key, ""), b.get(key, "")
        if key[:1] in in_one:
            found[only][folder] = []
        elif key[:2] in in_one:
            # compare.csv follows from the tables; earlier versions wrote no numbers by seed.
            if file != "compare" and not file.endswith(_BY_SEED):
                found[only][title] = []
        elif key[:3] in in_one:
            found[title][place] = [only]
        elif not _alike(*texts, tolerance):
            found[title].setdefault(place, []).append(_both(name, *texts))
    return {
        heading: [_line(place, words) for place, words in found[heading].items()]
        for heading in sorted(found, key=lambda heading: not heading.startswith("only in"))
    }


def _alike(first: str, second: str, tolerance: float) -> bool:
    """Return whether two texts have equal words, and numbers that are near."""
    if first == second:
        return True
    if _NUMBER.split(first) != _NUMBER.split(second):
        return False
    pairs = zip(_NUMBER.findall(first), _NUMBER.findall(second), strict=True)
    return all(abs(float(a) - float(b)) <= tolerance for a, b in pairs)


def _both(name: str, first: str, second: str) -> str:
    """Return two values in words; long ones from a little before the place where they differ."""
    texts = [first or "nothing", second or "nothing"]
    if max(map(len, texts)) > _LONG:
        start = max(len(commonprefix(texts)) - _LONG // 2, 0)  # noqa: RUF071
        before, end = "…" if start else "", start + _LONG
        texts = [before + text[start:end] + ("…" if text[end:] else "") for text in texts]
    return f"{name} {texts[0]} in A, {texts[1]} in B"


def _line(place: str, words: list[str]) -> str:
    """Return a place with the first of what is said of it."""
    more = [f"and {len(words) - _SHOWN} more"] if len(words) > _SHOWN else []
    return ": ".join(filter(None, (place, "; ".join(words[:_SHOWN] + more))))


def _chosen(first: Path, second: Path, table: str, scale: str) -> list[str]:
    """Return what A or B has: of a table or figure, of a scale, of both, or all."""
    for results in (first, second):
        if not (artefacts(results) or run_folders(results)):
            what = "no results are in this folder" if results.is_dir() else "no such folder"
            remedy = "give the folder that holds runs/ and the folders of scales"
            raise FathomError(what, str(results), remedy)
    where = f"{first}, {second}"
    names = list(dict.fromkeys((*artefacts(first), *artefacts(second))))
    if scale:
        scales = {name: name.partition("/")[0] for name in names}
        names = [name for name in names if scales[name] == scale]
        if not names:
            raise unknown("scale", scale, where, dict.fromkeys(scales.values()))
    if table:
        tables = {name: name.partition("/")[2].replace("/", "_") for name in names}
        names = [name for name in names if tables[name] == table]
        if not names:
            raise unknown("table or figure", table, where, dict.fromkeys(tables.values()))
    return names


def _of_artefacts(results: Path, names: list[str]) -> Values:
    """Return the values of CSV files; an empty field is like a column that a file does not have."""
    values: Values = {}
    for name in (*names, *(f"{name}{_BY_SEED}" for name in names)):
        path = results / f"{name}.csv"
        folder, _, file = name.partition("/")
        times: Counter[str] = Counter()
        # A file with a damaged heading is read, too, and refused.
        for number, line in enumerate(rows(path) if path.is_file() else (), start=2):
            place, prefix = _place(line), ""
            times[place] += 1
            if not place:  # of a figure
                prefix = f"line {number} "
            elif times[place] > 1:
                place = f"{place} {times[place]}"
            for column in sorted(line, key=lambda column: column not in _ANSWERS):
                if line[column] and column not in _REPEATED:
                    values[folder, file, place, f"{prefix}{column}"] = line[column]
    return values


def _place(line: dict[str, str]) -> str:
    """Return what finds a line of a CSV file, in words; empty for a figure."""
    if not {"block", "paper"} & line.keys():
        return ""
    return " ".join(_KEY_WORDS.get(key, "{}").format(line[key]) for key in _KEYS if line.get(key))


def _of_runs(first: Path, second: Path) -> tuple[Values, Values]:
    """Return the values of the trainings that ended in A, and in B.

    They are found by run and seed, so that one run with two settings is a pair. Where A or B has
    several runs of a name, which scales have, the hash of a training's folder finds it, too.
    """
    runs = [[*filter(None, map(read_run, run_folders(results)))] for results in (first, second)]
    counts = [Counter((run.name, run.seed) for run in of_one) for of_one in runs]
    several = {name for count in counts for name in count if count[name] > 1}
    values: tuple[Values, Values] = ({}, {})
    for of_one, found in zip(runs, values, strict=True):
        for run in of_one:
            with_hash = "/".join(run.folder.parts[-3:-1])
            name = with_hash if (run.name, run.seed) in several else run.name
            found |= _of_run(f"{name}, seed {run.seed}", run)
    return values


def _of_run(file: str, run: RunResults) -> Values:
    """Return how a training ended, with what, and its numbers."""
    ended = run.training.outcome
    digits = run.folder.parent.name[-8:]
    facts = {"identity": digits, "outcome": f"{ended.kind} at update {ended.update}"}
    facts |= {f"recipe of {stage}": str(number) for stage, number in run.recipe.items()}
    values: Values = {(_RUNS, file, "", name): text for name, text in facts.items()}
    for key, record in run.measurements.items():
        for task, number in {"all tasks": record.all, **record.tasks}.items():
            if number:
                values[_RUNS, file, key, task] = str(number.value)
    return values
