"""The verbs that begin a study: new; adopt, of text files."""

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import open_project
from fathom.cli.terminal import report, suggest
from fathom.config.load import load
from fathom.config.measurement_keys import long_code
from fathom.config.merge import NAME, NAME_RULE, name_fault
from fathom.config.project import Project
from fathom.config.switches import FILE, layers
from fathom.config.tables import runs_by_row
from fathom.config.yaml_values import as_blocks, as_yaml, from_plain, name_of
from fathom.data.adopted import KINDS, AdoptedText
from fathom.data.split import Pair, TaskText
from fathom.io.errors import FathomError, findings_in, refuse, unknown
from fathom.io.files import write_text

STUDY = """\
# A study: runs that are compared with each other, without printed numbers.
{title}

# The text of all runs: a card in datasets/ here, or one of `fathom list datasets`.
# {{dataset: …, subwords: …}} says more.
data: {data}

# Seeds of each run, at every scale. With several, p says whether other trainings would agree.
seeds: 3

# Recipes of papers. What a line adds changes the recipe; `fathom show {first}` lists all settings.
runs:
{runs}
  # A run for each value, and a row for each run: delete the # of both lines.
  # dropout_<p>: {{for: {{p: [0.1, 0.3]}}, like: {first}, model: {{dropout: <p>}}}}

tables:
  table1:
    against: {against}  # adds difference, 95 % interval, p, and p with Holm's correction
    columns: [params, avg, tasks]
    rows:
{rows}
      # dropout <p>: dropout_<p>

# Further sections, as in the files of a paper: families, figures, claims, scales.
"""
# Subwords of text with fewer pairs; an estimate.
_PIECES = ((20_000, 2_000), (200_000, 8_000), (2_000_000, 16_000))
_NO_DATA = "write your data set as `data` in the study (fathom list datasets); then "
_LANGUAGES = "not the codes of two languages", "ISO 639-3, as in fra-eng"
_COLUMNS = "not two columns", "--columns 1,2"
_HOLD_OUT = "not the numbers of pairs for validation and test", "--hold-out 500+500"
Like = Annotated[
    list[str] | None,
    typer.Option(metavar="RUN", help="A run whose recipe is compared. May be given repeatedly."),
]
Two = tuple[Path, Path] | None


def _two_files(param: typer.CallbackParam, files: Two) -> Two:
    """Refuse an option that was read as the second file."""
    if files and files[1].name.startswith("--"):
        what, remedy = f"two files; here is only {files[0]}", "add the second; --tsv has both sides"
        raise FathomError(what, f"--{param.name}", remedy)
    return files


def new(
    name: Annotated[str, typer.Argument(help="The study, and its new folder.")],
    like: Like = None,
    data: Annotated[str | None, typer.Option(help="The data set of all runs.")] = None,
) -> None:
    """Begin a study: write NAME/study.yaml with comments.

    Without --like, the runs are those of `new_study` in the scale's file (if
    there is none, the run of `check_learning`).
    A file that is there is never overwritten. With --data, the study is checked
    before it stays, and config/config.yaml in the working folder is written if it
    is missing, and names the study.

    Example: fathom new my_study --like m2o_diverse_12_12 --like m2o_diverse_ll_d_12_24
    """
    project = open_project()
    file = new_folder(project, name, data) / "study.yaml"
    text = _study(project, like, data or "my_text")
    if data is None:
        write_text(file, text)
    else:
        _write_valid(project, file, text)
    finish(project, name, "new:", [file], first="" if data else _NO_DATA)


def _write_valid(project: Project, file: Path, text: str) -> None:
    """Write a study, or raise what is wrong with it, by key.

    Prints which of its runs are trained as others.
    """
    write_text(file, text)
    name = file.parent.name
    given = from_plain({"papers": [*project.switches.papers, name]}, "--config")
    try:
        loaded = load(project.root, layers=[*layers(project.root, Path()), given])
    except FathomError as error:
        shutil.rmtree(file.parent)
        at = name_of(file.resolve(), project.root)
        refuse(
            FathomError(each.what, _key(each.where, at), each.remedy) for each in findings_in(error)
        )
    scale = project.switches.scale
    for run in loaded.runs_of(name):
        if (same := loaded.spec(run, scale).name) != run:
            report(f"{run} is {same} at scale {scale}, and trained once")


def _key(where: str, file: str) -> str:
    """Return the place of a mistake; of one in a file that is deleted, the key alone."""
    return f"new: {where.rpartition(': ')[2]}" if where.startswith(file) else where


def new_folder(project: Project, name: str, data: str | None = None) -> Path:
    """Return the folder of a new study, which must not be there, and its data set, which must."""
    _require_name(name)
    if name in project.files.papers:
        place = project.files.name_of(project.files.folders[name])
        raise FathomError(f"the name '{name}' is taken by {place}", "name", "choose another name")
    if Path(name).exists():
        raise FathomError("the folder is there already", name, "choose another name")
    if data is not None and data not in project.datasets:
        raise unknown("data set", data, "--data", project.datasets)
    return Path(name)


