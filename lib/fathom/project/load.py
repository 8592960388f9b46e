"""config/ read and checked: every file, then every run at every scale; all findings at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fathom.config.inheritance import Entry
from fathom.config.validation import check as check_part
from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, Findings, unique
from fathom.project.contents import Contents
from fathom.project.files import OF_RUNS, ConfigFiles
from fathom.project.project import Project
from fathom.project.switches import Switches, merge
from fathom.runs.datasets import read_dataset
from fathom.runs.families import read_runs
from fathom.runs.method_card import read_card
from fathom.runs.scales import read_scale
from fathom.runs.sources import read_source


def load(root: Path, check: bool = True, layers: Iterable[YamlFile] = ()) -> Project:
    """Read config/ under a folder.

    Args:
        root: the project's folder.
        check: whether to check runs and papers too; a job of a start that has checked need not, and
            reads what papers print only where it is asked for.
        layers: switches that come after config.yaml's (project/switches.py).

    Raises:
        Findings: everything that is wrong, a line each.
    """
    files = ConfigFiles(root)
    findings = list(files.findings(files if check else OF_RUNS))
    incomplete = bool(findings)
    switches, wrong = check_part(Switches, *merge([*files["config"].values(), *layers]))
    findings += wrong if files["config"] else []
    sources = _parts(files["source"], read_source, findings)
    datasets = _parts(
        files["dataset"], lambda name, file: read_dataset(name, file, sources), findings
    )
    methods = _parts(files["method"], read_card, findings)
    scales = _parts(files["scale"], lambda _, file: read_scale(file), findings)
    entries, families = _entries(files["runs"], findings)
    contents = Contents(root, files)
    if check:
        findings += contents.read()
        incomplete |= contents.vocabulary is None
    parts = {"source": sources, "dataset": datasets, "method": methods, "scale": scales}
    parts |= {"runs": families}
    incomplete |= any(len(part) < len(files[kind]) for kind, part in parts.items())
    # A part that cannot be read causes many more findings, which would hide the cause. A paper's
    # tables cause none elsewhere.
    if switches is None or incomplete or (findings and not check):
        raise unique(findings)
    project = Project(
        root=root,
        switches=switches,
        scales=scales,
        sources=sources,
        datasets=datasets,
        methods=methods,
        entries=entries,
        families=families,
        contents=contents,
        files=files,
    )
    if check:
        from fathom.project import consistency, decoders

        findings += consistency.findings(project)
        # What tables ask for is known only where everything else is right.
        findings = findings or list(decoders.findings(project))
    # Where all runs of a paper are gone, every name of one is a consequence.
    refuse(findings and (list(_without_runs(files)) or findings))
    return project


def refuse(findings: Iterable[FathomError]) -> None:
    """Raise all findings together, each once, if there are any."""
    findings = list(findings)
    if findings:
        raise unique(findings)


def _parts(
    files: Mapping[str, YamlFile],
    read_part: Callable[[str, YamlFile], tuple[Any, list[FathomError]]],
    findings: list[FathomError],
) -> dict[str, Any]:
    """Return the checked parts of a kind by name; add what is wrong to the findings."""
    parts = {}
    for name, file in files.items():
        part, wrong = read_part(name, file)
        findings += wrong
        if part is not None:
            parts[name] = part
    return parts


def _entries(
    files: Mapping[str, YamlFile], findings: list[FathomError]
) -> tuple[dict[str, Entry], dict[str, tuple[str, ...]]]:
    """Return all runs' entries by full name, and the names of each paper's families."""
    entries: dict[str, Entry] = {}
    families: dict[str, tuple[str, ...]] = {}
    for paper, file in files.items():
        try:
            of_paper, runs, wrong = read_runs(file)
            findings += wrong
            families[paper] = tuple(of_paper)
        except FathomError as error:
            findings += error.findings if isinstance(error, Findings) else [error]
            continue
        entries |= {f"{paper}/{name}": entry for name, entry in runs.items()}
    return entries, families


def _without_runs(files: Mapping[str, Mapping[str, YamlFile]]) -> Iterator[FathomError]:
    """Yield the papers that have tables or figures and no runs.yaml."""
    for paper in {**files["tables"], **files["figures"]}:
        if paper not in files["runs"]:
            what = "no such file, and the paper has tables or figures"
            where = f"config/papers/{paper}/runs.yaml"
            yield FathomError(what, where, "restore it; a paper without runs has `runs: {}`")
