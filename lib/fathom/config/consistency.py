"""What no class can say alone: names that must exist elsewhere, and runs that must resolve."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from copy import copy
from typing import get_args

from fathom.config import compatibility, deviations
from fathom.config import paper as papers
from fathom.config import scale_findings as scales
from fathom.config import source_findings as sources
from fathom.config.causes import Causes
from fathom.config.cells import Cell
from fathom.config.dataset_cards import direction_findings
from fathom.config.known import Known, full_name
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.requirements import requirement_findings
from fathom.config.schema.method import module_names
from fathom.config.schema.run import Tokenizer
from fathom.config.texts import text_findings
from fathom.io.errors import Dependent, FathomError, Findings, nearest, unknown

# Kinds whose names are those of one paper.
_OF_A_PAPER = ("run", "family", "table", "figure", "deviation", "mark", "label", "entry")


def findings(project: Project, causes: Causes) -> Iterator[FathomError]:
    """Yield what is wrong between files.

    Args:
        project: of what is right in each file alone.
        causes: what is not; runs, tables and figures that do not resolve are added.
    """
    yield from _cards(project)
    for name in project.scales:
        yield from scales.findings(project, name)
    for name in project.entries:
        yield from _run(project, name)
    yield from _equal_runs(project)
    known = project.known()
    causes.add("run", *known.unresolved)
    shown: dict[str, set[str]] = defaultdict(set)
    for paper in project.papers.values():
        for cell in _cells(paper, known, causes):
            shown[cell.source].add(cell.metric)
        yield from _of(paper.name, _paper(project, paper, known))
    yield from _unscored_runs(project, known, shown)
    for file in project.files["runs"].values():
        yield from sources.of_runs(file)
    for file in project.files["paper"].values():
        yield from sources.of_paper(file)


def _cells(paper: Paper, known: Known, causes: Causes) -> Iterator[Cell]:
    """Yield the cells of a paper that resolve; add the tables that do not to the causes."""
    for name, table in paper.tables.items():
        cells, wrong = table.resolve(known)
        yield from cells
        if wrong:
            causes.add("table", f"{paper.name}/{name}")


def _paper(project: Project, paper: Paper, known: Known) -> Iterator[FathomError]:
    """Yield what is wrong between a paper's files."""
    yield from papers.findings(paper, known, project.root)
    if "deviations" in paper.files:
        methods = {name: card.method for name, card in project.methods.items()}
        yield from deviations.setting_findings(paper.deviations, paper.files, methods)


def _of(paper: str, findings: Iterable[FathomError]) -> Iterator[FathomError]:
    """Yield a paper's findings; what they depend on gets its full name."""
    for finding in findings:
        if isinstance(finding, Dependent):
            finding.on = tuple(
                (kind, full_name(paper, name) if kind in _OF_A_PAPER else name)
                for kind, name in finding.on
            )
        yield finding


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
            yield unknown("paper", paper, where, project.files["paper"])
            continue
        known = project.files["paper"][paper].value.get("equations")
        known = known if isinstance(known, dict) else {}
        for position, equation in enumerate(card.about.equations):
            if equation not in known:
                what, where = f"no equation '{equation}'", card.file.where(("equations", position))
                yield Dependent(what, where, nearest(equation, known), [("paper", paper)])


def _run(project: Project, name: str) -> Iterator[FathomError]:
    """Yield what is wrong with a run at the papers' own settings and at each scale."""
    resolved = project.resolved(name)
    if resolved.run is None:
        yield from resolved.findings
        return
    seen: set[str] = set()
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
        # A scale has the findings of the one that it is like.
        wrong = [finding for finding in wrong if str(finding) not in seen]
        seen.update(map(str, wrong))
        yield from wrong if scale is None else _at_scale(wrong, scale)
        if wrong and scale is None:
            return


def _at_scale(findings: Iterable[FathomError], scale: str) -> Iterator[FathomError]:
    """Yield findings of a run that is right at the paper's own scale, with the scale's name."""
    for finding in findings:
        finding = copy(finding)
        finding.what += f" (at scale {scale}: fathom show --scale {scale})"
        yield finding


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
                    equal = scales.made_equal(project, other, first, scale)
                    equal = equal or scales.made_equal(project, first, other, scale)
                    what += f" at scale {scale}" + (f" by {', '.join(equal)}" if equal else "")
                    remedy = f"add a rule for `run: {other}` to config/scales/{scale}.yaml"
                yield FathomError(what, where, remedy)


def _unscored_runs(
    project: Project, known: Known, shown: Mapping[str, Set[str]]
) -> Iterator[FathomError]:
    """Yield the runs that a table shows in a tokenizer for which nothing scores them."""
    for name in known.runs:
        scored = project.run(name).scoring.tokenizers
        for tokenizer in sorted(shown[name] & {*get_args(Tokenizer)} - {*scored}):
            what = f"a table shows BLEU with the tokenizer '{tokenizer}', and nothing counts it"
            where = project.entries[name].where(("scoring", "tokenizers"))
            remedy = f"write scoring: {{tokenizers: [{tokenizer}]}}"
            yield FathomError(what, where, remedy)
