"""config/ read and checked: every file, then every run at every scale; all findings at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fathom.claims.claims import Claim
from fathom.claims.claims import load as load_claims
from fathom.config.inheritance import NAME, NAME_RULE, Entry
from fathom.config.validation import check as check_part
from fathom.config.yaml_files import YamlFile, read
from fathom.errors import FathomError, Findings, nearest, right_and_wrong
from fathom.figures import kinds
from fathom.papers.paper import Paper
from fathom.papers.paper import load as load_paper
from fathom.papers.vocabulary import Vocabulary
from fathom.papers.vocabulary import load as load_vocabulary
from fathom.project import consistency
from fathom.project.causes import KINDS, Causes
from fathom.project.project import Project
from fathom.project.switches import Switches, merge
from fathom.runs.datasets import read_dataset
from fathom.runs.families import family_findings, read_families, read_runs
from fathom.runs.method_card import read_card
from fathom.runs.scales import read_scale
from fathom.runs.sources import read_source

_KINDS = {"scale": "scales", "source": "sources", "dataset": "datasets", "method": "methods"}
_PAPER_FILES = ("paper", "runs", "tables", "figures", "claims", "deviations", "parameters")
# As messages name a kind.
_WORDS = {"dataset": "data set"}


def load(root: Path, check: bool = True, layers: Iterable[YamlFile] = ()) -> Project:
    """Read config/ under a folder.

    Args:
        root: the project's folder.
        check: whether to check runs and papers too; a job of a start that has checked need not.
        layers: switches that come after config.yaml's (project/switches.py).

    Raises:
        Findings: everything that is wrong, a line each.
    """
    causes = Causes(root)
    files, findings = _read_all(root, causes)
    switches, wrong = check_part(Switches, *merge([*files["config"].values(), *layers]))
    findings += wrong if files["config"] else []
    read_parts = partial(_parts, files, causes, findings)
    sources = read_parts("source", read_source)
    datasets = read_parts("dataset", lambda name, file: read_dataset(name, file, sources))
    methods = read_parts("method", read_card)
    scales = read_parts("scale", lambda _, file: read_scale(file))
    entries, families = _entries(files["runs"], causes, findings)
    vocabulary, papers = _papers(root, files, causes, findings)
    claims = _claims(files["claims"], findings)
    if findings and not check:
        refuse(causes.among(findings))
    project = Project(
        root=root,
        # What is missing here is a finding already.
        switches=switches or Switches.model_construct(),
        scales=scales,
        sources=sources,
        datasets=datasets,
        methods=methods,
        entries=entries,
        families=families,
        papers=papers,
        claims=claims,
        vocabulary=vocabulary or Vocabulary({}, {}),
        files=files,
    )
    if check:
        findings += consistency.findings(project, causes)
    refuse(causes.among(findings))
    return project


def refuse(findings: Iterable[FathomError]) -> None:
    """Raise all findings together, if there are any."""
    findings = list(findings)
    if findings:
        raise Findings(findings)


def _parts(
    files: Mapping[str, Mapping[str, YamlFile]],
    causes: Causes,
    findings: list[FathomError],
    kind: str,
    read_part: Callable[[str, YamlFile], tuple[Any, list[FathomError]]],
) -> dict[str, Any]:
    """Return the checked parts of a kind by name; add what is wrong to causes and findings."""
    parts = {}
    for name, file in files[kind].items():
        part, wrong = read_part(name, file)
        findings += wrong
        if part is None:
            causes.add(_WORDS.get(kind, kind), name)
        else:
            parts[name] = part
    return parts


def _entries(
    files: Mapping[str, YamlFile], causes: Causes, findings: list[FathomError]
) -> tuple[dict[str, Entry], dict[str, tuple[str, ...]]]:
    """Return all runs' entries by full name, and the names of each paper's families."""
    entries: dict[str, Entry] = {}
    families: dict[str, tuple[str, ...]] = {}
    for paper, file in files.items():
        runs, wrong, names = right_and_wrong(read_runs, file)
        findings += wrong
        for kind in ("run", "entry"):
            causes.add(kind, *(f"{paper}/{name}" for name in names))
        entries |= {f"{paper}/{name}": entry for name, entry in runs.items()}
        own, wrong, names = right_and_wrong(read_families, file)
        findings += [*wrong, *family_findings(file)]
        causes.add("family", *(f"{paper}/{name}" for name in names))
        families[paper] = tuple(own)
    return entries, families


def _papers(
    root: Path,
    files: Mapping[str, Mapping[str, YamlFile]],
    causes: Causes,
    findings: list[FathomError],
) -> tuple[Vocabulary | None, dict[str, Paper]]:
    """Return the vocabulary of measurements, and every paper with its tables and figures."""
    papers: dict[str, Paper] = {}
    names = list(dict.fromkeys(name for kind in _PAPER_FILES for name in files[kind]))
    try:
        vocabulary = load_vocabulary(files["columns"]["columns"]) if files["columns"] else None
    except Findings as error:
        findings += error.findings
        vocabulary = None
    if vocabulary is None:
        # Nothing of a table means anything without the measurements.
        for kind in ("table", "figure", "deviation"):
            causes.add(kind, *(f"{name}/*" for name in names))
        return None, papers
    for name in names:
        folder = root / "config" / "papers" / name
        own = {kind: files[kind][name] for kind in _PAPER_FILES if name in files[kind]}
        papers[name], wrong, left_out = load_paper(folder, own, vocabulary, kinds.classes())
        findings += wrong
        for kind, part in left_out:
            causes.add(kind, f"{name}/{part}")
        findings += _incomplete(papers[name], folder, root, causes)
    return vocabulary, papers


def _incomplete(paper: Paper, folder: Path, root: Path, causes: Causes) -> Iterator[FathomError]:
    """Yield that a paper has no paper.yaml, or neither tables nor figures."""
    if not (folder / "paper.yaml").exists():
        causes.add("paper", paper.name)
        where = str((folder / "paper.yaml").relative_to(root))
        yield FathomError("no such file", where, f"write it, or delete {folder.relative_to(root)}")
    if not any((folder / f"{kind}.yaml").exists() for kind in ("tables", "figures")):
        for kind in ("table", "figure"):
            causes.add(kind, f"{paper.name}/*")
        where = str(folder.relative_to(root))
        what = "a paper without tables and figures"
        yield FathomError(what, where, "add tables.yaml or figures.yaml")


def _claims(
    files: Mapping[str, YamlFile], findings: list[FathomError]
) -> dict[str, dict[str, Claim]]:
    """Return the claims of each paper that has some."""
    claims: dict[str, dict[str, Claim]] = {}
    for paper, file in files.items():
        right, wrong, _ = right_and_wrong(load_claims, file, paper)
        claims[paper] = dict(right)
        findings += wrong
    return claims


def _read_all(
    root: Path, causes: Causes
) -> tuple[dict[str, dict[str, YamlFile]], list[FathomError]]:
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
            try:
                if not NAME.fullmatch(name):
                    raise _misnamed(path.parent if kind in _PAPER_FILES else path, root)
                files[kind][name] = read(path, root)
            except FathomError as error:
                findings += error.findings if isinstance(error, Findings) else [error]
                for names in KINDS.get(kind, ()):
                    causes.add(names, f"{name}/*")
                causes.add(_WORDS.get(kind, kind), name)
    return files, findings


def _misnamed(path: Path, root: Path) -> FathomError:
    return FathomError(NAME_RULE, str(path.relative_to(root)), "choose another name")


def _unread(folder: Path, root: Path) -> Iterator[FathomError]:
    """Yield what nothing reads in a paper's folder; hidden files and notes may be there."""
    known = [*(f"{kind}.yaml" for kind in _PAPER_FILES), "reported"]
    for path in sorted(folder.iterdir()):
        if path.name not in known and path.name[0] != "." and path.suffix != ".md":
            where = str(path.relative_to(root))
            yield FathomError("nothing reads this file", where, nearest(path.name, known))
