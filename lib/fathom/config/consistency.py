"""What is wrong in config/: in each file alone, and between files."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from fathom.config import deviations, plugins, reported, tokenizers
from fathom.config.merge import is_taken
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.rules import shown
from fathom.config.runs import Resolved, runs_faults, unknown_setting, without_source
from fathom.config.scales import ASKED, applies, gives_updates, values_of
from fathom.config.schema.scale import Rule
from fathom.config.spec import full_name
from fathom.config.tables import table_faults
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, brief, findings_in, nearest, unknown


def file_faults(project: Project) -> list[FathomError]:
    """Return everything that is wrong in single files."""
    wrong = [*_yaml_faults(project)]
    # Else what is wrong in a CSV is found together with what its table says of it.
    for paper in project.papers.values() if wrong else ():
        for path in sorted((paper.folder / "reported").glob("[!.]*.csv")):
            wrong += asking(reported.form_faults, path, project.root)
    return wrong


def _yaml_faults(project: Project) -> Iterator[FathomError]:
    files = project.files
    yield from files.faults()
    yield from project.methods.faults()
    yield from project.sources.faults()
    yield from project.datasets.faults()
    for paper in files.names("runs"):
        yield from asking(_runs_faults, project, paper)
    for name in project.scales:
        for paper in (None, *files.names("scales")):
            yield from asking(project.scale, name, paper)
    for paper in files.names("scales"):
        yield from asking(_unknown_scales, project, paper)
    yield from asking(lambda: project.vocabulary)
    for paper in project.papers.values():
        yield from _paper_faults(project, paper)
    yield from project.claims.faults()


def _runs_faults(project: Project, paper: str) -> list[FathomError]:
    lender, sources = project.lender(paper), not project.files.is_study(paper)
    return runs_faults(project.files.read("runs", paper), lender, sources)


def _unknown_scales(project: Project, paper: str) -> list[FathomError]:
    names, parts = project.scales, project.files.read("scales", paper).items()
    return [unknown("scale", name, part.where, names) for name, part in parts if name not in names]


def _paper_faults(project: Project, paper: Paper) -> Iterator[FathomError]:
    yield from asking(lambda: paper.about)
    yield from asking(lambda: paper.tables.faults())
    yield from asking(lambda: paper.figures.faults())
    if paper.is_study:
        return
    yield from asking(lambda: without_source(paper.file("paper") or Value({}), deviations.OF_PAPER))
    if not any((paper.folder / f"{kind}.yaml").exists() for kind in ("tables", "figures")):
        where = project.files.name_of(paper.folder)
        what = "a paper without tables and figures"
        yield FathomError(what, where, "add tables.yaml or figures.yaml")
    yield from asking(lambda: paper.deviations)
    if (paper.folder / "parameters.yaml").exists():
        yield from asking(lambda: paper.parameters)


def conflicts(project: Project) -> list[FathomError]:
    """Return what is wrong between files, each of which is right alone.

    What may follow from another finding is looked for only where there is none.
    """
    rounds = (_runs, _scales, _runs_at_scales, _papers)
    return next(filter(None, ([*faults(project)] for faults in rounds)), [])


def asking(ask: Callable[..., object], *arguments: object) -> Iterator[FathomError]:
    """Yield what is wrong with a part that is asked for, or the findings that it returns."""
    try:
        answer = ask(*arguments)
        if isinstance(answer, list | Iterator):
            yield from answer
    except FathomError as error:
        yield from findings_in(error)


# Runs, and the tables that show them


def _runs(project: Project) -> Iterator[FathomError]:
    yield from _cards(project)
    for name in project.datasets:
        yield from asking(project.definition, name)
    for name in project.entries:
        yield from asking(project.spec, name)
    for paper in project.papers.values():
        for table in paper.tables.values():
            yield from asking(project.cells, table)


def _cards(project: Project) -> Iterator[FathomError]:
    """Yield cards without a module, and the papers and equations that do not exist."""
    modules = plugins.names("methods")
    for card in project.methods.values():
        if card.name not in modules:
            code = card.file.file.replace("config/methods/", "lib/fathom/methods/")
            remedy = f"write {code.removesuffix('.yaml')}.py, or delete the card"
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


# Scales


def _scales(project: Project) -> Iterator[FathomError]:
    """Yield what is wrong between scales, what papers say of them, and the papers' runs."""
    for name, scale in project.scales.items():
        yield from _scale(project, name)
        for paper in scale.updates:
            if paper not in project.runs_files:
                where = project.scale_values(name).place("updates", paper)
                yield unknown("paper", paper, where, project.runs_files)
                break
        else:
            yield from _groups(project, name)
    yield from _rules(project)


