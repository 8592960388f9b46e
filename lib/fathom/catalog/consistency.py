"""What no schema can say: names that must exist elsewhere, and runs that must resolve."""

from collections.abc import Iterator

from fathom.catalog import cards, datasets, deviations, papers
from fathom.catalog.catalog import Catalog
from fathom.catalog.resolve import leaves
from fathom.catalog.yaml_files import YamlFile
from fathom.records.errors import FathomError, Findings, nearest


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
    yield from _runs(catalog)
    for name, file in files["paper"].items():
        runs = catalog.run_files[name].value["runs"] if name in catalog.run_files else {}
        yield from papers.findings(catalog.papers[name], runs, file)
        if name in files["deviations"]:
            ledger_file = files["deviations"][name]
            ledger = deviations.from_mapping(ledger_file.value)
            yield from deviations.findings(ledger, catalog.papers[name], runs, ledger_file)


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
            if found:
                yield from found
                return
            catalog.spec(run, scale)
    except Findings as error:
        yield from error.findings
    except FathomError as error:
        yield error
