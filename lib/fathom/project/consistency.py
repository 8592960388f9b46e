"""What no class can say alone: names that must exist elsewhere, and runs that must resolve."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from fathom.claims import names as claim_names
from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.errors import FathomError, Findings, closest, nearest
from fathom.figures import kinds
from fathom.papers import paper as papers
from fathom.papers.known import Known, full_name
from fathom.project import parameters
from fathom.project.project import Project
from fathom.runs import compatibility
from fathom.runs.datasets import direction_findings
from fathom.runs.method_card import module_names
from fathom.runs.requirements import requirement_findings
from fathom.runs.scales import applies, path_findings
from fathom.subwords.texts import text_findings

# Parts of a run whose values need a source.
_SOURCED = ("data", "model", "method", "masking", "training", "start", "decoding")


def findings(project: Project) -> Iterator[FathomError]:
    """Yield what is wrong between files that are each right alone."""
    yield from _switches(project)
    yield from _cards(project)
    for name in project.scales:
        yield from _scale(project, name)
    for name in project.entries:
        yield from _run(project, name)
    yield from _equal_runs(project)
    known = project.known()
    # The tables of a paper that cannot be read may use any of its runs.
    shown = {name for name in known.runs if name.split("/")[0] not in project.papers}
    for paper in project.papers.values():
        yield from papers.findings(paper, known, project.root)
        for figure in paper.figures.values():
            yield from kinds.findings(figure, known, paper.tables)
        resolved = {name: table.resolve(known) for name, table in paper.tables.items()}
        cells = {name: readable for name, (readable, _) in resolved.items()}
        shown |= {cell.source for row in cells.values() for cell in row}
        if any(wrong for _, wrong in resolved.values()):
            # A table that does not resolve may use any of the paper's runs, and claims its cells.
            shown |= {name for name in known.runs if name.startswith(f"{paper.name}/")}
            continue
        claims = project.claims.get(paper.name, {}).values()
        yield from claim_names.findings(claims, cells, paper.figures, known)
    yield from _unused_runs(project, known, shown)
    yield from parameters.findings(project)
    for paper, file in project.files["runs"].items():
        yield from _sources(file)
        if paper not in project.files["paper"]:
            yield FathomError(
                "a paper without paper.yaml", file.name, "write it, or delete runs.yaml"
            )


def _switches(project: Project) -> Iterator[FathomError]:
    scale = str(project.files["config"]["config"].value.get("scale", ""))
    if scale not in project.scales:
        where = project.files["config"]["config"].where(("scale",))
        yield FathomError(f"no scale '{scale}'", where, nearest(scale, project.scales))


def _cards(project: Project) -> Iterator[FathomError]:
    """Yield cards without a module, and the papers and equations that do not exist."""
    modules = module_names()
    for card in project.methods.values():
        if card.name not in modules:
            remedy = f"write lib/fathom/methods/{card.name}.py, or delete the card"
            yield FathomError("the card has no module", card.file.where(()), remedy)
        paper = card.about.paper
        if paper is None:
            continue
        if paper not in project.files["paper"]:
            where = card.file.where(("paper",))
            yield FathomError(f"no paper '{paper}'", where, nearest(paper, project.files["paper"]))
            continue
        known = project.files["paper"][paper].value.get("equations", {})
        for position, equation in enumerate(card.about.equations):
            if equation not in known:
                where = card.file.where(("equations", position))
                yield FathomError(f"no equation '{equation}'", where, nearest(equation, known))


def _scale(project: Project, name: str) -> Iterator[FathomError]:
    """Yield the names in a scale that do not exist, and rules that fit no run."""
    scale, file = project.scales[name], project.files["scale"][name]
    for pair in scale.datasets.items():
        for dataset in pair:
            if dataset not in project.datasets:
                where = file.where(("datasets", pair[0]))
                yield FathomError(
                    f"no data set '{dataset}'", where, nearest(dataset, project.datasets)
                )
    yield from _groups_of_updates(project, name)
    if scale.check_learning:
        try:
            project.run_name(scale.check_learning.run)
        except FathomError as error:
            yield FathomError(error.what, file.where(("check_learning", "run")), error.remedy)
    wrong = list(
        path_findings(scale, file, {name: card.method for name, card in project.methods.items()})
    )
    yield from wrong
    if not wrong:
        yield from _idle_rules(project, name)


def _groups_of_updates(project: Project, name: str) -> Iterator[FathomError]:
    """Yield papers and groups of a scale's updates that do not exist, and groups without updates.

    A misspelled name is one finding, not also one of the name that it means.
    """
    updates, file = project.scales[name].updates, project.files["scale"][name]
    papers, meant = project.files["runs"], set[str | None]()
    for paper in updates:
        if paper not in papers:
            meant.add(closest(paper, papers))
            what, where = f"no paper '{paper}'", file.where(("updates", paper))
            yield FathomError(what, where, nearest(paper, papers))
    for paper in papers if updates else ():
        given, known = updates.get(paper, {}), _groups(project, paper)
        missing = sorted(known - {*given}) if paper not in meant else []
        for group in given:
            if group in known:
                continue
            right = closest(group, missing) or (missing[0] if len(missing) == 1 else None)
            where = file.where(("updates", paper, group))
            remedy = nearest(right or group, [right] if right else sorted(known))
            yield FathomError(f"no group '{group}'", where, remedy)
            missing = [other for other in missing if other != right]
        for group in missing:
            what = f"no updates for the group '{group}' of {paper}"
            remedy = f"add `{paper}: {{{group}: 300}}`, for example"
            yield FathomError(what, file.where(("updates",)), remedy)
    for run, entry in project.entries.items() if updates else ():
        if entry.get(("group",)) is None:
            what = f"no group, so scale {name} gives it no updates"
            yield FathomError(what, project.entries[run].where(()), "add `group`")


def _groups(project: Project, paper: str) -> set[str]:
    return {
        str(entry.get(("group",)))
        for name, entry in project.entries.items()
        if name.startswith(f"{paper}/") and entry.get(("group",)) is not None
    }


def _idle_rules(project: Project, name: str) -> Iterator[FathomError]:
    """Yield the rules of a scale that fit no run."""
    scale, file = project.scales[name], project.files["scale"][name]
    resolved = [(name.partition("/"), project.resolved(name)) for name in project.entries]
    runs = [((name[0], name[2]), run.entry, run.run) for name, run in resolved]
    for number, rule in enumerate(scale.rules):
        if not any(run and applies(rule, entry, run, name) for name, entry, run in runs):
            where = file.where(("rules", number, "when"))
            yield FathomError("the rule fits no run", where, "check its `when`, or delete it")


def _run(project: Project, name: str) -> Iterator[FathomError]:
    """Yield what is wrong with a run at the papers' own settings and at each scale."""
    resolved = project.resolved(name)
    if resolved.run is None:
        yield from resolved.findings
        return
    for scale in (None, *project.scales):
        resolved = project.resolved(name, scale)
        if resolved.run is None:
            yield from resolved.findings
            continue
        card = project.methods[resolved.run.method.name]
        wrong = list(compatibility.findings(resolved.run, card, resolved.entry))
        try:
            spec = project.spec(name, scale)
            where = resolved.entry.where(("data", "direction"))
            dataset = project.datasets[spec.data.dataset]
            wrong += direction_findings(dataset, spec.data.direction, where)
            wrong += requirement_findings(card.about.requires, spec, resolved.entry)
            for finding in text_findings(spec.data):
                place = resolved.entry.where(tuple(finding.where.split(".")))
                wrong.append(FathomError(finding.what, place, finding.remedy))
            other = project.start_name(name)
            if other is not None:
                start = project.spec(other, scale)
                wrong += compatibility.start_findings(spec, start, resolved.entry)
        except Findings as error:
            wrong += error.findings
        except FathomError as error:
            wrong.append(error)
        yield from wrong if scale is None else _at_scale(wrong, scale)
        if wrong and scale is None:
            return


