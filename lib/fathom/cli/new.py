"""The verbs that begin a study: new, and adopt, which makes a data set of text files, too."""

import gzip
import json
import os
import re
import zlib
from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import open_project
from fathom.cli.terminal import report, suggest
from fathom.config.merge import NAME, NAME_RULE
from fathom.config.project import Project
from fathom.config.schema.dataset import PairsByHash
from fathom.data.archives import opened, text_of
from fathom.data.split import Pair, by_hash, usable
from fathom.io.errors import FathomError, unknown
from fathom.io.files import sha256, write_text

STUDY = """\
# A study: runs that are compared with each other, without printed numbers.
title: {title}

# The text of all runs: a card in datasets/ here, or one of `fathom list datasets`.
# {{dataset: …, subwords: …}} says more.
data: {data}

# Seeds of each run, at every scale. With several, p says whether other trainings would agree.
seeds: 3

# Recipes of papers. What a line adds changes the recipe; `fathom show {first}` lists all settings.
# A run for each value: drop_<p>: {{for: {{p: [0.1, 0.2]}}, like: {first}, model: {{dropout: <p>}}}}
runs:
{runs}

tables:
  table1:
    against: {against}  # adds difference, 95 % interval, p, and p with Holm's correction
    columns: [params, avg, tasks]
    rows: {{{rows}}}

# Further sections, as in the files of a paper: families, figures, claims, scales.
"""
SOURCE = """\
title: {title}
kind: local
# The files as they were adopted; another text needs another name.
files:
{files}
licence: {licence}
notice: Text of the user.
"""
DATASET = """\
title: {title}
citation: text of the user
licence: {licence}
format: parallel
pivot: {second}
tasks: [{first}]
# From the first into the second language.
translates: [{first}, {second}]
sources: {{{source}: {{{codes}}}}}
split: {{by: {split.by}, salt: {split.salt}, valid: {split.valid}, test: {split.test}}}
max_shared: 1.0
expected: {{{first}: {{{counts}}}}}
"""
# Subwords of text with fewer pairs; an estimate.
_PIECES = ((20_000, 2_000), (200_000, 8_000), (2_000_000, 16_000))
_RULES = {
    "empty": "with an empty side",
    "untranslated": "equal on both sides",
    "repeated": "that repeat others",
}
Like = Annotated[
    list[str] | None,
    typer.Option(metavar="RUN", help="A run whose recipe is compared. May be given repeatedly."),
]


def new(
    name: Annotated[str, typer.Argument(help="The study, and its new folder.")],
    like: Like = None,
    data: Annotated[str | None, typer.Option(help="The data set of all runs.")] = None,
) -> None:
    """Begin a study: write NAME/study.yaml with comments.

    Without --like it has the runs that the scale names as `new_study`, or
    the one that it watches.
    A file that is there is never overwritten.

    Example: fathom new my_study --like m2o_diverse_12_12 --like m2o_diverse_ll_d_12_24
    """
    project = open_project()
    folder = _new_folder(project, name)
    if data is not None and data not in project.datasets:
        raise unknown("data set", data, "--data", project.datasets)
    write_text(folder / "study.yaml", _study(project, name, like, data or "my_text"))
    report(f"new: {folder / 'study.yaml'}")
    suggest(f"snakemake {name} --config papers={name}")


def _new_folder(project: Project, name: str) -> Path:
    """Return the folder of a new study, which must not be there."""
    if not NAME.fullmatch(name):
        raise FathomError(f"'{name}': {NAME_RULE}", "name", "choose another name")
    if name in project.files.papers:
        place = project.files.name_of(project.files.folders[name])
        raise FathomError(f"the name '{name}' is taken by {place}", "name", "choose another name")
    if Path(name).exists():
        raise FathomError("the folder is there already", name, "choose another name")
    return Path(name)


def _study(project: Project, name: str, like: list[str] | None, data: str) -> str:
    """Return the text of a study of runs like others, or like those that the scale names."""
    scale = project.scale(project.switches.scale)
    watched = [scale.check_learning.run] if scale.check_learning else []
    lent = [project.run_name(each) for each in like or scale.new_study or watched]
    if not lent:
        raise FathomError("no run to begin with", "new", "add --like <paper>/<run>")
    # Two papers may have a run of one name.
    runs = {each.rpartition("/")[2]: each for each in lent}
    if len(runs) < len({*lent}):
        runs = {each.replace("/", "_"): each for each in lent}
    return STUDY.format(
        title=name.replace("_", " ").capitalize(),
        data=data,
        first=lent[0],
        runs="\n".join(f"  {run}: {{like: {each}}}" for run, each in runs.items()),
        against=next(iter(runs)),
        rows=", ".join(f"{run}: {run}" for run in runs),
    )


