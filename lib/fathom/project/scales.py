"""A scale's file against the runs: names that must exist, groups, and rules that fit no run."""

from collections.abc import Iterator

from fathom.errors import ANY, Dependent, FathomError, closest, nearest, unknown
from fathom.project.project import Project
from fathom.runs.scales import applies, path_findings


def findings(project: Project, name: str) -> Iterator[FathomError]:
    """Yield the names in a scale that do not exist, and rules that fit no run."""
    scale, file = project.scales[name], project.files["scale"][name]
    for pair in scale.datasets.items():
        for dataset in pair:
            if dataset not in project.datasets:
                where = file.where(("datasets", pair[0]))
                yield unknown("data set", dataset, where, project.datasets)
    yield from _groups_of_updates(project, name)
    if scale.check_learning:
        run, where = scale.check_learning.run, file.where(("check_learning", "run"))
        try:
            project.run_name(run)
        except FathomError as error:
            on = [("run", run if "/" in run else ANY)]
            yield Dependent(error.what, where, error.remedy, on)
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
            yield Dependent(what, where, nearest(paper, papers), [("entry", f"{paper}/*")])
    for paper in papers if updates else ():
        given, known = updates.get(paper, {}), _groups(project, paper)
        missing = sorted(known - {*given}) if paper not in meant else []
        for group in given:
            if group in known:
                continue
            right = closest(group, missing) or (missing[0] if len(missing) == 1 else None)
            where = file.where(("updates", paper, group))
            remedy = nearest(right or group, [right] if right else sorted(known))
            yield Dependent(f"no group '{group}'", where, remedy, [("entry", f"{paper}/*")])
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
            what, remedy = "the rule fits no run", "check its `when`, or delete it"
            yield Dependent(what, where, remedy, [("run", ANY), ("method", ANY)])
