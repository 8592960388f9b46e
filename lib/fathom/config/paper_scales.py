"""scales.yaml of a paper: what each scale says of its runs, as keys of the scale's own file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from fathom.config.layered_files import layered
from fathom.config.scales import Rule
from fathom.config.schema.types import Count
from fathom.config.section import AsTuple, Doc, Section
from fathom.config.validation import check
from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.io.errors import FathomError, unknown


class PaperScale(Section):
    """The keys of a scale in a paper's scales.yaml."""

    datasets: Annotated[dict[str, str], Doc("The data set that substitutes another.")] = Field(
        default_factory=dict
    )
    updates: Annotated[dict[str, Count], Doc("Updates by group.")] = Field(default_factory=dict)
    rules: Annotated[
        tuple[Rule, ...], AsTuple, Doc("Rules for the paper's runs, after the scale's own.")
    ] = ()


@dataclass(frozen=True)
class _OfPaper(YamlFile):
    """One scale of a paper's scales.yaml with the keys of a scale's own file.

    There the groups of updates are below their paper's name.
    """

    paper: str = field(kw_only=True)
    scale: str = field(kw_only=True)
    file: YamlFile = field(kw_only=True, repr=False)

    def where(self, path: KeyPath) -> str:
        """Return `file:line: key.path` in the paper's file."""
        return self.file.where(self._own(path))

    def source(self, path: KeyPath) -> str:
        """Return the comment at the end of a value's line."""
        return self.file.source(self._own(path))

    def _own(self, path: KeyPath) -> KeyPath:
        inside = path[:2] == ("updates", self.paper)
        return (self.scale, "updates", *path[2:]) if inside else (self.scale, *path)


def with_papers(
    scales: Mapping[str, YamlFile], papers: Mapping[str, YamlFile]
) -> tuple[dict[str, YamlFile], list[FathomError]]:
    """Return the scales' files with what papers say of them, each on top of the one it is like.

    Args:
        scales: the files of config/scales by name.
        papers: scales.yaml of the papers that have one.

    Returns:
        The files, without those that are like a file that does not exist; and everything that is
        wrong in the papers' files and with `like`.
    """
    findings: list[FathomError] = []
    above: dict[str, list[YamlFile]] = {name: [] for name in scales}
    for paper, file in papers.items():
        for name, value in file.value.items():
            if name not in scales:
                findings.append(unknown("scale", name, file.where((name,)), scales))
                continue
            part, wrong = check(PaperScale, value, file.where, (name,))
            findings += wrong
            if part is not None:
                above[name].append(_of_paper(paper, name, file))
    merged = dict(layered(scales, above))
    findings += [file for file in merged.values() if isinstance(file, FathomError)]
    return {n: file for n, file in merged.items() if isinstance(file, YamlFile)}, findings


def _of_paper(paper: str, scale: str, file: YamlFile) -> _OfPaper:
    """Return a scale's part of a paper's file."""
    value: dict[str, Any] = dict(file.value[scale])
    if "updates" in value:
        value["updates"] = {paper: value["updates"]}
    if "rules" in value:
        value["rules"] = [rule | {"when": _when(rule, paper)} for rule in value["rules"]]
    inside = {path[1:]: line for path, line in file.lines.items() if path[0:1] == (scale,)}
    lines = {
        ("updates", paper, *path[1:]) if path[:1] == ("updates",) else path: line
        for path, line in inside.items()
    }
    return _OfPaper(file.name, value, lines, paper=paper, scale=scale, file=file)


def _when(rule: Mapping[str, Any], paper: str) -> dict[str, Any]:
    """Return what a rule of a paper asks of a run: also that it is the paper's."""
    when = dict(rule.get("when", {}))
    if "run" in when:
        runs = when["run"] if isinstance(when["run"], list) else [when["run"]]
        when["run"] = [f"{paper}/{run}" for run in runs]
    return {"paper": paper} | when
