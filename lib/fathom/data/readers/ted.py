"""TED talks in 60 languages (Qi et al., NAACL 2018): a row has one sentence in several languages.

The rows come in two forms with the same text. The archive has a tab-separated table for each split,
with a header of codes and without quoting: a bare double quote is a character like any other. The
parquet files of neulab/ted_multi on Hugging Face have a list of codes and one of cells in each row.

Cells are Moses tokens with entities. The papers' text, that of Wang et al. (ACL 2020), is natural,
and they score it with sacreBLEU. So entities are unescaped, and tokens are joined by sacremoses as
the script detokenizer.perl joins those of the language; a danda joins its word, which Moses leaves
apart. Of public lines of the papers' text this gives 88.0 % back in Azerbaijani, 91.4 % in Finnish
and 83.7 % in Bengali (3,000 lines each).

The published split and its duplicates are kept. A row gives a task no pair if either cell is

1. missing: it is not there, or one of the marks of a missing translation is anywhere in it;
2. empty: nothing is left of it when blanks are trimmed.

Characters that some reader takes for the end of a line become blanks.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow

from fathom.config.measurement_keys import short_code
from fathom.config.schema.dataset import SPLITS, TalkDataset
from fathom.data import parquet
from fathom.data.archives import REMEDY, decoded, named
from fathom.data.clean import one_line
from fathom.data.split import Pair, TaskText
from fathom.io.errors import FathomError, nearest
from fathom.io.records import Recorded

_FILES = ("all_talks_train.tsv", "all_talks_dev.tsv", "all_talks_test.tsv")
_SPLIT_OF_TABLE: dict[str, str] = dict(zip(_FILES, SPLITS, strict=True))
_SPLIT_OF_FILE = re.compile(r"-(train|validation|test)[-.]")
_TEXTS = pyarrow.list_(pyarrow.string())
_COLUMN = "translations"
_PARTS = ("language", "translation")
_TYPE = pyarrow.struct(dict.fromkeys(_PARTS, _TEXTS))
_FAULTS = _MISSING, _EMPTY = "missing", "empty"
_DANDA = re.compile(r" +(?=[।॥])")

# The split of a row, and its cells by code.
Row = tuple[str, dict[str, str]]


def read(files: dict[str, Path], dataset: TalkDataset) -> dict[str, TaskText[Pair]]:
    """Read the talks of all tasks from the archive, or the folder of files, of each source.

    A row that gives a task no pair is counted by its reason.
    """
    splits: dict[str, dict[str, list[Pair]]] = {
        task: {split: [] for split in SPLITS} for task in dataset.tasks
    }
    texts = {task: TaskText(splits[task]) for task in dataset.tasks}
    for source, path in files.items():
        codes = _codes(source, dataset)
        joined = {language: joiner(language) for language in codes}
        counts = Counter[str]()
        seen: set[str] = set()
        for split, row in _of_folder(path) if path.is_dir() else _of_archive(path):
            counts[split] += 1
            seen |= row.keys()
            # Once for all tasks: the pivot's cell is the same.
            tokens, pivot_fault = _cell(row, codes[dataset.pivot], dataset)
            pivot = joined[dataset.pivot](tokens)
            for task in codes.keys() - {dataset.pivot}:
                tokens, text_fault = _cell(row, codes[task], dataset)
                texts[task].read += 1
                if fault := next(
                    (each for each in _FAULTS if each in (text_fault, pivot_fault)), ""
                ):
                    texts[task].dropped[fault] += 1
                else:
                    splits[task][split].append(Pair(joined[task](tokens), pivot))
        _require(source, codes, counts, seen, dataset)
    return texts


def _require(
    source: str, codes: dict[str, str], counts: Counter[str], seen: set[str], dataset: TalkDataset
) -> None:
    """Refuse another number of rows than the card has, and codes that are in no row."""
    for split, wanted in dataset.rows:
        if counts[split] != wanted:
            what = f"{source} has {counts[split]:,} rows for {split}, not {wanted:,}"
            raise FathomError(what, dataset.place("rows", split), REMEDY)
    for language, code in codes.items():
        if code not in seen:
            what = f"no row of {source} has the code '{code}'"
            where = dataset.place("sources", source, language)
            raise FathomError(what, where, nearest(code, seen))


def _codes(source: str, dataset: TalkDataset) -> dict[str, str]:
    """Return the code of each task that a source has, and of the pivot."""
    codes = {name: dataset.codes(source, name)[:1] for name in (*dataset.tasks, dataset.pivot)}
    if not codes[dataset.pivot]:
        what = f"the code of the pivot '{dataset.pivot}' is not given"
        raise FathomError(what, dataset.place("sources", source), "add it to the tasks' codes")
    return {name: of_name[0] for name, of_name in codes.items() if of_name}


def _cell(row: dict[str, str], code: str, dataset: TalkDataset) -> tuple[str, str]:
    """Return a cell's tokens without entities, and the reason why it has none, or nothing."""
    cell = row.get(code)
    if cell is None or any(mark in cell for mark in dataset.cleaning.missing_marks):
        return "", _MISSING
    tokens = one_line(html.unescape(cell)).strip()
    return tokens, "" if tokens else _EMPTY


def joiner(language: str) -> Callable[[str], str]:
    """Return the function that joins Moses tokens without entities to natural text."""
    # Imported where it is used: few data sets have tokens.
    from sacremoses import MosesDetokenizer

    detokenizer = MosesDetokenizer({"ita": "it", "cat": "ca"}.get(language, short_code(language)))

    def join(tokens: str) -> str:
        return _DANDA.sub("", detokenizer.detokenize(tokens.split(), unescape=False))

    return join


def _of_archive(archive: Path) -> Iterator[Row]:
    for name, where, lines in named(archive, _SPLIT_OF_TABLE):
        header: list[str] = []
        for number, line in enumerate(lines, start=1):
            at = f"{where}, line {number}"
            # Only LF, or CR and LF, ends a row.
            text = decoded(line, at).removesuffix("\n").removesuffix("\r")
            cells = text.removeprefix("\ufeff" if number == 1 else "").split("\t")
            header = header or cells
            row = _by_code(header[: len(cells)], cells, at)
            if number > 1:
                yield _SPLIT_OF_TABLE[name], row


def _of_folder(folder: Path) -> Iterator[Row]:
    for name in Recorded.of(folder / "source.json").files:
        if not (part := _SPLIT_OF_FILE.search(name)):
            remedy = "name its files …-train-…, …-validation… and …-test…"
            raise FathomError("nothing says which split it is", f"{folder.name}/{name}", remedy)
        split = {"validation": "valid"}.get(part[1], part[1])
        file, number = parquet.opened(folder / name, {_COLUMN: _TYPE}), 0
        for group in range(file.num_row_groups):
            (rows,) = parquet.row_group(folder / name, file, group, _COLUMN)
            for row in rows:
                number += 1
                where = f"{folder.name}/{name}, row {number}"
                codes, cells = ((row or {}).get(part) or [] for part in _PARTS)
                yield split, _by_code(codes, cells, where)


def _by_code(codes: list[str], cells: list[str], where: str) -> dict[str, str]:
    """Return the cells of a row by code; which cell is whose must be known."""
    if len(codes) != len(cells):
        raise FathomError(f"{len(cells)} cells of {len(codes)} codes in a row", where, REMEDY)
    for code, count in Counter(codes).items() if len({*codes}) < len(codes) else ():
        if count > 1:
            raise FathomError(f"{count} cells have the code '{code}'", where, REMEDY)
    return dict(zip(codes, cells, strict=True))
