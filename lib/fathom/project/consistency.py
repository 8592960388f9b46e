"""What no schema can say: names that must exist elsewhere, and runs that must resolve."""

from collections.abc import Iterable, Iterator
from typing import Any

from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, Findings, nearest
from fathom.papers import deviations
from fathom.papers import paper as papers
from fathom.project import parameters
from fathom.project.project import Catalog
from fathom.runs import compatibility as surroundings
from fathom.runs import datasets
from fathom.runs import method_card as cards
from fathom.runs.resolve import Leaf, Setting, leaves


def findings(catalog: Catalog, files: dict[str, dict[str, YamlFile]]) -> Iterator[FathomError]:
    """Yield what is wrong between files that are each right alone.

    Args:
        catalog: the catalog as read.
        files: its files, by kind and name.
    """
    yield from _scales(catalog)
    for name, file in files["dataset"].items():
        yield from datasets.findings(catalog.datasets[name], catalog.sources, file)
    for name, file in files["method"].items():
        yield from cards.findings(catalog.methods[name], file)
        yield from _equations(catalog, catalog.methods[name], file)
    yield from _runs(catalog)
    for file in files["parameters"].values():
        yield from parameters.findings(catalog, file)
    for name, file in files["paper"].items():
        runs = catalog.run_files[name].value["runs"] if name in catalog.run_files else {}
        yield from papers.findings(catalog.papers[name], runs, file)
        for artefact in catalog.papers[name].artefacts.values():
            if artefact.kind == "table":
                yield from _columns(catalog, artefact, file)
        if name in files["deviations"]:
            ledger_file = files["deviations"][name]
            ledger = deviations.from_mapping(ledger_file.value)
            paper, methods = catalog.papers[name], catalog.methods
            yield from deviations.findings(ledger, paper, runs, methods, ledger_file)
    for paper, artefact, path in catalog.reported():
        if not path.is_file():
            there = sorted(each.name for each in path.parent.glob("*.csv"))
            where = files["paper"][paper.name].where(("artefacts", artefact.name, "reported"))
            remedy = nearest(artefact.reported, there)
            yield FathomError(f"no file '{artefact.reported}'", where, remedy)


def _equations(catalog: Catalog, card: cards.Card, file: YamlFile) -> Iterator[FathomError]:
    """Yield the paper and the equations that a card names and that do not exist."""
    if card.paper is None:
        return
    if card.paper not in catalog.papers:
        where = file.where(("paper",))
        yield FathomError(f"no paper '{card.paper}'", where, nearest(card.paper, catalog.papers))
        return
    known = catalog.papers[card.paper].equations
    for name in card.equations:
        if name not in known:
            where = file.where(("equations",))
            yield FathomError(f"no equation '{name}'", where, nearest(name, known))


def _columns(catalog: Catalog, artefact: papers.Artefact, file: YamlFile) -> Iterator[FathomError]:
    """Yield the columns of a table whose value no manifest can have."""
    tasks = {task for each in catalog.datasets.values() for task in each.task_names}
    manifest = catalog.schemas.schema("manifest")
    for column in artefact.columns:
        try:
            path = column.expression.path
        except FathomError:
            # Told where the paper is looked at alone.
            continue
        for name, known, what in _steps(path, manifest, tasks):
            if name != "*" and name not in known:
                key = ("artefacts", artefact.name, "columns", column.name, "value")
                where = file.where(key)
                yield FathomError(f"no {what} '{name}'", where, nearest(name, known))
                break


def _steps(
    path: tuple[str, ...], manifest: dict[str, Any], tasks: set[str]
) -> Iterator[tuple[str, Iterable[str], str]]:
    """Yield each name of a column's path with what may stand there, and what that is.

    Args:
        path: `scores.<task>`, `scores.<gates>.<task>`, `scores.<gates>.<task>.<metric>`, or the
            keys of a number in a manifest.
        manifest: the schema of manifests.
        tasks: the tasks of all data sets.
    """
    shared = manifest["$defs"]
    if path[0] == "scores":
        gates = manifest["properties"]["scores"]["propertyNames"]["enum"]
        levels = ((tasks, "task"),)
        if len(path) > 2:
            levels = ((gates, "gates"), *levels, (shared["metric"]["enum"], "metric"))
        for name, (known, what) in zip(path[1:], levels, strict=False):
            yield name, known, what
        return
    schema = manifest
    for name in path:
        # What may be null stands behind `oneOf`; what is shared, behind `$ref`.
        schema = next((each for each in schema.get("oneOf", ()) if "properties" in each), schema)
        if "properties" not in schema:
            return
        yield name, schema["properties"], "manifest has"
        schema = schema["properties"].get(name, {})
        if "$ref" in schema:
            schema = shared[schema["$ref"].rpartition("/")[2]]