def _require_name(name: str) -> None:
    if fault := name_fault(name, of_paper=True):
        raise FathomError(f"'{name}': {fault}", "name", "choose another name")


def finish(project: Project, name: str, verb: str, written: list[Path], first: str = "") -> None:
    """Name a study in a new config.yaml of the working folder, or say how to in a user's own.

    Prints the files that are written, and what to type next. A study that lacks something is not
    named, or all verbs would refuse it: `first` says what to do before.
    """
    papers, hint = [*project.switches.papers], ""
    if Path(name).resolve() not in [Path(paper).resolve() for paper in papers]:
        papers.append(name)
        line = as_yaml({"papers": papers})
        if FILE.exists() or first:
            hint = f"{first}name it in {FILE}: {line.strip()}"
        else:
            write_text(FILE, line)
            written = [*written, FILE]
    report(f"{verb} {', '.join(map(str, written))}")
    if hint:
        report(hint)
    suggest(f"fathom run {name}")


def _study(project: Project, like: list[str] | None, dataset: str, subwords: str = "") -> str:
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
    title = f"{' and '.join(_printed_name(project, run) for run in runs.values())} on {dataset}"
    return STUDY.format(
        title=as_blocks({"title": title}).strip(),
        data=f"{{dataset: {dataset}, subwords: {subwords}}}" if subwords else dataset,
        first=lent[0],
        runs="\n".join(f"  {run}: {{like: {each}}}" for run, each in runs.items()),
        against=next(iter(runs)),
        rows="\n".join(f"      {run}: {run}" for run in runs),
    )


def _printed_name(project: Project, run: str) -> str:
    """Return the first row of a paper's tables that has a run alone, or the run's name."""
    paper, _, name = run.partition("/")
    tables = project.papers[paper].tables.values()
    rows = (runs_by_row(project.outlined(table)).items() for table in tables)
    return next((row for of_table in rows for row, runs in of_table if runs == (run,)), name)


def adopt(
    name: Annotated[str, typer.Argument(help="The data set and study, and their folder.")],
    text: Annotated[
        Two, typer.Option(callback=_two_files, help="Two files of UTF-8, or .gz; line n is a pair.")
    ] = None,
    tsv: Annotated[Path | None, typer.Option(help="Or one file of columns between tabs.")] = None,
    columns: Annotated[str, typer.Option(help="The two columns of --tsv.")] = "1,2",
    languages: Annotated[str, typer.Option(help="By ISO 639-3: fra-eng, from fra into eng.")] = "",
    hold_out: Annotated[
        str | None, typer.Option(metavar="N+N", help="Pairs for validation and test of each task.")
    ] = None,
    valid: Annotated[
        Two, typer.Option(callback=_two_files, help="Or two files for validation,")
    ] = None,
    test: Annotated[Two, typer.Option(callback=_two_files, help="and two files for test.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Read files that have changed.")] = False,
    like: Like = None,
) -> None:
    """Make a data set and a study from your text files.

    Line n of both files is a pair. The files stay where they are; their SHA-256
    is recorded. Validation and test are chosen by the hash of the second
    language's sentences (2 % each, 200 to 2,000 pairs), or are files. Dropped are
    pairs with an empty side, pairs with two equal sides, repeated pairs, and
    training pairs whose second sentence is in a validation or test file.

    A second call with another first language adds a task to the data set.

    Example: fathom adopt my_study --text my.fr my.en --languages fra-eng
    """
    _require_name(name)
    project, study = open_project(), Path(name) / "study.yaml"
    adopted = AdoptedText(study.parent)
    card = adopted.card
    given = {"train": text or (tsv and (tsv,)), "valid": valid, "test": test}
    files = {split: paths for split, paths in given.items() if paths}
    by_file = card["split"]["by"] == "file" if card else "valid" in files
    _refuse(
        (again and not card, name, "there is no adopted text", "give --text and --languages"),
        (again and (files or languages), "--again", "the cards name the files", "give no files"),
        (not again and not (text or tsv), "adopt", "no text is given", "give --text or --tsv"),
        (text and tsv, "adopt", "--text and --tsv are both given", "leave one out"),
        (bool(valid) != bool(test), "adopt", "--valid and --test go together", "give both"),
        (hold_out and by_file, "--hold-out", "validation and test are files", "delete it"),
        (card and like, "--like", "the study is there", f"add runs to {study}"),
    )
    if not again:
        # The papers' languages have two letters, too.
        text_codes = "-".join(map(long_code, languages.split("-")))
        codes = _two(r"([a-z]{3})-(?!\1)([a-z]{3})", text_codes, "--languages", *_LANGUAGES)
        pair = _two(r"([1-9]\d?),(?!\1$)([1-9]\d?)", columns, "--columns", *_COLUMNS)
        _require_place(project, adopted, codes, by_file == ("valid" in files))
        adopted.add(codes, files, pair)
    adopted.read(again)
    sizes, split = adopted.sizes(), adopted.card["split"]
    if not by_file:
        before = f"{split['valid']}+{split['test']}" if card else None
        split["valid"], split["test"] = _split(hold_out or before, *min(sizes))
    texts = adopted.texts()
    if not card:
        pieces = next((size for most, size in _PIECES if sizes[0][0] < most), 32_000)
        subwords = f"{{algorithm: unigram, joint: {pieces}}}"
        write_text(study, _study(project, like, name, subwords))
    written = [study] * (not card) + adopted.write()

    by = "file" if by_file else f"the hash of {adopted.card['pivot']}"
    for task, text_of_task in texts.items():
        _report(f"{name}: {task}", text_of_task, adopted.places(task, text_of_task), by)
        report(f"{name}: {task}: {adopted.example(task, text_of_task)}")
    if card and not again:
        report("this is a new data set: its runs train again, and old results stay")
    finish(project, name, "wrote", written)


