"""A scale's file against the runs: names that must exist, groups, and rules that fit no run."""

from collections.abc import Iterator

from fathom.config.compatibility import shown
from fathom.config.inheritance import Entry
from fathom.config.layered_files import files_of
from fathom.config.project import Project
from fathom.config.scales import applies, missing_values, path_findings
from fathom.config.show import leaves
from fathom.io.errors import ANY, Dependent, FathomError, brief, closest, nearest, unknown


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
    misnamed = [("run", run) for run, entry in project.entries.items() if not _text_group(entry)]
    papers, meant = project.files["runs"], set[str | None]()
    for paper in updates:
        if paper not in papers:
            meant.add(closest(paper, papers))
            what, where = f"no paper '{paper}'", file.where(("updates", paper))
            yield Dependent(what, where, nearest(paper, papers), [("entry", f"{paper}/*")])
    for paper in papers if updates else ():
        given, known = updates.get(paper, {}), _groups(project, paper)
        # A paper may leave a scale out: its runs are not built there.
        missing = sorted(known - {*given}) if given and paper not in meant else []
        for group in given:
            if group in known:
                continue
            right = closest(group, missing) or (missing[0] if len(missing) == 1 else None)
            where = file.where(("updates", paper, group))
            remedy = nearest(right or group, [right] if right else sorted(known))
            on = [("entry", f"{paper}/*"), *misnamed]
            yield Dependent(f"no group '{group}'", where, remedy, on)
            missing = [other for other in missing if other != right]
        for group in missing:
            what = f"no updates for the group '{group}' of {paper}"
            remedy = f"add `{paper}: {{{group}: 300}}`, for example"
            yield FathomError(what, file.where(("updates",)), remedy)
    for run, entry in project.entries.items() if updates else ():
        if entry.get(("group",)) is None:
            what = f"no group, so scale {name} gives it no updates"
            yield FathomError(what, project.entries[run].where(()), "add `group`")


def made_equal(project: Project, run: str, other: str, scale: str) -> list[str]:
    """Return where a scale gives two runs one value of a setting in which they differ.

    Args:
        project: the project.
        run: a run's full name.
        other: that of another one.
        scale: the scale, at which both have equal settings.
    """
    own, of_other = dict(leaves(project.run(run))), dict(leaves(project.run(other)))
    here = dict(leaves(project.run(run, scale)))
    entry, start = project.resolved(run, scale).entry, files_of(project.files["scale"][scale])
    places = [
        entry.where(path)
        for path, value in own.items()
        if value != of_other.get(path) and value != here.get(path)
    ]
    return [place for place in dict.fromkeys(places) if place.startswith(start)]


def _groups(project: Project, paper: str) -> set[str]:
    return {
        str(entry.get(("group",)))
        for name, entry in project.entries.items()
        if name.startswith(f"{paper}/") and entry.get(("group",)) and _text_group(entry)
    }


def _text_group(entry: Entry) -> bool:
    """Return whether a run's group, if it has one, is a text."""
    return isinstance(entry.get(("group",)), str | None)


def _idle_rules(project: Project, name: str) -> Iterator[FathomError]:
    """Yield the rules of a scale that fit no run."""
    scale, file = project.scales[name], project.files["scale"][name]
    resolved = [(name.partition("/"), project.resolved(name)) for name in project.entries]
    runs = [(run.entry, run.run, (name[0], name[2])) for name, run in resolved if run.run]
    on = [("run", ANY), ("method", ANY)]
    for number, rule in enumerate(scale.rules):
        path, wrong = ("rules", number, "when"), False
        for key, value, known in missing_values(rule, runs):
            wrong = True
            what, where = f"no run has {key} '{brief(shown(value))}'", file.where((*path, key))
            yield Dependent(
                what, where, nearest(shown(value), dict.fromkeys(map(shown, known))), on
            )
        if not wrong and not any(applies(rule, *run) for run in runs):
            what, remedy = "the rule fits no run", "check its `when`, or delete it"
            yield Dependent(what, file.where(path), remedy, on)