def _scales(catalog: Catalog) -> Iterator[FathomError]:
    config = catalog.config["scale"]
    if config not in catalog.scales:
        yield FathomError(
            f"no scale '{config}'", "config/config.yaml: scale", nearest(config, catalog.scales)
        )
    runs_schema = catalog.schemas.schema("runs")
    known = runs_schema["$defs"]["run"] | {"$defs": runs_schema["$defs"]}
    card_settings = {each.name for card in catalog.methods.values() for each in card.settings}
    for scale in catalog.scales.values():
        for pair in scale.datasets.items():
            for name in pair:
                if name not in catalog.datasets:
                    where = scale.file.where(("datasets", pair[0]))
                    yield FathomError(
                        f"no data set '{name}'", where, nearest(name, catalog.datasets)
                    )
        if scale.anchor and scale.anchor.run not in catalog.paper_of:
            where = scale.file.where(("anchor", "run"))
            yield FathomError(
                f"no run '{scale.anchor.run}'", where, nearest(scale.anchor.run, catalog.paper_of)
            )
        for name in scale.method_settings:
            if name not in card_settings:
                where = scale.file.where(("method_settings", name))
                yield FathomError(
                    f"no card has a setting '{name}'", where, nearest(name, card_settings)
                )
        partial = YamlFile(scale.file.name, scale.replace, _below(scale.file, "replace"))
        yield from catalog.schemas.findings_of(known, partial)


def _below(file: YamlFile, key: str) -> dict:
    """Return the line numbers of the keys under one key."""
    return {path[1:]: line for path, line in file.lines.items() if path[0] == key}


def _runs(catalog: Catalog) -> Iterator[FathomError]:
    """Yield runs whose name stands twice, whose data set or settings are unknown."""
    owner: dict[str, str] = {}
    for paper, file in catalog.run_files.items():
        for run in file.value["runs"]:
            if run in owner:
                yield FathomError(
                    f"the run's name is taken by paper {owner[run]}",
                    file.where(("runs", run)),
                    "give it another name",
                )
            owner[run] = paper
            yield from _run(catalog, run)
        paths = {".".join(leaf) for leaf in leaves(file.value["defaults"])}
        for path in file.value["sources"]:
            if path not in paths:
                yield FathomError(
                    f"no default '{path}'", file.where(("sources", path)), nearest(path, paths)
                )


def _run_schema(catalog: Catalog) -> dict[str, Any]:
    """Return the schemas of the parts of a run."""
    return catalog.schemas.schema("runs")["$defs"]["run"]["properties"]


def _schedule(catalog: Catalog, settings: dict[Leaf, Setting]) -> Iterator[FathomError]:
    """Yield what a run's schedule lacks, and what it has and does not take."""
    schedules = _run_schema(catalog)["training"]["properties"]["schedule"]["properties"]
    known = schedules["name"]["x-keywords"]
    place = ("training", "schedule")
    name = settings.get((*place, "name"))
    if name is None:
        # Told with the other settings that nobody gives.
        return
    keywords = known[name.value]
    given = {leaf[-1]: each for leaf, each in settings.items() if leaf[:2] == place}
    del given["name"]
    for key in keywords:
        if key not in given:
            where = name.where.removesuffix("name") + key
            yield FathomError("no value is given", where, f"'{name.value}' needs it")
    for key, each in given.items():
        if key not in keywords:
            what = f"'{name.value}' has no '{key}'"
            yield FathomError(what, each.where, f"{nearest(key, keywords)}; or write {key}: null")


def _run(catalog: Catalog, run: str) -> Iterator[FathomError]:
    try:
        for scale in catalog.scales:
            settings = catalog.settings(run, scale)
            dataset = settings[("data", "dataset")]
            if dataset.value not in catalog.datasets:
                yield FathomError(
                    f"no data set '{dataset.value}'",
                    dataset.where,
                    nearest(dataset.value, catalog.datasets),
                )
                return
            card = catalog.methods[settings[("method", "name")].value]
            sides = settings[("method", "sides")].value
            found = list(cards.settings_findings(card, sides, settings))
            found += _schedule(catalog, settings)
            # A card can only be asked about settings that it knows.
            found = found or list(surroundings.method_findings(card, settings))
            if found:
                yield from found
                return
            sources = catalog.datasets[dataset.value].sources
            if not catalog.sources.keys() >= sources.keys():
                # Told at the data set.
                return
            spec = catalog.spec(run, scale)
            start = spec.training.start
            base = catalog.spec(start.run, scale) if start else None
            architectures = _run_schema(catalog)["model"]["properties"]["architecture"]
            yield from surroundings.findings(spec, base, settings, architectures["x-takes"])
    except Findings as error:
        file = catalog.run_files[catalog.paper_of[run]]
        for each in error.findings:
            yield FathomError(
                each.what, file.where(("defaults", *each.where.split("."))), each.remedy
            )
    except FathomError as error:
        yield error
