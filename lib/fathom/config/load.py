"""config/ read and checked: every file, then every run at every scale; all findings at once."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fathom.config.causes import KINDS, Causes
from fathom.config.contents import Contents
from fathom.config.dataset_cards import read_dataset
from fathom.config.families import family_findings, read_families, read_runs
from fathom.config.files import OF_RUNS, ConfigFiles
from fathom.config.inheritance import Entry
from fathom.config.project import Project
from fathom.config.scales import read_scale
from fathom.config.schema.method import read_card
from fathom.config.schema.source import read_sources
from fathom.config.switches import Switches, merge
from fathom.config.validation import check as check_part
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import FathomError, Findings, right_and_wrong, unknown

# As messages name a kind.
_WORDS = {"dataset": "data set"}


def load(root: Path, check: bool = True, layers: Iterable[YamlFile] = ()) -> Project:
    """Read config/ under a folder.

    Args:
        root: the project's folder.
        check: whether to check runs and papers too; a job of a start that has checked need not, and
            reads what papers print only where it is asked for.
        layers: switches that come after config.yaml's (config/switches.py).

    Raises:
        Findings: everything that is wrong, a line each.
    """
    files = ConfigFiles(root)
    causes, findings = Causes(root, files.folders), list(files.findings(["config"]))
    values, where = merge([*files["config"].values(), *layers])
    switches, wrong = check_part(Switches, values, where)
    if switches is not None:
        papers = (Path(folder).resolve() for folder in switches.papers)
        findings += files.include(papers, where(("papers",)))
    findings += [*files.unread(), *files.findings(files if check else OF_RUNS)]
    for kind, name in files.unreadable():
        for names in KINDS.get(kind, ()):
            causes.add(names, f"{name}/*")
        causes.add(_WORDS.get(kind, kind), name)
    if switches is not None and switches.scale not in files["scale"]:
        wrong = [unknown("scale", switches.scale, where(("scale",)), files["scale"])]
    findings += wrong if files["config"] else []
    read_parts = partial(_parts, files, causes, findings)
    cards = read_parts("source", read_sources)
    # What a card with `for` would make is wrong with the card.
    causes.add("source", *(f"{name}_*" for name in files["source"] if name not in cards))
    sources = {name: source for made in cards.values() for name, source in made.items()}
    datasets = read_parts("dataset", lambda name, file: read_dataset(name, file, sources))
    methods = read_parts("method", read_card)
    scales = read_parts("scale", lambda _, file: read_scale(file))
    entries, families = _entries(files["runs"], causes, findings)
    contents = Contents(root, files, causes)
    findings += contents.read() if check else []
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
        contents=contents,
        files=files,
    )
    if check:
        from fathom.config import consistency

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
        findings += [*wrong, *family_findings(own.values())]
        causes.add("family", *(f"{paper}/{name}" for name in names))
        families[paper] = tuple(own)
    return entries, families
