"""What is wrong in config/: in each file alone, and between files."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from fathom.config import deviations, reported
from fathom.config.merge import Entry
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.rules import shown
from fathom.config.runs import runs_faults, unknown_setting, without_source
from fathom.config.scales import ASKED, applies, values_of
from fathom.config.schema.method import module_names
from fathom.config.schema.run import RunSettings, Tokenizer
from fathom.config.schema.scale import Rule
from fathom.config.show import leaves
from fathom.config.spec import full_name
from fathom.config.tables import Cell, table_faults
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, brief, closest, findings_in, nearest, unknown

# The cells of the tables that resolve, by paper and table.
Cells = dict[tuple[str, str], tuple[Cell, ...]]


def file_faults(project: Project) -> list[FathomError]:
    """Return everything that is wrong in single files."""
    wrong = [*_yaml_faults(project)]
    if not wrong:
        # What is wrong in a CSV is found together with what its table says of it.
        return []
    for paper in project.papers.values():
        for path in sorted((paper.folder / "reported").glob("[!.]*.csv")):
            wrong += reported.form_faults(path, project.root)
    return wrong


def _yaml_faults(project: Project) -> Iterator[FathomError]:
    yield from project.files.faults()
    yield from project.methods.faults()
    yield from project.sources.faults()
    yield from project.datasets.faults()
    for _, file in project.files.readable("runs"):
        yield from runs_faults(file)
    yield from project.scales.faults()
    for _, file in project.files.readable("scales"):
        for name, value in file.items():
            if name not in project.scales:
                yield unknown("scale", name, value.where, project.scales)
    yield from _asking(lambda: project.vocabulary)
    for paper in project.papers.values():
        yield from _paper_faults(project, paper)
    yield from project.claims.faults()


def _paper_faults(project: Project, paper: Paper) -> Iterator[FathomError]:
    """Yield what is wrong in each of a paper's files alone."""
    yield from _asking(lambda: paper.about)
    for name, file in project.files.readable("paper"):
        if name == paper.name:
            yield from without_source(file, deviations.OF_PAPER)
    if not any((paper.folder / f"{kind}.yaml").exists() for kind in ("tables", "figures")):
        where = project.files.name_of(paper.folder)
        what = "a paper without tables and figures"
        yield FathomError(what, where, "add tables.yaml or figures.yaml")
    yield from _asking(lambda: [*paper.tables.faults()])
    yield from _asking(lambda: [*paper.figures.faults()])
    yield from _asking(lambda: paper.deviations)
    if (paper.folder / "parameters.yaml").exists():
        yield from _asking(lambda: paper.parameters)


def conflicts(project: Project) -> Iterator[FathomError]:
    """Yield everything that is wrong between files, each of which is right alone.

    A table that shows a wrong run has the run's findings, which are there once.
    """
    if absent := [*_absent_runs(project)]:
        # Everything else may follow from it.
        yield from absent
        return
    wrong = [*_cards(project), *_datasets(project)]
    for name in project.entries:
        wrong += _asking(lambda name=name: project.spec(name))
    yield from wrong
    scales: list[str] = []
    for name in project.scales:
        # A rule may be meant for a run whose settings are wrong.
        found = [*_scale(project, name, idle=not wrong)]
        yield from found
        scales += [] if found else [name]
    for name in project.entries:
        yield from _at_scales(project, name, scales)
    yield from _equal_runs(project)
    cells: Cells = {}
    for paper in project.papers.values():
        unresolved = [*_resolved(project, paper, cells)]
        wrong += unresolved
        yield from unresolved
    for paper in project.papers.values():
        yield from _paper(project, paper, cells)
    if not wrong:
        yield from _unscored_runs(project, cells)


def _absent_runs(project: Project) -> Iterator[FathomError]:
    """Yield that a paper has no runs.yaml, and its tables name runs of its own."""
    for paper in project.papers.values():
        if paper.name not in project.runs_files:
            for finding in _resolved(project, paper, {}):
                # Those of other papers have a slash.
                if finding.what.startswith("no run '") and "/" not in finding.what:
                    yield _absent(project, paper, "runs", finding.where.partition(": ")[0])
                    break