def _scale(project: Project, name: str) -> Iterator[FathomError]:
    """Yield the data sets and the run in a scale that do not exist."""
    scale, file = project.scales[name], project.scale_values(name)
    for pair in scale.datasets.items():
        for dataset in pair:
            if dataset not in project.datasets:
                where = file.place("datasets", pair[0])
                yield unknown("data set", dataset, where, project.datasets)
    watched = [scale.check_learning.run] if scale.check_learning else []
    named = [(run, ("check_learning", "run")) for run in watched]
    for run, key in named + [(run, ("new_study",)) for run in scale.new_study]:
        try:
            project.run_name(run)
        except FathomError as error:
            yield FathomError(error.what, file.place(*key), error.remedy)


def _groups(project: Project, name: str) -> Iterator[FathomError]:
    """Yield groups of a scale's updates that do not exist, or else groups without updates."""
    if not gives_updates(name, project.files):
        return
    for paper in project.runs_files:
        if project.files.is_study(paper) and not project.files.read("scales", paper).value:
            continue
        groups = {project.entry(run).values.get("group") for run in project.runs_of(paper)}
        groups = {group for group in groups if isinstance(group, str) and group}
        given = project.scale(name, paper).updates.get(paper, {})
        place = project.scale_values(name, paper).at(("updates", paper))
        # A paper may leave a scale out: its runs are not built there.
        missing = sorted(groups - {*given}) if given else []
        for group in given:
            if group not in groups:
                # The only group without updates is meant, like it or not.
                meant = missing[0] if len(missing) == 1 else group
                remedy = nearest(meant, missing or sorted(groups))
                yield FathomError(f"no group '{group}'", place.place(group), remedy)
        for group in missing if groups.issuperset(given) else ():
            what = f"no updates for the group '{group}' of {paper}"
            yield FathomError(what, place.where, f"add `{group}: 300`, for example")
        asked = name == project.switches.scale and paper not in project.files.names("scales")
        if asked and project.runs_of(paper) and not given:
            needed_by = f"scale {name} takes the updates of its runs from it"
            yield project.files.missing("scales", paper, needed_by)
    for run, entry in project.entries.items():
        is_scaled = project.scaled_as(run) and name in _scales_of(project, run)
        if is_scaled and entry.values.get("group") is None:
            what = f"no group, so scale {name} gives it no updates"
            yield FathomError(what, entry.values.where, "add `group`")


def _rules(project: Project) -> Iterator[FathomError]:
    """Yield paths of rules that no run can have, or else rules that fit no run."""
    rules: dict[str, tuple[Rule, Value, str]] = {}  # by their places, with the paper that has one
    for name in project.scales:
        for paper in ("", *project.files.names("scales")):
            values, scale = project.scale_values(name, paper), project.scale(name, paper)
            for number, rule in enumerate(scale.rules):
                value = values.at(("rules", number))
                rules.setdefault(value.where, (rule, value, paper))
    wrong = False
    cards = [*project.methods.values()]
    for rule, value, _ in rules.values():
        when = [("when", key) for key in rule.when if key not in ASKED]
        for part, dotted in (*when, *(("set", key) for key in rule.set)):
            if remedy := unknown_setting(dotted, cards):
                wrong = True
                yield FathomError(f"no setting '{dotted}'", value.place(part, dotted), remedy)
    runs = [project.resolved(name) for name in project.entries]
    for rule, value, paper in rules.values() if not wrong else ():
        fitting = [run for run in runs if run.name.startswith(paper and f"{paper}/")]
        yield from _idle(rule, value.at(("when",)), paper, fitting)