def _refuse(*faults: tuple[object, str, str, str]) -> None:
    """Raise the first fault whose condition holds: then come where, what and what to do."""
    for holds, where, what, remedy in faults:
        if holds:
            raise FathomError(what, where, remedy)


def _require_place(
    project: Project, adopted: AdoptedText, codes: tuple[str, str], same_split: bool
) -> None:
    """Refuse a name that is taken, and a task that the data set cannot have."""
    name, card, (task, pivot) = adopted.name, adopted.card, codes
    if not card:
        new_folder(project, name)
    names = [f"{name}_{task}"] if card else [name, f"{name}_{task}"]
    taken = next((each for each in names if each in {*project.datasets, *project.sources}), "")
    where, shared = f"--languages {task}-{pivot}", card.get("pivot", pivot)
    right = f"{task}-{shared}"
    if task == shared:
        right = f"{pivot}-{shared}, and the files or columns in this order"
    again = f"`fathom adopt {name} --again` reads its files again; others need another name"
    split = "validation and test of all tasks are files, or none are"
    _refuse(
        (pivot != shared, where, f"all tasks of '{name}' share {shared}", f"write {right}"),
        (task in card.get("tasks", ()), where, f"'{name}' has the task {task}", again),
        (not same_split, "--valid", split, f"see split in {name}/datasets/{name}.yaml"),
        (taken, "name", f"there is a data set or source '{taken}'", "choose another name"),
        (not NAME.fullmatch(names[-1]), "name", f"'{names[-1]}': {NAME_RULE}", "shorten the name"),
    )


def _report(start: str, text: TaskText[Pair], places: dict[str, list[str]], by: str) -> None:
    """Print how much text was read, lines that were dropped or are worth a look, and the split."""
    report(f"{start}: {text.read:,} pairs; dropped {sum(text.dropped.values()):,}")
    for kind, found in places.items():
        if found:
            more = f" and {len(found) - 3:,} more" if len(found) > 3 else ""
            verdict = "dropped" if kind in text.dropped_lines else "kept, but look"
            some = ", ".join(found[:3]) + more
            report(f"{start}: {verdict}: {len(found):,} {KINDS[kind]}: {some}")
    parts = ", ".join(f"{len(pairs):,} {split}" for split, pairs in text.splits.items())
    report(f"{start}: split by {by}: {parts}")


def _two(pattern: str, text: str, option: str, what: str, example: str) -> tuple[str, str]:
    """Return the two groups of a pattern that an option must match."""
    match = re.fullmatch(pattern, text)
    if match is None:
        raise FathomError(what, f"{option} {text}".rstrip(), f"write {example}")
    return match[1], match[2]


def _split(hold_out: str | None, pairs: int, loss: str) -> tuple[int, int]:
    """Return how many pairs are held out, at most half; `loss` says which were dropped."""
    size = min(max(pairs // 50, 200), 2_000)
    number, hold_out = "([1-9][0-9]{0,8})", hold_out or f"{size}+{size}"
    valid, test = map(int, _two(rf"{number}\+{number}", hold_out, "--hold-out", *_HOLD_OUT))
    if 2 * (valid + test) > pairs:
        left, tenth = max(pairs - valid - test, 0), pairs // 10
        what = f"{loss}{valid}+{test} of {pairs:,} pairs leave {left:,} for training"
        remedy = f"write --hold-out {tenth}+{tenth} or fewer" if tenth else "give more text"
        raise FathomError(what, f"--hold-out {hold_out}", remedy)
    return valid, test