def _or_absent(
    project: Project, paper: Paper, kind: str, findings: list[FathomError]
) -> Iterator[FathomError]:
    """Yield findings, or that the paper's file which would have their names is missing."""
    if findings and paper.file(kind) is None:
        yield _absent(project, paper, kind, findings[0].where.partition(": ")[0])
    else:
        yield from findings


def _absent(project: Project, paper: Paper, kind: str, needed_by: str) -> FathomError:
    where = f"{project.files.name_of(paper.folder)}/{kind}.yaml"
    return FathomError(f"no such file, and {needed_by} needs it", where, "restore it")


def _asking(ask: Callable[[], object]) -> Iterator[FathomError]:
    """Yield what is wrong with a part that is asked for, or the findings that it returns."""
    try:
        found = ask()
    except FathomError as error:
        yield from findings_in(error)
        return
    if isinstance(found, list):
        yield from found


# Cards and data sets


def _cards(project: Project) -> Iterator[FathomError]:
    """Yield cards without a module, and the papers and equations that do not exist."""
    modules = module_names()
    for card in project.methods.values():
        if card.name not in modules:
            remedy = f"write lib/fathom/methods/{card.name}.py, or delete the card"
            yield FathomError("the card has no module", card.file.where, remedy)
        paper = card.about.paper
        if paper is None:
            continue
        if paper not in project.papers:
            yield unknown("paper", paper, card.file.place("paper"), project.papers)
            continue
        equations = project.papers[paper].about.equations
        for number, equation in enumerate(card.about.equations):
            if equation not in equations:
                where = card.file.place("equations", number)
                yield unknown("equation", equation, where, equations)


def _datasets(project: Project) -> Iterator[FathomError]:
    for name in project.datasets:
        yield from _asking(lambda name=name: project.definition(name))


# Runs


def _at_scales(project: Project, name: str, scales: list[str]) -> Iterator[FathomError]:
    """Yield what is wrong with a run at scales, if it is right at the papers' own settings."""
    seen = {str(finding) for finding in _asking(lambda: project.spec(name))}
    for scale in scales if not seen else ():
        for finding in _asking(lambda scale=scale: project.spec(name, scale)):
            # A scale has the findings of the scale that it is like.
            if str(finding) not in seen:
                seen.add(str(finding))
                what = f"{finding.what} (at scale {scale}: fathom show --scale {scale})"
                yield FathomError(what, finding.where, finding.remedy)


def _equal_runs(project: Project) -> Iterator[FathomError]:
    """Yield runs with equal settings: they would be trained twice under two names."""
    copies: set[str] = set()  # equal at the papers' own settings, and so at most scales
    for scale in (None, *project.scales):
        names: dict[str, list[str]] = defaultdict(list)
        for name in project.entries:
            try:
                if name not in copies:
                    names[project.spec(name, scale).identity].append(name)
            except FathomError:
                continue  # reported with the run
        for first, *others in names.values():
            for other in others:
                yield _copy(project, other, first, scale)
                copies |= {other} if scale is None else set()


def _copy(project: Project, name: str, first: str, scale: str | None) -> FathomError:
    where = project.entry(name).values.where
    what = f"the settings of '{name}' equal those of '{first}'"
    if scale is None:
        place = project.entry(first).values.where.partition(": ")[0]
        remedy = f"use '{first}' ({place}) for both and delete this run, or the reverse"
        return FathomError(what, where, remedy)
    equal = _made_equal(project, name, first, scale) or _made_equal(project, first, name, scale)
    what += f" at scale {scale}" + (f" by {', '.join(equal)}" if equal else "")
    remedy = f"add a rule for `run: {name}` to config/scales/{scale}.yaml"
    return FathomError(what, where, remedy)


