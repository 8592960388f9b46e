"""config/ read and checked: every file, then every run at every scale; all findings at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fathom.claims.claims import Claim
from fathom.claims.claims import load as load_claims
from fathom.config.inheritance import NAME, NAME_RULE, Entry
from fathom.config.validation import check as check_part
from fathom.config.yaml_files import YamlFile, read
from fathom.errors import FathomError, Findings, nearest
from fathom.figures import kinds
from fathom.papers.paper import Paper
from fathom.papers.paper import load as load_paper
from fathom.papers.vocabulary import Vocabulary
from fathom.papers.vocabulary import load as load_vocabulary
from fathom.project import consistency, decoders
from fathom.project.project import Project
from fathom.project.switches import Switches, merge
from fathom.runs.datasets import read_dataset
from fathom.runs.families import read_families, read_runs
from fathom.runs.method_card import read_card
from fathom.runs.scales import read_scale
from fathom.runs.sources import read_source

_KINDS = {"scale": "scales", "source": "sources", "dataset": "datasets", "method": "methods"}
_PAPER_FILES = ("paper", "runs", "tables", "figures", "claims", "deviations", "parameters")


def load(root: Path, check: bool = True, layers: Iterable[YamlFile] = ()) -> Project:
    """Read config/ under a folder.

    Args:
        root: the project's folder.
        check: whether to check runs and papers too; a job of a start that has checked need not.
        layers: switches that come after config.yaml's (project/switches.py).

    Raises:
        Findings: everything that is wrong, a line each.
    """
    files, findings = _read_all(root)
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
    vocabulary, papers = _papers(root, files, findings)
    claims = _claims(files["claims"], findings)
    parts = {"source": sources, "dataset": datasets, "method": methods, "scale": scales}
    parts |= {"runs": families}
    incomplete |= any(len(part) < len(files[kind]) for kind, part in parts.items())
    # A part that cannot be read causes many more findings, which would hide the cause. A paper's
    # tables cause none elsewhere.
    if switches is None or vocabulary is None or incomplete or (findings and not check):
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
        papers=papers,
        claims=claims,
        vocabulary=vocabulary,
        files=files,
    )
    if check:
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


def unique(findings: Iterable[FathomError]) -> Findings:
    """Return all findings as one error, each once."""
    return Findings({str(finding): finding for finding in findings}.values())


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
            runs, wrong = read_runs(file)
            findings += wrong
            families[paper] = tuple(read_families(file))
        except FathomError as error:
            findings += error.findings if isinstance(error, Findings) else [error]
            continue
        entries |= {f"{paper}/{name}": entry for name, entry in runs.items()}
    return entries, families


def _papers(
    root: Path, files: Mapping[str, Mapping[str, YamlFile]], findings: list[FathomError]
) -> tuple[Vocabulary | None, dict[str, Paper]]:
    """Return the vocabulary of measurements, and every paper with its tables and figures."""
    papers: dict[str, Paper] = {}
    if "columns" not in files["columns"]:
        return None, papers
    try:
        vocabulary = load_vocabulary(files["columns"]["columns"])
    except Findings as error:
        findings += error.findings
        return None, papers
    for name in files["paper"]:
        try:
            folder = root / "config" / "papers" / name
            own = {kind: files[kind][name] for kind in _PAPER_FILES if name in files[kind]}
            papers[name] = load_paper(folder, own, vocabulary, kinds.classes())
        except FathomError as error:
            findings += error.findings if isinstance(error, Findings) else [error]
    return vocabulary, papers


def _claims(
    files: Mapping[str, YamlFile], findings: list[FathomError]
) -> dict[str, dict[str, Claim]]:
    """Return the claims of each paper that has some."""
    claims: dict[str, dict[str, Claim]] = {}
    for paper, file in files.items():
        try:
            claims[paper] = load_claims(file, paper)
        except Findings as error:
            findings += error.findings
    return claims


def _read_all(root: Path) -> tuple[dict[str, dict[str, YamlFile]], list[FathomError]]:
    """Read every YAML file of config/, by kind and name; return also what cannot be read."""
    config = root / "config"
    places: dict[str, dict[str, Path]] = {
        "config": {"config": config / "config.yaml"},
        "columns": {"columns": config / "columns.yaml"},
    }
    for kind, folder in _KINDS.items():
        places[kind] = {path.stem: path for path in (config / folder).glob("*.yaml")}
    folders = sorted(path for path in config.glob("papers/*") if path.is_dir())
    for kind in _PAPER_FILES:
        named = {folder.name: folder / f"{kind}.yaml" for folder in folders}
        places[kind] = {name: path for name, path in named.items() if path.exists()}
    files: dict[str, dict[str, YamlFile]] = {kind: {} for kind in places}
    findings = [finding for folder in folders for finding in _unread(folder, root)]
    for kind, named in places.items():
        for name, path in sorted(named.items()):
            if not NAME.fullmatch(name):
                at = path.parent if kind in _PAPER_FILES else path
                findings.append(_misnamed(at, root))
                continue
            try:
                files[kind][name] = read(path, root)
            except Findings as error:
                findings += error.findings
            except FathomError as error:
                findings.append(error)
    return files, findings


def _misnamed(path: Path, root: Path) -> FathomError:
    return FathomError(NAME_RULE, str(path.relative_to(root)), "choose another name")


def _without_runs(files: Mapping[str, Mapping[str, YamlFile]]) -> Iterator[FathomError]:
    """Yield the papers that have tables or figures and no runs.yaml."""
    for paper in {**files["tables"], **files["figures"]}:
        if paper not in files["runs"]:
            what = "no such file, and the paper has tables or figures"
            where = f"config/papers/{paper}/runs.yaml"
            yield FathomError(what, where, "restore it; a paper without runs has `runs: {}`")


def _unread(folder: Path, root: Path) -> Iterator[FathomError]:
    """Yield what nothing reads in a paper's folder; hidden files and notes may be there."""
    known = [*(f"{kind}.yaml" for kind in _PAPER_FILES), "reported"]
    for path in sorted(folder.iterdir()):
        if path.name not in known and path.name[0] != "." and path.suffix != ".md":
            where = str(path.relative_to(root))
            yield FathomError("nothing reads this file", where, nearest(path.name, known))