def _idle(rule: Rule, when: Value, paper: str, runs: list[Resolved]) -> Iterator[FathomError]:
    """Yield the values of a rule's `when` that no run has, or else that the rule fits no run."""
    wrong = False
    for key, wanted in rule.when.items():
        values = [value for run in runs for value in values_of(key, run)]
        names = dict.fromkeys(shown(value) for value in values if value is not None)
        for value in wanted if isinstance(wanted, list) else [wanted]:
            if value not in values:
                wrong = True
                name = shown(value).removeprefix(f"{paper}/")
                remedy = nearest(name, [valid.removeprefix(f"{paper}/") for valid in names])
                yield FathomError(f"no run has {key} '{brief(name)}'", when.place(key), remedy)
    if not wrong and not any(applies(rule, run) for run in runs):
        yield FathomError("the rule fits no run", when.where, "check its `when`, or delete it")


# Settings of runs


def _runs_at_scales(project: Project) -> Iterator[FathomError]:
    for name in project.entries:
        seen: set[str] = set()
        for scale in _scales_of(project, name):
            for finding in asking(project.spec, name, scale):
                # A scale has the findings of the scale that it is like.
                if str(finding) not in seen:
                    seen.add(str(finding))
                    what = f"{finding.what} (at scale {scale}: fathom show --scale {scale})"
                    rule = f", in a rule of {name.partition('/')[0]}/scales.yaml"
                    remedy = finding.remedy + rule * finding.where.startswith("config/scales/")
                    yield FathomError(what, finding.where, remedy)


def _scales_of(project: Project, run: str) -> list[str]:
    """Return the scales at which a run must be right.

    Of a study, of a paper outside the project and of one without scales.yaml, that is the scale
    that is asked for: nobody has fitted the others to it.
    """
    paper, files = run.partition("/")[0], project.files
    fitted = files.folders[paper].is_relative_to(project.root) and paper in files.names("scales")
    return [*project.scales] if fitted and not files.is_study(paper) else [project.switches.scale]


def _equal_runs(project: Project) -> Iterator[FathomError]:
    """Yield runs with equal settings: they would be trained twice under two names.

    A run of a study may be trained as the run that it is like, and one of its `for` may equal
    another run at some scale: its row has its value at all. Two studies may have one baseline, each
    in its own folder.
    """
    copies: set[str] = set()  # equal at the papers' own settings, and so at most scales
    # What equals a paper's run is the study's mistake.
    order = sorted(project.entries, key=lambda name: _is_of_study(project, name))
    for scale in (None, *project.scales):
        names: dict[tuple[str, str], list[str]] = defaultdict(list)
        for name in order:
            if name not in copies and (scale is None or scale in _scales_of(project, name)):
                where = project.entry(name).values.where if _is_of_study(project, name) else ""
                pattern = where if "<" in where else ""  # of a `for`
                spec = project.spec(name, scale)
                if pattern or spec.name == name:
                    names[spec.identity, pattern].append(name)
        for first, *equal in names.values():
            for name in equal:
                if _are_of_two_studies(project, name, first):
                    continue
                yield _copy(project, name, first, scale)
                copies |= {name} if scale is None else set()


def _copy(project: Project, name: str, first: str, scale: str | None) -> FathomError:
    where = project.entry(name).values.where
    what = f"the settings of '{name}' equal those of '{first}'"
    place = project.entry(first).values.where.partition(": ")[0]
    remedy = f"use '{first}' ({place}) for both and delete this run, or the reverse"
    if scale is not None:
        what += f" at scale {scale}"
        remedy = f"add a rule for `run: {name}` to config/scales/{scale}.yaml"
    if _is_of_study(project, name):
        remedy = f"write like: {first} and no more, and it is trained once, or delete this run"
    return FathomError(what, where, remedy)


def _are_of_two_studies(project: Project, *runs: str) -> bool:
    papers = {run.partition("/")[0] for run in runs}
    return len(papers) > 1 and all(map(project.files.is_study, papers))


def _is_of_study(project: Project, run: str) -> bool:
    return project.files.is_study(run.partition("/")[0])


# Papers