def _made_equal(project: Project, name: str, other: str, scale: str) -> list[str]:
    """Return where a scale gives two runs one value of a setting in which they differ."""
    own, theirs, here = (
        {path: value for path, value, _ in leaves(run)}
        for run in (project.run(name), project.run(other), project.run(name, scale))
    )
    values, paper = project.resolved(name, scale).entry.values, project.entry(name).values.file
    places = [
        given.where
        for path, value in own.items()
        if value not in (theirs.get(path), here.get(path))
        and (given := values.find(*path)) is not None
        and given.file != paper
    ]
    return [*dict.fromkeys(places)]


def _unscored_runs(project: Project, cells: Cells) -> Iterator[FathomError]:
    """Yield the runs that a table shows in a tokenizer for which nothing scores them."""
    tokenizers: dict[str, set[str]] = defaultdict(set)
    for cell in (cell for table in cells.values() for cell in table):
        if cell.kind == "run":
            tokenizers[cell.source].add(cell.metric)
    for name in project.entries:
        scored = project.run(name).scoring.tokenizers
        for tokenizer in sorted(tokenizers[name] & {*get_args(Tokenizer)} - {*scored}):
            what = f"a table shows BLEU with the tokenizer '{tokenizer}', and nothing counts it"
            where = project.entry(name).values.place("scoring", "tokenizers")
            yield FathomError(what, where, f"write scoring: {{tokenizers: [{tokenizer}]}}")


# Scales


def _scale(project: Project, name: str, idle: bool) -> Iterator[FathomError]:
    """Yield the names in a scale that do not exist and, with `idle`, rules that fit no run."""
    scale, file = project.scales[name], project.scale_values(name)
    for pair in scale.datasets.items():
        for dataset in pair:
            if dataset not in project.datasets:
                where = file.place("datasets", pair[0])
                yield unknown("data set", dataset, where, project.datasets)
    yield from _groups(project, name)
    if scale.check_learning:
        try:
            project.run_name(scale.check_learning.run)
        except FathomError as error:
            where = file.place("check_learning", "run")
            yield FathomError(error.what, where, error.remedy)
    wrong = [*_paths(project, scale.rules, file)]
    yield from wrong
    if idle and not wrong:
        runs = [(project.resolved(run).entry, project.run(run), run) for run in project.entries]
        for number, rule in enumerate(scale.rules):
            yield from _idle(rule, runs, file.at(("rules", number, "when")))


def _paths(project: Project, rules: tuple[Rule, ...], file: Value) -> Iterator[FathomError]:
    """Yield the paths of rules that no run can have, with the nearest valid one."""
    cards = [*project.methods.values()]
    for number, rule in enumerate(rules):
        when = [("when", key) for key in rule.when if key not in ASKED]
        for part, dotted in (*when, *(("set", key) for key in rule.set)):
            if wrong := unknown_setting(dotted, cards):
                where = file.place("rules", number, part, dotted)
                yield FathomError(f"no setting '{dotted}'", where, nearest(*wrong))


def _idle(
    rule: Rule, runs: list[tuple[Entry, RunSettings, str]], when: Value
) -> Iterator[FathomError]:
    """Yield the values of a rule's `when` that no run has, or else that the rule fits no run."""
    wrong = False
    for key, wanted in rule.when.items():
        there = [value for run in runs for value in values_of(key, *run)]
        for value in wanted if isinstance(wanted, list) else [wanted]:
            if value not in there:
                wrong, what = True, f"no run has {key} '{brief(shown(value))}'"
                names = dict.fromkeys(shown(each) for each in there if each is not None)
                yield FathomError(what, when.place(key), nearest(shown(value), names))
    if not wrong and not any(applies(rule, *run) for run in runs):
        yield FathomError("the rule fits no run", when.where, "check its `when`, or delete it")