def _at_scale(findings: Iterable[FathomError], scale: str) -> Iterator[FathomError]:
    """Yield findings of a run that is right at the paper's own scale, with the scale's name."""
    for finding in findings:
        what = f"{finding.what} (at scale {scale}: fathom show --scale {scale})"
        yield FathomError(what, finding.where, finding.remedy)


def _equal_runs(project: Project) -> Iterator[FathomError]:
    """Yield runs with equal settings: they would be trained twice under two names."""
    copies: set[str] = set()  # equal at the papers' own settings, and so at most scales
    for scale in (None, *project.scales):
        names: dict[str, list[str]] = defaultdict(list)
        for name in project.entries:
            if name in copies:
                continue
            try:
                names[project.spec(name, scale).identity].append(name)
            except FathomError:
                continue  # reported with the run
        for first, *others in names.values():
            for other in others:
                where = project.entries[other].where(())
                what = f"the settings of '{other}' equal those of '{first}'"
                place = project.entries[first].where(()).partition(": ")[0]
                remedy = f"use '{first}' ({place}) for both and delete this run, or the reverse"
                if scale is None:
                    copies.add(other)
                else:
                    what += f" at scale {scale}"
                    remedy = f"add a rule for `run: {other}` to config/scales/{scale}.yaml"
                yield FathomError(what, where, remedy)


def _unused_runs(project: Project, known: Known, shown: Set[str]) -> Iterator[FathomError]:
    """Yield the runs that no table, no figure and no other run uses."""
    used = set(shown)
    for name in known.runs:
        start = project.run(name).start
        if start is not None:
            used.add(full_name(name.split("/")[0], start.run))
    for paper in project.papers.values():
        for figure in paper.figures.values():
            used |= {full_name(paper.name, run) for run in figure.settings.runs}
    for name in known.runs:
        if name not in used:
            where = project.entries[name].where(())
            yield FathomError("no table and no figure uses this run", where, "use it or delete it")


def _sources(file: YamlFile) -> Iterator[FathomError]:
    """Yield the values of a runs.yaml that have no source."""
    for section in ("families", "runs"):
        entries = file.value.get(section)
        for name, entry in (entries if isinstance(entries, dict) else {}).items():
            for part in _SOURCED:
                if not isinstance(entry, dict) or not isinstance(entry.get(part), dict):
                    continue
                for path in _leaves(entry[part], (section, name, part)):
                    if path[-1] not in ("name", "run") and not _source(file, path):
                        remedy = "add a comment with the source at the end of the line"
                        yield FathomError("no source is given", file.where(path), remedy)


def _source(file: YamlFile, path: KeyPath) -> str:
    """Return the source of a value, on its line or that of a key inside its entry."""
    while len(path) > 1:
        if path in file.sources:
            return file.sources[path]
        path = path[:-1]
    return ""


def _leaves(value: object, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path