def adopt(
    name: Annotated[str, typer.Argument(help="The data set and study, and their new folder.")],
    text: Annotated[
        tuple[Path, Path],
        typer.Option(help="Two files of UTF-8 text, a sentence on each line; .gz is unpacked."),
    ],
    languages: Annotated[
        str, typer.Option(help="Their languages by ISO 639-3, as in fra-eng: from fra into eng.")
    ],
    hold_out: Annotated[
        str | None,
        typer.Option(
            metavar="N+N",
            help="Pairs for validation and test. Default: 2 % each, 200 to 2,000.",
        ),
    ] = None,
    like: Like = None,
    licence: Annotated[str, typer.Option(help="The terms of the text.")] = "private",
) -> None:
    """Make a data set and a study of two files of text.

    Line n of both files is a pair. The files stay where they are; their SHA-256
    is recorded. Validation and test are chosen by the hash of the second
    language's sentences. Pairs are dropped with an empty side, with equal sides,
    or as a repetition.

    Example: fathom adopt my_study --text my.fr my.en --languages fra-eng
    """
    project = open_project()
    folder = _new_folder(project, name)
    if name in {*project.datasets, *project.sources}:
        what = f"there is a data set or source '{name}'"
        raise FathomError(what, "name", "choose another name")
    first, second = codes = _codes(languages)
    kept, dropped = usable(_pairs(text))
    split = _split(hold_out, len(kept))
    counts = {part: len(pairs) for part, pairs in by_hash(kept, split).items()}
    # Called by the languages, so that another name of a file makes no other text.
    files = [
        f"{code}{'.gz' * (path.suffix == '.gz')}" for code, path in zip(codes, text, strict=True)
    ]
    values = {
        "title": _quoted(f"{text[0].name} and {text[1].name}, adopted"),
        "licence": _quoted(licence),
        "files": "\n".join(map(_record, files, text, [folder / "sources"] * 2)),
        "source": name,
        "first": first,
        "second": second,
        "codes": ", ".join(f"{code}: [{file}]" for code, file in zip(codes, files, strict=True)),
        "split": split,
        "counts": ", ".join(f"{part}: {count}" for part, count in counts.items()),
    }
    pieces = next((size for most, size in _PIECES if len(kept) < most), 32_000)
    data = f"{{dataset: {name}, subwords: {{algorithm: unigram, joint: {pieces}}}}}"
    contents = {
        folder / "study.yaml": _study(project, name, like, data),
        folder / "datasets" / f"{name}.yaml": DATASET.format(**values),
        folder / "sources" / f"{name}.yaml": SOURCE.format(**values),
    }
    for path, content in contents.items():
        write_text(path, content)

    lost = sum(map(len, dropped.values()))
    read = f"{text[0]} and {text[1]}: {len(kept) + lost:,} pairs of {first} and {second}"
    report(f"{name}: {read}; dropped {lost:,}")
    for rule, lines in dropped.items():
        if lines:
            some = ", ".join(map(str, lines[:3])) + f" and {len(lines) - 3:,} more" * (
                lines[3:] != []
            )
            report(f"{name}: dropped {len(lines):,} {_RULES[rule]}: lines {some}")
    parts = ", ".join(f"{count:,} {part}" for part, count in counts.items())
    report(f"{name}: split by the hash of {second}: {parts}")
    report(f"wrote {', '.join(map(str, contents))}")
    suggest(f"snakemake {name} --config papers={name}")


def _codes(languages: str) -> tuple[str, str]:
    """Return the two languages that a user names."""
    match = re.fullmatch(r"([a-z]{3})-(?!\1)([a-z]{3})", languages)
    if match is None:
        what = "not two languages with codes of three small letters"
        raise FathomError(what, f"--languages {languages}", "write ISO 639-3, as in fra-eng")
    return match[1], match[2]


def _pairs(text: tuple[Path, Path]) -> list[Pair]:
    """Read two files of text with a line for each pair."""
    first, second = sides = [_lines(path) for path in text]
    if len(first) != len(second):
        what = f"{text[0]} has {len(first):,} lines and {text[1]} {len(second):,}"
        raise FathomError(what, "--text", "correct the files: line n of both is one pair")
    return [Pair(*lines) for lines in zip(*sides, strict=True)]


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise FathomError("no such file", str(path), "correct --text")
    remedy = "convert it, for example: iconv -f latin1 -t utf8"
    try:
        with opened(path) as stream:
            return [text_of(line, f"{path}:{n}", remedy) for n, line in enumerate(stream, 1)]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FathomError(f"not a whole .gz ({error})", str(path), "pack it again") from None


def _split(hold_out: str | None, pairs: int) -> PairsByHash:
    """Return how many pairs are held out, at most half of them."""
    size = min(max(pairs // 50, 200), 2_000)
    hold_out = f"{size}+{size}" if hold_out is None else hold_out
    where = f"--hold-out {hold_out}"
    match = re.fullmatch(r"([1-9][0-9]{0,8})\+([1-9][0-9]{0,8})", hold_out)
    if match is None:
        what = "not the numbers of pairs for validation and test"
        raise FathomError(what, where, "write --hold-out 500+500")
    valid, test = map(int, match.groups())
    if 2 * (valid + test) > pairs:
        left, tenth = max(pairs - valid - test, 0), pairs // 10
        what = f"{valid}+{test} of {pairs:,} pairs leave {left:,} for training"
        remedy = f"write --hold-out {tenth}+{tenth} or fewer" if tenth else "give more text"
        raise FathomError(what, where, remedy)
    # Of all adopted text, so that text with some more lines holds out nearly the same.
    return PairsByHash(by="pairs_by_hash", salt="adopt", valid=valid, test=test)


def _record(file: str, path: Path, folder: Path) -> str:
    """Return the line of a card in a folder that says what a file is."""
    place = _quoted(os.path.relpath(path.absolute(), folder.absolute()))
    size = path.stat().st_size
    return f"  {file}: {{path: {place}, bytes: {size}, sha256: {sha256(path)}}}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False, allow_nan=False)