def _groups(project: Project, name: str) -> Iterator[FathomError]:
    """Yield papers and groups of a scale's updates that do not exist, and groups without updates.

    A misspelled name is one finding, not also one of the name that it means.
    """
    updates, file = project.scales[name].updates, project.scale_values(name)
    if not updates:
        return
    meant: set[str | None] = set()
    for paper in updates:
        if paper not in project.runs_files:
            meant.add(closest(paper, project.runs_files))
            yield unknown("paper", paper, file.place("updates", paper), project.runs_files)
    for paper in project.runs_files:
        given, groups = updates.get(paper, {}), _groups_of(project, paper)
        # A paper may leave a scale out: its runs are not built there.
        missing = sorted(groups - {*given}) if given and paper not in meant else []
        for group in given:
            if group in groups:
                continue
            right = closest(group, missing) or (missing[0] if len(missing) == 1 else None)
            remedy = nearest(right or group, [right] if right else sorted(groups))
            where = file.place("updates", paper, group)
            yield FathomError(f"no group '{group}'", where, remedy)
            missing = [other for other in missing if other != right]
        for group in missing:
            what = f"no updates for the group '{group}' of {paper}"
            remedy = f"add `{group}: 300`, for example"
            yield FathomError(what, file.place("updates", paper), remedy)
    for entry in project.entries.values():
        if entry.values.get("group") is None:
            what = f"no group, so scale {name} gives it no updates"
            yield FathomError(what, entry.values.where, "add `group`")


def _groups_of(project: Project, paper: str) -> set[str]:
    groups = [project.entry(run).values.get("group") for run in project.runs_of(paper)]
    return {group for group in groups if isinstance(group, str) and group}


# Papers


def _resolved(project: Project, paper: Paper, cells: Cells) -> Iterator[FathomError]:
    """Add the cells of a paper's tables; yield why some do not resolve."""
    for name, table in paper.tables.items():
        try:
            cells[paper.name, name] = project.cells(table)
        except FathomError as error:
            yield from findings_in(error)


def _paper(project: Project, paper: Paper, cells: Cells) -> Iterator[FathomError]:
    """Yield what is wrong between a paper's files, its reported cells, and the runs."""
    for name, table in paper.tables.items():
        if (paper.name, name) in cells:
            here = cells[paper.name, name]
            yield from table_faults(table, here, project)
            yield from reported.reported_faults(paper.reported(name), table, here, project)
    unread = [*_unread(project, paper)]
    families = [*project.families(paper.name), *project.methods]
    names = [*families, *paper.tables, *paper.figures]
    runs = [run.partition("/")[2] for run in project.runs_of(paper.name)]
    deviating = paper.file("deviations") or Value({})
    misnamed = [*deviations.apply_faults(deviating, paper.deviations, names, runs)]
    # A name that is like another is a typing error, and of no file that is missing.
    misspelled = [finding for finding in misnamed if finding.remedy.startswith("nearest")]
    yield from misspelled
    kinds = [kind for kind in ("runs", "tables", "figures") if paper.file(kind) is None]
    others = [finding for finding in misnamed if finding not in misspelled]
    yield from _or_absent(project, paper, (*kinds, "tables")[0], [*unread, *others])
    about, cards = paper.file("paper") or Value({}), [*project.methods.values()]
    yield from deviations.setting_faults(deviating, paper.deviations, about, cards)
    if (file := paper.file("runs")) is not None:
        entries, shown_in = project.runs_files[paper.name], _shown(paper, cells)
        silent = deviations.silent_faults(paper.deviations, file, entries, about, shown_in)
        yield from _or_absent(project, paper, "deviations", [*silent])


def _unread(project: Project, paper: Paper) -> Iterator[FathomError]:
    """Yield the files of reported cells that are of no table."""
    for path in sorted((paper.folder / "reported").glob("[!.]*")):
        if path.stem not in paper.tables or path.suffix != ".csv":
            remedy = nearest(path.name, [f"{name}.csv" for name in paper.tables])
            yield FathomError("nothing reads this file", project.files.name_of(path), remedy)


def _shown(paper: Paper, cells: Cells) -> Mapping[str, set[str]]:
    """Return the tables and figures that show each of a paper's runs, by the run's short name."""
    shown_in: dict[str, set[str]] = defaultdict(set)
    for name in paper.tables:
        for cell in cells.get((paper.name, name), ()):
            shown_in[cell.source.removeprefix(f"{paper.name}/")].add(name)
    for name, figure in paper.figures.items():
        for run in figure.settings.runs:
            shown_in[full_name(paper.name, run).removeprefix(f"{paper.name}/")].add(name)
    return shown_in