def _papers(project: Project) -> Iterator[FathomError]:
    """Yield equal runs, what is wrong between files of papers, and scores that nothing counts."""
    yield from _equal_runs(project)
    shown: dict[str, set[tuple[str, str | None]]] = defaultdict(set)
    for paper in project.papers.values():
        yield from _taken_targets(paper)
        yield from _paper(project, paper)
        for cell in chain(*map(project.cells, paper.tables.values())):
            shown[cell.source] |= {(cell.metric, cell.task)} if cell.kind == "run" else set()
    for name in project.entries:
        spec = project.spec(name)
        languages = spec.data.target_languages
        counted = {"", *tokenizers.EVERYWHERE, *tokenizers.counted(spec, "test")}
        # What is counted of a task alone.
        counted_of = {task: tokenizers.of_language(of_task) for task, of_task in languages.items()}
        missing = {
            word
            for word, task in shown[name]
            if word not in counted and (task is None or word != counted_of[task])
        }
        for tokenizer in sorted(missing):
            what = f"a table shows BLEU with the tokenizer '{tokenizer}', and nothing counts it"
            where = project.entry(name).values.place("scoring", "tokenizers")
            yield FathomError(what, where, f"write scoring: {{tokenizers: [{tokenizer}]}}")


def _taken_targets(paper: Paper) -> Iterator[FathomError]:
    """Yield tables and figures whose target, `<paper>_<name>`, is a rule of the workflow."""
    for name, artefact in {**paper.tables, **paper.figures}.items():
        if is_taken(target := f"{paper.name}_{name}"):
            what = f"the workflow has a rule '{target}'"
            yield FathomError(what, artefact.values.where, "choose another name")


def _paper(project: Project, paper: Paper) -> Iterator[FathomError]:
    for name, table in paper.tables.items():
        cells, path = project.cells(table), paper.reported(name)
        yield from table_faults(table, cells, project)
        if not paper.is_study:
            yield from asking(reported.reported_faults, path, table, cells, project)
    if paper.is_study:
        return
    for path in sorted((paper.folder / "reported").glob("[!.]*")):
        if path.stem not in paper.tables or path.suffix != ".csv":
            remedy = nearest(path.name, [f"{name}.csv" for name in paper.tables])
            yield FathomError("nothing reads this file", project.files.name_of(path), remedy)
    shown_in = _shown(project, paper)
    runs = [run.partition("/")[2] for run in project.runs_of(paper.name)]
    full_names = (full_name(paper.name, name) for name in (*runs, *shown_in))
    used = [project.ancestors_in(paper.name, run) for run in full_names if project.has_run(run)]
    borrowed = [name for name in dict.fromkeys(chain(*used)) if "/" in name]
    families = [*project.families(paper.name), *project.methods]
    names = [*families, *paper.tables, *paper.figures, *borrowed]
    stated = paper.file("deviations") or Value({})
    missing = [kind for kind in ("runs", "tables", "figures") if paper.file(kind) is None]
    for finding in deviations.apply_faults(stated, paper.deviations, names, runs):
        # A name that is like another is a typing error, and of no file that is missing.
        if finding.remedy.startswith("nearest") or not missing:
            yield finding
        else:
            yield _missing(project, paper, missing[0], finding)
    about, cards = paper.file("paper") or Value({}), [*project.methods.values()]
    yield from deviations.setting_faults(stated, paper.deviations, about, cards)
    if (file := paper.file("runs")) is not None:
        entries = project.runs_files[paper.name]
        silent = deviations.silent_faults(paper.deviations, file, entries, about, shown_in)
        settings = {name: project.run(full_name(paper.name, name)) for name in entries.runs}
        defaults = deviations.default_faults(paper.deviations, entries, settings, shown_in)
        for finding in chain(silent, defaults):
            absent = paper.file("deviations") is None
            yield _missing(project, paper, "deviations", finding) if absent else finding


def _missing(project: Project, paper: Paper, kind: str, finding: FathomError) -> FathomError:
    """Return that a paper's file is missing which would have what a finding does not find."""
    return project.files.missing(kind, paper.name, f"{finding.where.partition(':')[0]} needs it")


def _shown(project: Project, paper: Paper) -> Mapping[str, set[str]]:
    """Return the tables and figures that show each of a paper's runs, by the run's short name."""
    shown_in: dict[str, set[str]] = defaultdict(set)
    for name, table in paper.tables.items():
        for cell in project.cells(table):
            shown_in[cell.source.removeprefix(f"{paper.name}/")].add(name)
    for name, figure in paper.figures.items():
        for run in figure.settings.runs:
            shown_in[full_name(paper.name, run).removeprefix(f"{paper.name}/")].add(name)
    return shown_in
