"""config/ read once, checked whole, and handed out as the catalog."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fathom.config.schema_errors import Schemas
from fathom.config.yaml_files import YamlFile, read
from fathom.errors import FathomError, Findings
from fathom.papers.paper import Paper
from fathom.project import consistency
from fathom.project.project import Catalog
from fathom.runs.datasets import Dataset, Source
from fathom.runs.method_card import Card
from fathom.runs.resolve import Scale

# Names stand in the paths of results, in targets and in commands.
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NAME_RULE = "a name has small letters, digits and underscores alone, a letter first"


def load(root: Path, check: bool = True) -> Catalog:
    """Read config/ under a folder.

    Args:
        root: the project's folder.
        check: whether to check every file; a job of a start that has checked need not.

    Raises:
        Findings: everything that is wrong, a line each.
    """
    schemas = Schemas(root / "workflow" / "schemas", root)
    files, unreadable = _read_all(root)
    wrong = (
        each
        for kind, named in files.items()
        for file in named.values()
        for each in schemas.findings(kind, file)
    )
    _refuse([*unreadable, *(wrong if check else ())])
    catalog = Catalog(
        root=root,
        config=files["config"]["config"].value,
        scales={name: Scale.from_file(name, file) for name, file in files["scale"].items()},
        sources=_built(files["source"], Source.from_mapping),
        datasets=_built(files["dataset"], Dataset.from_mapping),
        methods=_built(files["method"], Card.from_mapping),
        papers=_built(files["paper"], Paper.from_mapping),
        run_files=files["runs"],
        card_files=files["method"],
        schemas=schemas,
    )
    if check:
        _refuse(consistency.findings(catalog, files))
    return catalog


def _refuse(found: Iterable[FathomError]) -> None:
    """Raise all findings together, each once, if there are any."""
    findings = {str(each): each for each in found}
    if findings:
        raise Findings(findings.values())


def _built(files: dict[str, YamlFile], build: Callable[[str, dict], Any]) -> dict[str, Any]:
    return {name: build(name, file.value) for name, file in files.items()}


def _read_all(root: Path) -> tuple[dict[str, dict[str, YamlFile]], list[FathomError]]:
    """Read every YAML file of config/, by kind and name; return also what cannot be read."""
    config = root / "config"
    papers = [path for path in config.glob("papers/*") if path.is_dir()]
    places = {
        "config": {"config": config / "config.yaml"},
        "scale": _by_stem(config / "scales"),
        "source": _by_stem(config / "sources"),
        "dataset": _by_stem(config / "datasets"),
        "method": _by_stem(config / "methods"),
        "paper": {path.name: path / "paper.yaml" for path in papers},
        "runs": _by_folder(config, "runs"),
        "deviations": _by_folder(config, "deviations"),
        "parameters": _by_folder(config, "parameters"),
    }
    files: dict[str, dict[str, YamlFile]] = {}
    findings: list[FathomError] = []
    for kind, named in places.items():
        files[kind] = {}
        for name, path in sorted(named.items()):
            if not _NAME.fullmatch(name):
                where, remedy = f"config: {kind} '{name}'", "give it another name"
                findings.append(FathomError(_NAME_RULE, where, remedy))
                continue
            try:
                files[kind][name] = read(path, root)
            except Findings as error:
                findings.extend(error.findings)
            except FathomError as error:
                findings.append(error)
    return files, findings


def _by_folder(config: Path, kind: str) -> dict[str, Path]:
    return {path.parent.name: path for path in config.glob(f"papers/*/{kind}.yaml")}


def _by_stem(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in folder.glob("*.yaml")}
